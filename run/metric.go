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
	"syscall"
	"time"

	"github.com/assay-run/assay"
)

// This file reads the metrics that the program itself reports. A metric that cannot be read
// never fails a run: the run was paid for, and its other figures are good.

// Metrics returns a Runner that adds the metrics that a job asks for ([assay.Job].Metrics) to the measurement of each
// run that has ended by itself, with any exit code. A metric of the name of another replaces it. One that cannot be
// measured is absent, and Measurement.Missing has the reason. During a run, and if it was ended, only inner measures,
// except metrics with a Poll: they are in the observations, and a run that was ended has their last values.
//
// Relative files are in the job's Dir. A file that the run has not written, one with the same times and size as
// before the run, does not count. Commands are run by inner as /bin/sh -c COMMAND, with the Dir, Env and Limit of the
// job, and its ID without an attempt; so a wrapper around each run of a job, such as [WithHooks], belongs around
// Metrics and not inside. Inner is given jobs without metrics.
func Metrics(inner assay.Runner) assay.Runner { return metered{inner} }

// metered is stateless and as safe for concurrent use as its inner runner.
type metered struct{ inner assay.Runner }

// Run implements [assay.Runner].
func (r metered) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	sources := job.Metrics
	job.Metrics = nil
	// The files are looked at before the run, so that one of an earlier run is not taken for this one's.
	before := stamps(sources, job.Dir)
	l := newLive(r, sources, job, before)
	if l != nil && job.Interval > 0 && polls(sources) {
		observe = l.observer(ctx, observe)
		job.Live = true
	}
	var cards *gpuMeter
	if wantsGPU(sources) {
		cards = newGPUMeter(ctx, job.Env)
		defer cards.stop()
	}
	m, err := r.inner.Run(ctx, job, observe)
	end := time.Now()
	if err != nil && l != nil {
		l.add(&m) // the last that was known of a run that was ended
	}
	if err != nil || len(sources) == 0 {
		return m, err
	}
	if m.Metrics == nil {
		m.Metrics = map[string]float64{}
	}
	if cards != nil {
		cards.stop()
	}
	for i, s := range sources {
		x, err := r.measure(ctx, s, job, m, before[i])
		if s.Kind == assay.FromGPU {
			x, err = cards.value(s.Quantity, end.Add(-m.Elapsed), end)
		}
		if ctx.Err() != nil {
			return m, context.Cause(ctx)
		}
		measured(&m, s.Name, x, err)
	}
	if l != nil {
		l.ended(&m)
	}
	return m, nil
}

// stamps returns the stamps of the files that sources read.
func stamps(sources []assay.MetricSource, dir string) []stamp {
	stamps := make([]stamp, len(sources))
	for i, s := range sources {
		if s.Kind.Argument().Files() {
			stamps[i] = stampOf(inDir(dir, s.File))
		}
	}
	return stamps
}

// measured puts a metric into a measurement, or the reason for which it is missing.
func measured(m *assay.Measurement, name string, x float64, err error) {
	if err == nil {
		m.Metrics[name] = x
		delete(m.Missing, name)
		return
	}
	delete(m.Metrics, name)
	if m.Missing == nil {
		m.Missing = map[string]string{}
	}
	m.Missing[name] = strings.ToValidUTF8(err.Error(), "\ufffd")
}

// Unwrap returns the inner Runner, for a caller that looks for its abilities.
func (r metered) Unwrap() assay.Runner { return r.inner }

// A finder returns the value of a metric of a run that has ended by itself.
type finder func(ctx context.Context, s assay.MetricSource, r finished) (float64, error)

// finished is a run that has ended by itself, and where its metrics are found.
type finished struct {
	inner  assay.Runner // of commands beside the run
	job    assay.Job    // without metrics
	stdout []byte
	stderr []byte
	path   string // of the file of the source, which the run has written; "" if the source has none
}

