// Package bench runs search methods on recorded studies, in simulated time, and reports how close each
// gets to the optimum at which cost.
//
// A [Problem] is a recorded study, a [Method] builds a searcher and a stopper for it. [Run] runs every
// method on every problem with every seed, once for the largest budget; a smaller budget is judged on a
// prefix of that run, so one run serves all budgets.
package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/assay-run/assay"
)

// A Problem is a recorded study with a known optimum.
type Problem struct {
	Name     string
	Space    *assay.Space
	Goal     assay.Goal
	Interval time.Duration // how often a run is observed
	// True returns the objective value of a configuration, free of noise, and whether it is feasible.
	True    func(assay.Config) (value float64, feasible bool)
	Optimum float64       // the least feasible True
	Worst   float64       // the greatest finite True, for a search that finds nothing
	Median  time.Duration // median run time over the table, at the full level if there are levels; the unit of --budget-x
	// ByTrials reports that the budgets count trials, not time. Run sets it in the Problem that it gives to
	// Method.New.
	ByTrials bool
	Time     time.Duration // the largest of the budgets that count time; set by Run likewise
	// Replay returns a new runner and its clock, at time zero.
	Replay func(seed uint64) (assay.Runner, assay.Clock)
	// front is the true front of a goal with several objectives, nil with a single objective. The error is
	// then the missing share of the hypervolume of the table's front; see newFronted.
	front *fronted
}

// A Method is a searcher with its stopper and wrappers.
type Method struct {
	Name string
	New  func(p *Problem, seed uint64) (assay.Searcher, assay.Stopper, error)
}

// A Budget is where a run is judged: after Trials trials that ended, or after Time of simulated time, whichever is set.
type Budget struct {
	Kind   string // "trials", "budget-x" or "budget"
	Value  float64
	Trials int
	Time   time.Duration
}

// At returns the budget for p: a budget-x has no Time before that.
func (b Budget) At(p *Problem) Budget {
	if b.Kind == "budget-x" {
		b.Time = time.Duration(b.Value * float64(p.Median))
	}
	return b
}

// Options select the runs. All are required unless stated.
type Options struct {
	Problems []Problem
	Methods  []Method
	Budgets  []Budget // at least one
	Seeds    int      // how many seeds
	First    uint64   // optional: the first seed; 0 means 1
	Curve    bool     // optional: also the error at 10 equal parts of each budget
	Workers  int      // runs at once; 0 means 1. More disturb the overhead's measurement
	Charge   bool     // optional: the methods' own time is spent of the time budgets, see [Cell]
	// Race is optional. If it is set, each method also runs with a race, and each budget that counts time
	// has a run of its own. That many pairs of runs end each, as in a study of a command. The configuration
	// recommended then is judged; Report.Raced has the comparison. Each seed begins with other repeated
	// measurements.
	Race     int
	Progress func(done, total int)
}

// An outcome is the result of one method on one problem with one seed, at one budget.
type outcome struct {
	re, logRatio     float64
	found            bool // a run within the limits ended
	outside          int  // runs that broke a limit
	started, ended   int
	completed        int
	early, wrong     int // stops by prediction, and stops of a configuration truly better than the best
	spent            time.Duration
	overheadPerTrial time.Duration // includes the time to decide
	decidingPerTrial time.Duration
	curve            []float64
}

// key identifies the cell of the result that an outcome belongs to.
type key struct{ problem, method, budget int }

