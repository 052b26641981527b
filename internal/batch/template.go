package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
)

// Template is the [System] of commands that a file describes.
type Template struct{ s *spec.System }

var _ System = (*Template)(nil)

// NewTemplate returns the system of a file, or an error of the class usage if its commands are not on PATH.
func NewTemplate(s *spec.System) (*Template, error) {
	for _, argv := range [][]string{s.Submit.Command, s.List.Command, s.Cancel} {
		if len(argv) == 0 {
			continue
		}
		if _, err := exec.LookPath(argv[0]); err != nil {
			return nil, assay.WithHint(assay.Errorf(assay.ClassUsage, "%s: there is no %s on PATH", s.File, argv[0]),
				"run it where the commands of the batch system are, or load the module that has them")
		}
	}
	return &Template{s}, nil
}

// Asks returns an error for a requested resource that has no option in the file, and would be ignored silently. A time
// limit without an option is enforced by the shim.
func (t *Template) Asks(what ...string) error {
	for _, w := range what {
		if len(t.s.Submit.Options[w]) == 0 {
			return assay.WithHint(assay.Errorf(assay.ClassUsage, "place.%s: %s has no option for it", w, t.s.File),
				"submit: {options: {"+w+": [...]}} in that file")
		}
	}
	return nil
}

// call runs a command and returns its output, and its error output if it failed.
func (t *Template) call(ctx context.Context, argv []string) (out, complaint string, err error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", "", assay.Errorf(assay.ClassUnavailable, "%s does not end", argv[0])
	}
	if err != nil {
		complaint = stderr.String() + stdout.String()
		if lines := assay.LastLines([]byte(complaint), 1); len(lines) > 0 {
			err = errors.New(lines[0])
		}
		err = assay.Errorf(assay.ClassUnavailable, "%s: %w", argv[0], err)
	}
	return stdout.String(), complaint, err
}

// special are characters that one batch system or another replaces in a path, or ends it at.
const special = "$%^\"'\\`\n\r\t"