// finders is the table of the functions that find the metric of each kind of source. To add a kind, add a row; see
// CONTRIBUTING.md.
func finders() map[assay.SourceKind]finder {
	return map[assay.SourceKind]finder{
		assay.FromStdout: func(_ context.Context, s assay.MetricSource, r finished) (float64, error) {
			return match(s, r.stdout)
		},
		assay.FromStderr: func(_ context.Context, s assay.MetricSource, r finished) (float64, error) {
			return match(s, r.stderr)
		},
		assay.FromJSON:    readJSON,
		assay.FromSize:    fileSize,
		assay.FromCommand: printed,
		// It is known when the run is over, and does not depend on the files of the run.
		assay.FromGPU: func(context.Context, assay.MetricSource, finished) (float64, error) {
			return 0, errors.New("graphics cards are read during a run, and their figures are known after it")
		},
	}
}

// measure returns the value of one metric after a run. The stamp before is the stamp of the source's file before the
// run; it is the zero value if the source has no file. A missing row of the table is an error of the program, with a
// text for the developer who adds a kind.
func (r metered) measure(
	ctx context.Context, s assay.MetricSource, job assay.Job, m assay.Measurement, before stamp,
) (float64, error) {
	e := finished{inner: r.inner, job: job, stdout: m.Stdout, stderr: m.Stderr}
	if s.Kind.Argument().Files() {
		e.path = inDir(job.Dir, s.File)
		switch now := stampOf(e.path); {
		case now.err != nil:
			return 0, now.err
		case now == before:
			return 0, fmt.Errorf("%s was not written by the run", e.path)
		}
	}
	find := finders()[s.Kind]
	if find == nil {
		return 0, fmt.Errorf("finders of run/metric.go have no row for %v", s.Kind)
	}
	return find(ctx, s, e)
}

// fileSize returns the size of a file in bytes. For a sparse file it is the apparent size, not the space on the disk.
func fileSize(_ context.Context, _ assay.MetricSource, r finished) (float64, error) {
	info, err := os.Stat(r.path)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()), nil
}

// match returns the number in the last match of the expression, or the reason why there is no match. The last match
// counts because programs print progress first and the result at the end. The expression has a group: last[2] and
// last[3] are its bounds, -1 if the group took no part in the match.
func match(s assay.MetricSource, output []byte) (float64, error) {
	all := s.Pattern.FindAllSubmatchIndex(output, -1)
	if len(all) == 0 {
		return 0, fmt.Errorf("the expression /%v/ matches nothing in the output", s.Pattern)
	}
	last := all[len(all)-1]
	if last[2] < 0 {
		return 0, fmt.Errorf("the group is not in the last match of the expression /%v/", s.Pattern)
	}
	return number(string(output[last[2]:last[3]]))
}

// printed runs a command line and returns the number that it prints. The command asks for no resources: a metric is not
// to be held back, or moved, for processors that the run had. A limit that ends it is an error of this metric alone.
func printed(ctx context.Context, s assay.MetricSource, r finished) (float64, error) {
	job := aside(r.job)
	job.Argv, job.Resources = []string{"/bin/sh", "-c", s.Command}, nil
	m, err := r.inner.Run(ctx, job, nil)
	if err != nil {
		return 0, err
	}
	if m.ExitCode != 0 {
		return 0, fmt.Errorf("the command exited with code %d: %s", m.ExitCode, assay.LastLine(m.Stderr))
	}
	return number(string(m.Stdout))
}

// number reads a metric: a finite number in the syntax of [strconv.ParseFloat], with white space around it. A text is
// quoted to its first 40 characters, since an output may be long.
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

// A stamp distinguishes a file that was written from one that was not. Stamps are compared with ==. A file that is
// missing before and after the run is handled first, by its err. The ctime is in it because a program may set the
// mtime back (utimensat(2)), and the inode because it may rename a new file over the old one. Times are in
// nanoseconds since 1970.
type stamp struct {
	size, mtime, ctime int64
	inode              uint64
	err                error // why there is no such file
}

// The error names the path once: the error of os.Stat would name it again.
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

// inDir returns the path of a file of a job. A job without a Dir has the directory of this process.
func inDir(dir, file string) string {
	if filepath.IsAbs(file) || dir == "" {
		return file
	}
	return filepath.Join(dir, file)
}
