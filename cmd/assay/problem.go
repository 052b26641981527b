package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/table"
	"github.com/assay-run/assay/workbench"
)

const (
	// observeEvery is how often a run is observed unless the study says so: a
	// reading costs some 20 µs.
	observeEvery = 100 * time.Millisecond
	// grace is how long a run has from SIGTERM to SIGKILL.
	grace = time.Second
)

// A problem is a study that has been read and checked: what runs, in which
// space, for which goal.
type problem struct {
	study   *config.Study
	space   *assay.Space
	goal    assay.Goal
	first   []assay.Config  // the user's defaults, if given
	program *config.Program // nil if a table is replayed
	table   *table.Table    // nil if a command is run
	pin     bool
	known   *knowledgeBase // nil until earlier studies were looked for
}

// newProblem builds everything that can be wrong with a study before anything is
// started or written.
func newProblem(st *config.Study, pin bool) (*problem, error) {
	p := &problem{study: st, pin: pin}
	var err error
	if st.Replay != nil {
		if p.table, err = readTable(st); err != nil {
			return nil, err
		}
	}
	if p.space, err = st.Space(); err != nil {
		return nil, err
	}
	if p.goal, err = st.Goal(); err != nil {
		return nil, err
	}
	c, ok, err := st.Default(p.space)
	if err != nil {
		return nil, usageError(err)
	}
	if ok {
		p.first = []assay.Config{c}
	}
	// The searcher and the stopper are made again for the run; making them here
	// reports what is wrong with their names and options.
	if _, err := newSearcher(st, p.space, p.first); err != nil {
		return nil, err
	}
	if _, err := newStopper(st, p.space); err != nil {
		return nil, err
	}
	if p.table != nil {
		return p, nil
	}
	if p.program, err = st.Program(); err != nil {
		return nil, usageError(err)
	}
	return p, p.checkProgram()
}

// readTable reads the recorded table of a study and resolves the study with it.
func readTable(st *config.Study) (*table.Table, error) {
	var given []assay.Param
	for _, p := range st.Params {
		given = append(given, p.Param())
	}
	if info, err := os.Stat(st.Replay.File); err == nil && info.IsDir() {
		return nil, usagef("%sit is a directory, not a table: %s", place(st, "replay.file"), st.Replay.File)
	}
	t, err := table.Open(table.Spec(*st.Replay), given...)
	if err != nil {
		return nil, usageError(err)
	}
	return t, st.Resolve(t.Params, t.Configs, t.Digest)
}