// Submit implements [System].
func (t *Template) Submit(ctx context.Context, r Request) (string, error) {
	for _, path := range []string{r.Script, r.Output, r.Dir} {
		if i := strings.IndexAny(path, special); i >= 0 {
			return "", fmt.Errorf("%w: the path %s has a %q, which a batch system may take for one of its own", ErrRefused,
				path, path[i])
		}
	}
	values := values(r)
	var options []string
	for _, o := range []struct {
		key   string
		asked bool
	}{
		{"partition", r.Partition != ""},
		{"account", r.Account != ""},
		{"nodes", r.Nodes > 0},
		{"cpus", r.CPUs > 0},
		{"memory", r.MemoryB > 0},
		{"gpus", r.GPUs > 0},
		{"time", r.Walltime > 0},
	} {
		if o.asked {
			options = append(options, t.s.Expand(t.s.Submit.Options[o.key], values, nil)...)
		}
	}
	argv := t.s.Expand(t.s.Submit.Command, values, map[string][]string{
		spec.OptionsSplice: options, spec.ExtraSplice: r.Extra,
	})
	out, complaint, err := t.call(ctx, argv)
	if err != nil {
		switch {
		case matches(t.s.Submit.Full, complaint):
			return "", fmt.Errorf("%w: %w", ErrFull, err)
		case matches(t.s.Submit.Refused, complaint):
			return "", fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return "", err
	}
	m := t.s.Submit.ID.FindStringSubmatch(out)
	if m == nil {
		return "", assay.Errorf(assay.ClassUnavailable, "%s printed %q, in which %s does not find the number of a job",
			argv[0], strings.TrimSpace(out), t.s.Submit.ID)
	}
	return m[1], nil
}

// values are the texts of the placeholders of a request.
func values(r Request) map[string]string {
	size := func(unit float64) string { return strconv.FormatFloat(math.Ceil(r.MemoryB/unit), 'f', 0, 64) }
	v := map[string]string{
		"name": r.Name, "script": r.Script, "output": r.Output, "dir": r.Dir, "partition": r.Partition, "account": r.Account,
		"nodes": strconv.Itoa(r.Nodes), "cpus": strconv.Itoa(r.CPUs), "gpus": strconv.Itoa(r.GPUs),
		"memory_b": size(1), "memory_k": size(1 << 10), "memory_m": size(1 << 20), "memory_g": size(1 << 30),
	}
	times(v, r.Walltime)
	return v
}

// times are the texts of a time, rounded up.
func times(v map[string]string, d time.Duration) {
	s := int(math.Ceil(d.Seconds()))
	v["time_s"], v["time_m"] = strconv.Itoa(s), strconv.Itoa((s+59)/60)
	v["time_hms"] = fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

func matches(all []*regexp.Regexp, text string) bool {
	return slices.ContainsFunc(all, func(re *regexp.Regexp) bool { return re.MatchString(text) })
}

// Poll implements [System].
func (t *Template) Poll(ctx context.Context) ([]Job, error) { return t.list(ctx, t.s.List, nil) }

// Find implements [System].
// It is a command for each name.
func (t *Template) Find(ctx context.Context, names ...string) (found []Job, err error) {
	if len(t.s.Find.Command) == 0 {
		return nil, nil
	}
	for _, name := range names {
		jobs, err := t.list(ctx, t.s.Find, map[string]string{"name": name})
		if err != nil {
			return found, err
		}
		found = append(found, slices.DeleteFunc(jobs, func(j Job) bool { return j.Name != name })...)
	}
	return found, nil
}

// list returns the jobs of ours that a command shows.
func (t *Template) list(ctx context.Context, l spec.Listing, values map[string]string) (jobs []Job, err error) {
	argv := t.s.Expand(l.Command, values, nil)
	out, complaint, err := t.call(ctx, argv)
	if err != nil && (l.None == nil || !l.None.MatchString(complaint)) {
		return nil, err
	}
	if err != nil || strings.TrimSpace(out) == "" {
		return nil, nil //nolint:nilerror // it says so that there is no job
	}
	all := l.Job.FindAllStringSubmatch(out, -1)
	if len(all) == 0 && (l.None == nil || !l.None.MatchString(out)) {
		return nil, assay.Errorf(assay.ClassUnavailable, "output of %s is unreadable: %q", argv[0],
			assay.LastLines([]byte(out), 1))
	}
	for _, m := range all {
		group := func(name string) string { return strings.TrimSpace(m[l.Job.SubexpIndex(name)]) }
		if name := group("name"); strings.HasPrefix(name, Prefix) {
			said := group("state")
			jobs = append(jobs, Job{ID: group("id"), Name: name, State: t.state(said), Said: said})
		}
	}
	return jobs, nil
}

// state returns the meaning of a word. An unknown word means waiting.
func (t *Template) state(said string) State {
	switch {
	case slices.Contains(t.s.Waiting, said):
		return Waiting
	case slices.Contains(t.s.Running, said):
		return Going
	case slices.Contains(t.s.Over, said):
		return Over
	}
	return Unsure
}

// Cancel implements [System]. Without a command for it, the orders in the spool end the runs. A job whose number is
// unknown can be ended by its name alone.
func (t *Template) Cancel(ctx context.Context, jobs ...Job) error {
	if len(t.s.Cancel) == 0 {
		return nil
	}
	one := func(values map[string]string, ids []string) error {
		_, complaint, err := t.call(ctx, t.s.Expand(t.s.Cancel, values, map[string][]string{spec.IDsSplice: ids}))
		if err != nil && matches(t.s.Gone, complaint) {
			return nil
		}
		return err
	}
	uses := func(name string) bool {
		return slices.ContainsFunc(t.s.Cancel, func(a string) bool { return strings.Contains(a, name) })
	}
	if uses("{id}") || uses(spec.IDsSplice) {
		jobs = slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool { return j.ID == "" })
	}
	if uses(spec.IDsSplice) {
		var ids []string
		for _, j := range jobs {
			ids = append(ids, j.ID)
		}
		if len(ids) == 0 {
			return nil
		}
		return one(nil, ids)
	}
	for _, j := range jobs {
		if err := one(map[string]string{"id": j.ID, "name": j.Name}, nil); err != nil {
			return err
		}
	}
	return nil
}

// Lower implements [System]. Without a command for it, the shim enforces the shorter time. It runs a command for each
// job.
func (t *Template) Lower(ctx context.Context, to time.Duration, jobs ...Job) (int, error) {
	if len(t.s.Lower) == 0 {
		return len(jobs), nil
	}
	jobs = jobs[:min(len(jobs), fewJobs)]
	for i, job := range jobs {
		v := map[string]string{"id": job.ID, "name": job.Name}
		times(v, to)
		if _, _, err := t.call(ctx, t.s.Expand(t.s.Lower, v, nil)); err != nil {
			return i, err
		}
	}
	return len(jobs), nil
}
