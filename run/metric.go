package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/assay-run/assay"
)

// A MetricError says why a metric of a run was not measured.
type MetricError struct {
	Metric string
	Source string // as [assay.MetricSource.String] has it
	Err    error
}

// Error implements error.
func (e *MetricError) Error() string {
	return fmt.Sprintf("metric %q was not measured: %s: %v", e.Metric, e.Source, e.Err)
}

// Unwrap returns Err.
func (e *MetricError) Unwrap() error { return e.Err }

// Metered is a Runner that measures what a program reports itself, see
// [Metrics].
type Metered struct {
	inner   assay.Runner
	sources []assay.MetricSource
	// Missed, if it is not nil, is called for each metric that was not measured
	// in a run. It must be set before the first run, and be safe for concurrent
	// use.
	Missed func(assay.Job, *MetricError)

	mu   sync.Mutex
	last map[string]*MetricError
}

var _ assay.Runner = (*Metered)(nil)

// Metrics returns a Runner that adds the metrics of the sources to the
// measurement of each run that has ended by itself, whatever its exit code. A
// metric of the name of another replaces it. One that cannot be measured is
// absent; [Metered.Errors] and Missed say why. While a run goes on, and if it was
// ended, only inner measures.
//
// Relative files are in the job's Dir. A file that the run has not written, one
// whose times and size are those of before the run, does not count. Commands are
// run by inner as /bin/sh -c COMMAND, with the Dir, Env and Limit of the job;
// so what surrounds each run of a job, such as [WithHooks], belongs around the
// Metered and not inside.
func Metrics(inner assay.Runner, sources []assay.MetricSource) *Metered {
	return &Metered{inner: inner, sources: sources, last: map[string]*MetricError{}}
}

// Errors returns the latest reason of each metric that was not measured in some
// run, in the order of the sources.
func (r *Metered) Errors() []*MetricError {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []*MetricError
	for _, s := range r.sources {
		if e := r.last[s.Name]; e != nil {
			errs = append(errs, e)
		}
	}
	return errs
}

// Run implements [assay.Runner].
func (r *Metered) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	before := make([]stamp, len(r.sources))
	for i, s := range r.sources {
		if s.Kind == assay.FromJSON || s.Kind == assay.FromSize {
			before[i] = stampOf(inDir(job.Dir, s.File))
		}
	}
	m, err := r.inner.Run(ctx, job, observe)
	if err != nil {
		return m, err
	}
	if m.Metrics == nil {
		m.Metrics = map[string]float64{}
	}
	for i, s := range r.sources {
		x, err := r.measure(ctx, s, job, m, before[i])
		if ctx.Err() != nil {
			return m, context.Cause(ctx)
		}
		if err != nil {
			delete(m.Metrics, s.Name)
			r.miss(job, &MetricError{s.Name, s.String(), err})
			continue
		}
		m.Metrics[s.Name] = x
	}
	return m, nil
}

func (r *Metered) miss(job assay.Job, e *MetricError) {
	r.mu.Lock()
	r.last[e.Metric] = e
	r.mu.Unlock()
	if r.Missed != nil {
		r.Missed(job, e)
	}
}

// measure returns the value of one metric after a run.
func (r *Metered) measure(ctx context.Context, s assay.MetricSource, job assay.Job, m assay.Measurement, before stamp) (float64, error) {
	switch s.Kind {
	case assay.FromStdout:
		return match(s, m.Stdout)
	case assay.FromStderr:
		return match(s, m.Stderr)
	case assay.FromCommand:
		return r.command(ctx, s.Command, job)
	}
	path := inDir(job.Dir, s.File)
	now := stampOf(path)
	switch {
	case now.err != nil:
		return 0, now.err
	case now == before:
		return 0, fmt.Errorf("%s was not written by the run", path)
	case s.Kind == assay.FromSize:
		return float64(now.size), nil
	}
	return readJSON(s, path)
}

// match returns the number in the last match of the expression, or why there is
// none.
func match(s assay.MetricSource, output []byte) (float64, error) {
	all := s.Pattern.FindAllSubmatchIndex(output, -1)
	if len(all) == 0 {
		return 0, errors.New("the expression matches nothing in the output")
	}
	last := all[len(all)-1]
	if last[2] < 0 {
		return 0, errors.New("the group is not in the last match of the expression")
	}
	return number(string(output[last[2]:last[3]]))
}

// command runs a command line and returns the number that it prints.
func (r *Metered) command(ctx context.Context, line string, job assay.Job) (float64, error) {
	job.Argv, job.Interval, job.Resources = []string{"/bin/sh", "-c", line}, 0, nil
	m, err := r.inner.Run(ctx, job, nil)
	if err != nil {
		return 0, err
	}
	if m.ExitCode != 0 {
		return 0, fmt.Errorf("the command exited with code %d: %s", m.ExitCode, assay.LastLine(m.Stderr))
	}
	return number(string(m.Stdout))
}

// number reads a metric: what [strconv.ParseFloat] takes, with white space
// around it, finite.
func number(text string) (float64, error) {
	text = strings.TrimSpace(text)
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "":
		return 0, errors.New("there is no number")
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%.40q is out of range", text)
	case err != nil:
		return 0, fmt.Errorf("%.40q is not a number", text)
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 0, fmt.Errorf("%q is not finite", text)
	}
	return x, nil
}

// A stamp tells a file that was written from one that was not.
type stamp struct {
	size, mtime, ctime int64
	inode              uint64
	err                error // why there is no such file
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return stamp{err: fmt.Errorf("%s: %w", path, err)}
	}
	if info.IsDir() {
		return stamp{err: fmt.Errorf("%s is a directory", path)}
	}
	st := info.Sys().(*syscall.Stat_t)
	return stamp{st.Size, st.Mtim.Nano(), st.Ctim.Nano(), st.Ino, nil}
}

func inDir(dir, file string) string {
	if filepath.IsAbs(file) || dir == "" {
		return file
	}
	return filepath.Join(dir, file)
}
