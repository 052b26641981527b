package setup

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/internal/workbench"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// A runner is a row of the table of runners.
type runner struct {
	name, summary string
	// mode is the mode of the studies whose trials it makes. The first row of a mode is the default of its studies.
	mode spec.Mode
	// here marks a runner that runs programs on this machine: they must exist here.
	here bool
	// open returns a runner for a study whose runs belong to owner: by this name a later session finds the remains of a
	// killed one.
	open func(ctx context.Context, p *Problem, owner string) (opened, error)
}

// opened is a runner that is ready. close is never nil, and is called once.
type opened struct {
	assay.Runner
	clock assay.Clock // nil for the machine's
	close func() error
	// bind, if it is not nil, is given the study before it runs.
	bind func(ctx context.Context, s *study.Study) error
	// record is where a copy of the record is kept, "" for nowhere; see recordcopy.go.
	record string
}

// runners is the table of runners: --on, and place.on of a study file. To add one, add
// a row; see CONTRIBUTING.md.
func runners() []runner {
	return []runner{
		{"local", "runs commands on this machine", spec.ModeCommand, true, openLocal},
		{Fleet, "has the workers of a server run commands (assay server)", spec.ModeCommand, false, openFleet},
		{Slurm, "makes each run a job of Slurm", spec.ModeCommand, false, openSlurm},
		{Batch, "makes each run a job of the batch system of a file", spec.ModeCommand, false, openTemplate},
		{"table", "replays a recorded table, in simulated time", spec.ModeTable, false, openTable},
	}
}

// runnerOf returns the row of the runner of a study.
// On line there is no row: the result is the zero value, without an error. All errors are of
// the class usage.
func runnerOf(def *spec.Study) (runner, error) {
	name, at := def.Placement.On, def.At("place.on")
	if def.Mode() == spec.ModeAsked {
		return runner{}, nil
	}
	if def.Mode() == spec.ModeOnline {
		if name != "" {
			return runner{}, usagef("%son line, the ranks of the program make the runs: nothing is placed", at)
		}
		return runner{}, nil
	}
	for _, r := range runners() {
		switch {
		case name == "" && r.mode == def.Mode(), r.name == name && r.mode == def.Mode():
			return r, nil
		case r.name == name:
			return r, usagef("%srunner %s %s: this study is one of a %s", at, name, r.summary, def.Mode())
		}
	}
	return runner{}, usagef("%sno runner %q (there are %s)", at, name, list(Runners()))
}

// Fleet is the runner of studies that a server runs: see package service.
const Fleet = spec.Fleet

// openFleet refuses: the server has the runner of a study on a server.
func openFleet(context.Context, *Problem, string) (opened, error) {
	return opened{}, assay.WithHint(usagef("the workers of a server make the runs of this study"),
		"assay tune --on fleet has a server run it")
}

// openTable replays the table of a study on a clock of its own.
// Nothing is open when it returns, so that close does nothing.
func openTable(_ context.Context, p *Problem, _ string) (opened, error) {
	c := &table.SimClock{}
	return opened{Runner: table.NewReplay(p.Table, c, spec.Grows), clock: c, close: func() error { return nil }}, nil
}

// Local returns a runner of commands on this machine, after it cleared away the remains of any tools that died, since
// they would disturb measurements. With pin, runs are kept off this process's own processor if there are 4 or more.
// warn, which may be nil, is called when a step without a limit takes long. The caller closes the runner.
func Local(ctx context.Context, owner string, pin bool, warn func(text string)) (*run.Local, error) {
	if _, err := run.SweepAll(ctx); err != nil {
		return nil, err
	}
	return run.NewLocal(run.LocalOptions{Owner: owner, Pin: pin, Waiting: warn})
}

// openLocal returns a local runner with the wrappers that the jobs of a study may need: its workbench, and those of
// around. The workbench is innermost, next to the processes that it surrounds.
func openLocal(ctx context.Context, p *Problem, owner string) (opened, error) {
	local, err := Local(ctx, owner, p.opts.Pin, p.opts.Warn)
	if err != nil {
		return opened{}, err
	}
	r := run.Awake(local)
	if w := p.Definition.Workbench; w != nil {
		if r, err = onWorkbench(ctx, p.opts.Warn, w, r); err != nil {
			return opened{}, errors.Join(err, local.Close())
		}
	}
	return around(local, r, len(p.Definition.Setup.Argv) > 0)
}

// around wraps a runner in the features that jobs may request, from the inside out: metrics, check of the output,
// hooks, files and, if there are any, setups. Metrics are inside of the hooks, because a clean-up may remove the
// files that are measured. The close of its result also closes local, which an error closes as well.
func around(local *run.Local, r assay.Runner, setups bool) (opened, error) {
	hooks := run.WithHooks(run.WithVerify(run.Metrics(r)))
	if r = run.WithFiles(hooks); setups {
		cache, err := Builds()
		if err != nil {
			return opened{}, errors.Join(err, local.Close())
		}
		r = run.WithSetup(r, cache)
	}
	return opened{Runner: r, close: func() error { return errors.Join(hooks.Close(), local.Close()) }}, nil
}

// Jobs returns the runner of a worker: it runs the jobs of any studies on this machine as the runner "local" runs
// one study's. The caller must sweep the remains of an earlier one, study by study (run.Sweep), and call close once,
// when no run is alive. With setups it makes the setups of jobs, which needs a directory of this user. warn, which
// may be nil, is called when a step without a limit takes long.
func Jobs(setups bool, warn func(text string)) (r assay.Runner, close func() error, err error) {
	local, err := run.NewLocal(run.LocalOptions{Owner: "worker", Waiting: warn})
	if err != nil {
		return nil, nil, err
	}
	o, err := around(local, run.Awake(local), setups)
	if err != nil {
		return nil, nil, err
	}
	return o.Runner, o.close, nil
}

// onWorkbench wraps a runner in the workbench of a study. Each warning of runs is reported once. warn may be called
// from several goroutines.
func onWorkbench(ctx context.Context, warn func(string), w *spec.Workbench, r assay.Runner) (assay.Runner, error) {
	if w.Passive {
		return workbench.Passive(r), nil
	}
	if _, err := workbench.Sweep(ctx); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	said := map[string]bool{}
	return workbench.New(workbench.Options{Runner: r, Data: w.FixedData(), Mount: w.Mount, Warn: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if !said[text] {
			said[text] = true
			warn(text)
		}
	}})
}

// open returns the runner of the problem.
// The runner of Options.Runner stays the caller's: close does nothing to it. The owner "assay"
// stands for a study without a name.
func (p *Problem) open(ctx context.Context, owner string) (opened, error) {
	if p.opts.Runner != nil {
		return opened{Runner: p.opts.Runner, clock: p.opts.Clock, close: func() error { return nil }}, nil
	}
	row, err := runnerOf(p.Definition)
	if err != nil {
		return opened{}, err
	}
	if row.open == nil {
		return opened{}, usagef("study %q is an external study: its clients make the runs (assay ask, assay tell)", owner)
	}
	return row.open(ctx, p, cmp.Or(owner, "assay"))
}