// checkProgram returns an error if the program of some configuration is missing:
// those whose first argument differs are few.
func (p *problem) checkProgram() error {
	seen := map[string]bool{}
	check := func(c assay.Config) error {
		argv := p.program.Argv(c)
		if len(argv) == 0 {
			return usagef("the command is empty for %s", p.space.Text(c))
		}
		if seen[argv[0]] {
			return nil
		}
		seen[argv[0]] = true
		if _, err := run.LookPath(argv[0], p.study.Dir); err != nil {
			return usageError(fmt.Errorf("%s%w", place(p.study, "command"), err))
		}
		return nil
	}
	base, _ := p.space.Draw(newRand(0))
	if len(p.first) > 0 {
		base = p.first[0]
	}
	if err := check(base); err != nil {
		return err
	}
	for i, q := range p.space.Params {
		for l := range min(q.Count(), 64) {
			c := base.Clone()
			if c[i] = q.At(l); p.space.Contains(c) {
				if err := check(c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// job returns the run of a configuration.
func (p *problem) job(c assay.Config) (assay.Job, error) {
	j := assay.Job{Config: c, Interval: p.interval(), Limit: p.study.Timeout, Grace: grace, Dir: p.study.Dir}
	if p.program != nil {
		j.Argv, j.Env = p.program.Argv(c), p.program.Env(c)
		j.Resources = p.study.Resources(p.space, c)
		j.Prepare, j.Cleanup, j.Warmup = p.program.Prepare(c), p.program.Cleanup(c), p.study.Warmup
		j.Metrics = p.program.Metrics(c)
	}
	return j, nil
}

// environment returns the variables that the command needs for a configuration: those
// of the study, and the parameters if it is a shell line. A parameter that the line
// names in one spelling only, $threads or $THREADS, is given in that one.
func (p *problem) environment(c assay.Config) []string {
	params := p.program.ParamEnv(c)
	spelt := func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		line := p.study.Command[0]
		return strings.Contains(line, "$"+name) || strings.Contains(line, "${"+name)
	}
	return slices.DeleteFunc(p.program.Env(c), func(e string) bool {
		switch {
		case !slices.Contains(params, e):
			return false
		case !p.study.Shell: // it is for the commands of metrics
			return true
		case spelt(e):
			return false
		}
		return slices.ContainsFunc(params, func(other string) bool { return strings.EqualFold(other, e) && spelt(other) })
	})
}

// shellLine returns the command for a configuration as a line for a shell in this
// process's directory.
func (p *problem) shellLine(c assay.Config) string {
	argv := p.program.Argv(c)
	if env := p.environment(c); len(env) > 0 {
		argv = slices.Concat([]string{"env"}, env, argv)
	}
	line := report.ShellQuote(argv)
	here, err := os.Getwd()
	if err != nil || p.study.Dir == "" || p.study.Dir == here {
		return line
	}
	dir := p.study.Dir
	if below, err := filepath.Rel(here, dir); err == nil && filepath.IsLocal(below) {
		dir = below
	}
	return report.ShellQuote([]string{"cd", dir}) + " && " + line
}

// interval is how often a run is observed.
func (p *problem) interval() time.Duration {
	if p.study.Stop.Interval > 0 {
		return p.study.Stop.Interval
	}
	if p.table != nil {
		return max(p.table.MedianElapsed()/50, time.Microsecond)
	}
	return observeEvery
}

// runner returns what runs the jobs of the study of that name, and the clock,
// which is nil for the machine's.
func (p *problem) runner(ctx context.Context, warn io.Writer, name string) (r assay.Runner, clock assay.Clock, closer func() error, err error) {
	if p.table != nil {
		c := &table.SimClock{}
		return table.NewReplay(p.table, c, config.Grows), c, func() error { return nil }, nil
	}
	if _, err := run.Sweep(ctx, name); err != nil {
		return nil, nil, nil, err
	}
	local, err := run.NewLocal(run.LocalOptions{Pin: p.pin})
	if err != nil {
		return nil, nil, nil, err
	}
	r = local
	if p.study.Workbench != nil {
		if r, err = onWorkbench(ctx, warn, p.study.Workbench, r); err != nil {
			return nil, nil, nil, errors.Join(err, local.Close())
		}
	}
	return run.WithHooks(run.Metrics(r)), nil, local.Close, nil
}

// onWorkbench wraps a runner in the workbench of a study. What runs warn of is
// said once.
func onWorkbench(ctx context.Context, warn io.Writer, w *config.Workbench, r assay.Runner) (assay.Runner, error) {
	if w.Passive {
		return workbench.Passive(r), nil
	}
	if _, err := workbench.Sweep(ctx); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	said := map[string]bool{}
	return workbench.New(workbench.Options{Runner: r, Data: w.Data, Mount: w.Mount, Warn: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if !said[text] {
			said[text] = true
			fmt.Fprintf(warn, "warning: %s\n", text)
		}
	}})
}

// encodeSpec returns what is stored with a study: its definition.
func encodeSpec(st *config.Study, name string) ([]byte, error) {
	named := *st
	named.Name = name
	b, err := json.Marshal(&named)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// stored returns the definition of a study on record.
func stored(ctx context.Context, s assay.Store, name string) (*config.Study, error) {
	b, err := s.Spec(ctx, name)
	if err != nil {
		return nil, err
	}
	return config.Decode(b)
}

// describe says what tune would do.
func (p *problem) describe(w io.Writer) error {
	var l lines
	l.add("space", "%s configurations of %d parameters", p.space.Size(), p.space.Dim())
	for _, q := range p.space.Params {
		l.add("", "%s", paramText(q))
	}
	for _, r := range p.space.Relations {
		l.add("where", "%s", r.Text)
	}
	l.add("objective", "%s", goalText(p.goal))
	for _, limit := range p.goal.Limits {
		l.add("subject to", "%s", limit.Text)
	}
	search, stop := cmp.Or(p.study.Search.Name, "auto"), cmp.Or(p.study.Stop.Rule, "auto")
	l.add("search", "%s, early stopping: %s, seed %d", search, stop, p.study.Search.Seed)
	s, err := newSearcher(p.study, p.space, p.first)
	if err != nil {
		return err
	}
	for n := range 3 {
		ps, err := s.Ask(1)
		if err != nil || len(ps) == 0 {
			break
		}
		label, text := "", p.space.Text(ps[0].Config)
		if n == 0 {
			label = "first runs"
		}
		if p.program != nil {
			text = p.shellLine(ps[0].Config)
		}
		l.add(label, "%s", text)
	}
	return l.write(w)
}

// paramText describes a parameter in one line.
func paramText(q assay.Param) string {
	switch {
	case !q.Numeric():
		levels := q.Levels
		if len(levels) > 12 {
			levels = append(levels[:10:10], fmt.Sprintf("... %d in all", len(q.Levels)))
		}
		return fmt.Sprintf("%s: %s %s", q.Name, q.Kind, strings.Join(levels, " "))
	case q.Log:
		return fmt.Sprintf("%s: %s %s..%s, logarithmic", q.Name, q.Kind, q.Text(q.Lo), q.Text(q.Hi))
	}
	return fmt.Sprintf("%s: %s %s..%s", q.Name, q.Kind, q.Text(q.Lo), q.Text(q.Hi))
}