// check returns an error if the options are invalid.
func (o *Options) check() error {
	switch {
	case len(o.Problems) == 0:
		return errors.New("no problem")
	case len(o.Methods) == 0:
		return errors.New("no method")
	case len(o.Budgets) == 0:
		return errors.New("no budget")
	case o.Seeds < 1:
		return fmt.Errorf("%d seeds", o.Seeds)
	case o.Workers < 0:
		return fmt.Errorf("%d workers", o.Workers)
	case o.Race < 0 || o.Race > 0 && o.Curve:
		return errors.New("a race has an answer at its end alone, and no curve")
	}
	for i := range o.Problems {
		if err := o.checkProblem(&o.Problems[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkProblem reports a problem that cannot be searched within the budgets.
func (o *Options) checkProblem(p *Problem) error {
	if p.front != nil && o.Race > 0 {
		return fmt.Errorf("%s: a race looks for one best value, not for a front", p.Name)
	}
	if p.front == nil && p.Optimum == 0 || math.IsNaN(p.Optimum) || math.IsInf(p.Optimum, 0) {
		return fmt.Errorf("%s: no error is relative to an optimum of %v", p.Name, p.Optimum)
	}
	for _, b := range o.Budgets {
		if b = b.At(p); b.Trials < 0 || b.Time < 0 || (b.Trials > 0) == (b.Time > 0) {
			return fmt.Errorf("%s: a budget %q of %d trials and %v, want one of them", p.Name, b.Kind, b.Trials, b.Time)
		}
		if o.Race > 0 && b.Trials > 0 {
			return errors.New("a race is compared at equal time: its budgets count time")
		}
	}
	return nil
}

// Run runs everything and returns the report. It returns an error if the options lack something that is required, a
// budget counts neither trials nor time, or both, or an optimum is 0 or not finite. An error of any run ends it; then
// the error names the method, the problem and the seed.
func Run(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	if o.First == 0 {
		o.First = 1
	}
	if o.Race > 0 {
		o.Methods = racers(o.Methods)
	}
	type task struct {
		problem, method, seed int
		budgets               []int // that one run serves
	}
	var tasks []task
	for pi := range o.Problems {
		for mi := range o.Methods {
			for seed := range o.Seeds {
				for _, budgets := range o.shared() {
					tasks = append(tasks, task{pi, mi, seed, budgets})
				}
			}
		}
	}
	outs := make([]map[int]outcome, len(tasks)) // by budget
	pool := Pool{Workers: o.Workers, Progress: o.Progress}
	err := pool.Each(ctx, len(tasks), func(ctx context.Context, _, i int) (err error) {
		t := tasks[i]
		p, m := &o.Problems[t.problem], &o.Methods[t.method]
		seed := o.First + uint64(t.seed)
		if outs[i], err = o.one(ctx, p, m, seed, t.budgets, o.races(t.method)); err != nil {
			return fmt.Errorf("%s on %s, seed %d: %w", m.Name, p.Name, seed, err)
		}
		return nil
	})
	if err != nil {
		return Report{}, err
	}
	cells := map[key][]outcome{}
	for i, t := range tasks {
		for bi, r := range outs[i] {
			k := key{t.problem, t.method, bi}
			if cells[k] == nil {
				cells[k] = make([]outcome, o.Seeds)
			}
			cells[k][t.seed] = r
		}
	}
	return o.report(cells), nil
}

// shared returns the groups of budgets, by index, that one run serves: budgets that count trials, and
// budgets that count time. A race depends on its budget, so its run serves no other.
func (o *Options) shared() (all [][]int) {
	var trials, times []int
	for i, b := range o.Budgets {
		switch {
		case o.Race > 0:
			all = append(all, []int{i})
		case b.Trials > 0:
			trials = append(trials, i)
		default:
			times = append(times, i)
		}
	}
	for _, some := range [][]int{trials, times} {
		if len(some) > 0 {
			all = append(all, some)
		}
	}
	return all
}

// one runs a method on a problem for the largest of some budgets of one sort and
// returns its outcome at each of them, by index.
func (o *Options) one(
	ctx context.Context, p *Problem, m *Method, seed uint64, budgets []int, race bool,
) (map[int]outcome, error) {
	q := *p
	for _, i := range budgets {
		q.ByTrials = o.Budgets[i].Trials > 0
		q.Time = max(q.Time, o.Budgets[i].At(p).Time)
	}
	searcher, stopper, err := m.New(&q, seed)
	if err != nil {
		return nil, err
	}
	runner, clock := p.Replay(seed)
	c := Cell{
		Space: p.Space, Goal: p.Goal, Searcher: searcher, Stopper: stopper,
		Runner: runner, Clock: clock, Interval: p.Interval, Meter: new(Meter), Charge: o.Charge,
		Race: race, Check: o.Race,
	}
	if o.Race > 0 {
		c.Runner = shuffled{runner, seed}
	}
	for _, i := range budgets {
		b := o.Budgets[i].At(p)
		c.Budget.Trials = max(c.Budget.Trials, b.Trials)
		c.Budget.Time = max(c.Budget.Time, b.Time)
	}
	start := clock.Now()
	res, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	if len(res.Trials) == 0 && res.EndedBy == "search" { // else the budget is too short for a run
		return nil, errors.New("no trial was run")
	}
	out := map[int]outcome{}
	for _, i := range budgets {
		b := o.Budgets[i].At(p)
		r := p.judge(res.Trials, b, start)
		if o.Race > 0 {
			r = p.answered(r, res.Best, res.Found)
		}
		n := time.Duration(max(1, len(res.Trials)))
		r.decidingPerTrial = c.Meter.Deciding / n
		r.overheadPerTrial = (res.Overhead + c.Meter.Deciding) / n
		if o.Curve {
			for k := 1; k <= 10; k++ {
				part := b
				part.Trials = b.Trials * k / 10
				part.Time = b.Time * time.Duration(k) / 10
				r.curve = append(r.curve, p.judge(res.Trials, part, start).re)
			}
		}
		out[i] = r
	}
	return out, nil
}

// judge returns the outcome of the trials that ended within the budget.
func (p *Problem) judge(trials []assay.Trial, b Budget, start time.Time) outcome {
	var o outcome
	found := p.Worst
	best := math.Inf(1)
	var done []assay.Config
	for _, t := range trials {
		if b.Time > 0 && t.Started.Sub(start) < b.Time {
			o.started++
		}
		if b.passed(t.Ended.Sub(start), o.ended) {
			continue
		}
		o.ended++
		o.spent = max(o.spent, t.Ended.Sub(start))
		if t.Stopped() && t.Value < best && !math.IsInf(best, 1) {
			o.early++
			if p.beats(t.Config, found) {
				o.wrong++
			}
		}
		switch t.State {
		case assay.Infeasible:
			o.completed++
			o.outside++
		case assay.Done:
			o.completed++
			done = append(done, t.Config)
			if t.Value < best {
				if v, ok := p.True(t.Config); ok {
					best, found, o.found = t.Value, v, true
				}
			}
		}
	}
	if b.Trials > 0 {
		o.started = o.ended
	}
	if p.front != nil {
		p.judgeFront(&o, done)
		o.early, o.wrong = 0, 0
		return o
	}
	o.re = math.Abs(found-p.Optimum) / math.Abs(p.Optimum)
	o.logRatio = math.Log1p(o.re)
	return o
}

// beats reports whether the true value of a configuration is known and below x.
func (p *Problem) beats(c assay.Config, x float64) bool {
	v, ok := p.True(c)
	return ok && v < x
}

// passed reports whether a trial that ended after a time, after ended other trials, is beyond the
// budget.
func (b Budget) passed(after time.Duration, ended int) bool {
	return b.Time > 0 && after > b.Time || b.Trials > 0 && ended >= b.Trials || b.Trials == 0 && b.Time == 0
}
