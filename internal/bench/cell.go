package bench

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// A Cell is one searcher on one program, the unit of every experiment. All but Stopper, Interval,
// Parallel, Race, Check and Sequential are required.
type Cell struct {
	Space    *assay.Space
	Goal     assay.Goal
	Searcher assay.Searcher
	Stopper  assay.Stopper // nil never stops a run
	// Runner runs the program on Clock, the simulated clock of both: a replayed table, or the result of
	// [Simulate].
	Runner   assay.Runner
	Clock    assay.Clock
	Interval time.Duration // how often a run is observed, for the Stopper
	Budget   study.Budget
	Parallel int // runs at once; 0 means 1
	// Race does not take one run for the truth, as a study of a command does not; Check
	// pairs of runs then compare the best with the first.
	Race  bool
	Check int
	// Sequential has the meaning of the field of [study.Study].
	Sequential bool
	// Anywhere and Class have the meaning of the fields of [study.Study], for a Runner of machines that differ.
	Anywhere bool
	Class    string
	// Meter, if not nil, records the time of the searcher and the stopper.
	Meter *Meter
	// Charge spends that time on the clock, and so of the budget. The result then depends on the machine.
	Charge bool
	// Rate is how much of the clock's time a part of its own time costs, with Charge; 0 means as much.
	Rate float64
}

// Run plays the cell by the loop of package study, with nothing on disk. The result has the reason why
// the study ended; a search that has nothing more to propose is no error. An error of the searcher or of
// the runner is returned.
func (c Cell) Run(ctx context.Context) (study.Result, error) {
	if err := c.meter(ctx); err != nil {
		return study.Result{}, err
	}
	s := &study.Study{
		Name: "bench", Space: c.Space, Goal: c.Goal, Searcher: c.Searcher, Stopper: c.Stopper,
		Runner: c.Runner, Clock: c.Clock, Store: store.NewMem(), Budget: c.Budget,
		Parallel: c.Parallel, Race: c.Race, Check: c.Check, Sequential: c.Sequential,
		Anywhere: c.Anywhere, MachineClass: c.Class,
		Command: func(x assay.Config) (assay.Job, error) { return assay.Job{Config: x, Interval: c.Interval}, nil },
	}
	if err := s.Store.Create(ctx, s.Name, nil); err != nil {
		return study.Result{}, err
	}
	return s.Run(ctx)
}

// meter wraps the searcher and the stopper if they are measured.
func (c *Cell) meter(ctx context.Context) error {
	if c.Meter == nil && !c.Charge {
		return nil
	}
	m := &metering{Meter: c.Meter, ctx: ctx, rate: cmp.Or(c.Rate, 1)}
	if m.Meter == nil {
		m.Meter = new(Meter)
	}
	if c.Charge {
		clock, ok := c.Clock.(sleeper)
		if !ok {
			return fmt.Errorf("nothing can be charged to a clock of type %T", c.Clock)
		}
		m.clock = clock
	}
	c.Searcher = meteredSearcher{c.Searcher, m}
	if c.Stopper != nil {
		c.Stopper = meteredStopper{c.Stopper, m}
	}
	return nil
}

// Simulate returns a Runner of made-up runs: one of a configuration takes the Elapsed that measure
// returns, on the clock, and is not observed before its end. Runs that begin at one moment are measured
// in the order of their trials, one at a time, so measure may draw from a random source. Only a job's
// Config, Limit and the trial of its ID matter.
//
// A run that reaches its limit has measured its time alone, and ends with assay.ErrLimit.
func Simulate(clock *table.SimClock, measure func(assay.Config) assay.Measurement) assay.Runner {
	return &simulated{clock, measure}
}

type simulated struct {
	clock   *table.SimClock
	measure func(assay.Config) assay.Measurement
}

// Run implements [assay.Runner].
func (s *simulated) Run(ctx context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	// If several actors begin at one moment, the first in order is measured first.
	if err := s.clock.Sleep(ctx, job.ID.Trial, 0); err != nil {
		return assay.Measurement{}, err
	}
	m := s.measure(job.Config)
	var cause error
	if job.Limit > 0 && job.Limit < m.Elapsed {
		m, cause = assay.Measurement{Elapsed: job.Limit}, assay.ErrLimit
	}
	if err := s.clock.Sleep(ctx, job.ID.Trial, m.Elapsed); err != nil {
		return assay.Measurement{}, err
	}
	return m, cause
}
