package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A NamedLeveler is a way to count levels, as plans and flags name it.
type NamedLeveler struct {
	Name string // such as tda
	Leveler
}

// Levelers returns the ways to count levels, by name: tda, bua and slack.
func Levelers() []NamedLeveler {
	return []NamedLeveler{{"tda", TopDown{}}, {"bua", BottomUp{}}, {"slack", Slack{}}}
}

// PlanOptions are the requirements of a plan.
type PlanOptions struct {
	Slots    []int          // numbers of slots to consider, ascending
	Levelers []NamedLeveler // nil means tda and bua
	Overhead Overhead       // delays, if there is no Calibration
	// Calibration, if not nil, predicts in place of Overhead, and gives intervals.
	Calibration *Calibration
	// SlotTimes, if not nil, gives each number of slots its own run times.
	SlotTimes *SlotTimes
	Simulate  bool       // estimate by simulation too, on Overhead or the calibration's best model
	Sim       SimOptions // its policy and machines
	Price     Price      // nil means one unit of money per slot-second
	Deadline  Seconds    // 0 means none
	Budget    float64    // 0 means none
	// Vary, with an Error above 0, predicts with random run times: estimates are
	// means, with intervals (Fig. 4). Simulations take the run times as they are.
	Vary VaryOptions
}

// An Estimate is the prediction of one method for a number of slots.
type Estimate struct {
	Method     string  // name of a Leveler, or simulation
	Slots      int     // number of slots
	Prediction         // Low and High are Makespan if there is no interval
	Cost       float64 // money
	Efficiency float64 // work / (slots · makespan)
}

// A Plan holds the estimates for a workflow on several numbers of slots.
type Plan struct {
	Estimates []Estimate // by slots, methods in the order asked for, simulation last
	Bounds    []Bound    // for each number of slots
	Pareto    []Estimate // no other is both faster and cheaper; by makespan
	Choice    Choice     // the recommended estimate
}

// A Choice is a plan's recommendation.
type Choice struct {
	Estimate
	Feasible bool   // it keeps deadline and budget
	Why      string // one sentence
	// Saves and Bound are set where neither deadline nor budget is: the part of
	// Makespan that the fastest of the estimates saves, and the part that no
	// schedule on as many slots as were asked for saves more than. Bound
	// is NaN if an estimate is below the bound, as one of a calibration with
	// shorter run times can be.
	Saves, Bound float64
}

// MakePlan estimates w on every number of slots and recommends one: the
// cheapest that keeps the deadline, the fastest within the budget, or without
// either the fewest slots within 5 % of the least makespan. All estimates take
// part, those by simulation too. With machines there is one simulation, on as
// many slots as they have cores. It costs the estimates; see [NewLevelModel] and
// [Simulate].
func MakePlan(w *Workflow, opt PlanOptions) (*Plan, error) {
	if len(opt.Slots) == 0 {
		return nil, errors.New("no number of slots to plan for")
	}
	if opt.Levelers == nil {
		opt.Levelers = Levelers()[:2]
	}
	if opt.Price == nil {
		opt.Price = PerSlotSecond(1)
	}
	p := &Plan{}
	rows := make([][]Prediction, len(opt.Levelers))
	for i, l := range opt.Levelers {
		var err error
		if rows[i], err = predictAll(w, l, &opt); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	for k, n := range opt.Slots {
		w := opt.SlotTimes.At(w, n)
		work := w.Work()
		for i, l := range opt.Levelers {
			p.add(l.Name, n, rows[i][k], work, &opt)
		}
		p.Bounds = append(p.Bounds, Bounds(w, opt.Overhead, n))
		if opt.Simulate && opt.Sim.Machines == nil {
			if err := p.simulate(w, n, work, &opt); err != nil {
				return nil, err
			}
		}
	}
	if opt.Simulate && opt.Sim.Machines != nil {
		n := coresOf(opt.Sim.Machines)
		w := opt.SlotTimes.At(w, n)
		if err := p.simulate(w, n, w.Work(), &opt); err != nil {
			return nil, err
		}
	}
	p.Pareto = pareto(p.Estimates)
	p.Choice = choose(w, p.Estimates, p.Pareto, &opt)
	return p, nil
}

// add adds the prediction of a method.
func (p *Plan) add(method string, slots int, x Prediction, work Seconds, opt *PlanOptions) {
	p.Estimates = append(p.Estimates, Estimate{
		method, slots, x, opt.Price.Cost(slots, x.Makespan),
		Efficiency(work, slots, x.Makespan),
	})
}

// simulate adds the simulation on a number of slots, or on the machines of opt,
// which have as many cores.
func (p *Plan) simulate(w *Workflow, slots int, work Seconds, opt *PlanOptions) error {
	sim := opt.Sim
	sim.Overhead = opt.Overhead
	if opt.Calibration != nil {
		sim.Overhead = opt.Calibration.BestOverhead(slots)
	}
	s, err := Simulate(w, slots, sim)
	if err != nil {
		return err
	}
	p.add("simulation", slots, Prediction{s.Makespan, s.Makespan, s.Makespan}, work, opt)
	return nil
}

// coresOf returns how many cores machines have together, at least 1.
func coresOf(machines []MachineGroup) int {
	n := 0.0
	for _, m := range machines {
		n += float64(m.Count) * m.Cores
	}
	return max(1, int(n))
}

// predictAll returns the predictions by levels for each number of slots: from the calibration if there
// is one, which has intervals, or from the delays alone. Random run times widen the interval in
// proportion to the ratio of their quantiles to their mean.
//
// With SlotTimes each number of slots is a workflow of its own run times and is predicted by itself.
func predictAll(w *Workflow, l NamedLeveler, opt *PlanOptions) ([]Prediction, error) {
	if opt.SlotTimes == nil {
		return predictSame(w, l, opt)
	}
	out := make([]Prediction, 0, len(opt.Slots))
	for _, n := range opt.Slots {
		one := *opt
		one.Slots = []int{n}
		p, err := predictSame(opt.SlotTimes.At(w, n), l, &one)
		if err != nil {
			return nil, err
		}
		out = append(out, p...)
	}
	return out, nil
}

// predictSame is predictAll with the same run times on any slots.
//
// With random run times the mean of the delays' model over its point prediction scales the
// prediction of the calibration too: the overhead closest to it stands in, that for the first
// number of slots. In proportion to the prediction the interval never gets narrower.
func predictSame(w *Workflow, l NamedLeveler, opt *PlanOptions) ([]Prediction, error) {
	out := make([]Prediction, len(opt.Slots))
	if opt.Calibration == nil {
		m, err := NewLevelModel(w, l.Leveler, opt.Overhead)
		if err != nil {
			return nil, err
		}
		for i, n := range opt.Slots {
			x, err := m.Makespan(n)
			if err != nil {
				return nil, err
			}
			out[i] = Prediction{x, x, x}
		}
	} else {
		for i, n := range opt.Slots {
			var err error
			if n < 1 {
				return nil, fmt.Errorf("%d slots", n)
			}
			if out[i], err = opt.Calibration.Predict(w, l.Leveler, n); err != nil {
				return nil, err
			}
		}
	}
	if opt.Vary.Error == 0 {
		return out, nil
	}
	overhead := opt.Overhead
	if opt.Calibration != nil {
		overhead = opt.Calibration.BestOverhead(opt.Slots[0])
	}
	spread, err := Vary(w, l.Leveler, overhead, opt.Slots, opt.Vary)
	if err != nil {
		return nil, err
	}
	point, err := NewLevelModel(w, l.Leveler, overhead)
	if err != nil {
		return nil, err
	}
	for i, s := range spread {
		x, err := point.Makespan(s.Slots)
		if err != nil {
			return nil, err
		}
		if x > 0 {
			out[i].times(s.Mean / x)
		}
		if s.Mean > 0 {
			out[i].Low *= min(1, s.Low/s.Mean)
			out[i].High *= max(1, s.High/s.Mean)
		}
	}
	return out, nil
}

// times multiplies the prediction and its interval.
func (p *Prediction) times(f float64) {
	p.Makespan, p.Low, p.High = p.Makespan*f, p.Low*f, p.High*f
}

// pareto returns the estimates that no other beats in makespan and cost, fastest first; of
// equals the one with the fewest slots.
//
// The result is never empty unless all is, as the fastest is in it.
func pareto(all []Estimate) []Estimate {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Estimate) int {
		return cmp.Or(cmp.Compare(a.Makespan, b.Makespan), cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Slots, b.Slots))
	})
	var front []Estimate
	// Invariant: costs fall along front, and no estimate seen so far beats
	// one of front.
	for _, e := range sorted {
		if len(front) == 0 || e.Cost < front[len(front)-1].Cost {
			front = append(front, e)
		}
	}
	return front
}

// choose recommends one of the estimates.
//
// front is the Pareto front of all, fastest first and cheapest last, so that the first and the last of
// the feasible ones are the answers.
func choose(w *Workflow, all, front []Estimate, opt *PlanOptions) Choice {
	var keep []Estimate
	for _, e := range front {
		if (opt.Deadline == 0 || e.Makespan <= opt.Deadline) && (opt.Budget == 0 || e.Cost <= opt.Budget) {
			keep = append(keep, e)
		}
	}
	if opt.Deadline == 0 && opt.Budget == 0 {
		return chooseKnee(w, all, opt)
	}
	if len(keep) == 0 {
		return nearest(front, opt)
	}
	c := Choice{Feasible: true, Estimate: keep[0]} // the fastest
	what := "the fastest"
	if opt.Deadline > 0 {
		c.Estimate, what = keep[len(keep)-1], "the cheapest"
	}
	c.Why = fmt.Sprintf("%s of %d that %s: %.4g s for %.4g", what, len(all), limits(opt), c.Makespan, c.Cost)
	if opt.Deadline > 0 && c.High > opt.Deadline {
		c.Why += fmt.Sprintf("; the interval ends after the deadline, at %.4g s", c.High)
	}
	return c
}

// chooseKnee recommends the fewest slots within 5 % of the least makespan.
//
// With several methods the least makespan on a number of slots counts. Cost does not.
func chooseKnee(w *Workflow, all []Estimate, opt *PlanOptions) Choice {
	best := map[int]Estimate{}
	for _, e := range all {
		if b, ok := best[e.Slots]; !ok || e.Makespan < b.Makespan {
			best[e.Slots] = e
		}
	}
	var span []Seconds
	slots := slices.Sorted(maps.Keys(best))
	for _, n := range slots {
		span = append(span, best[n].Makespan)
	}
	i := Knee(slots, span)
	c := Choice{Feasible: true, Estimate: best[slots[i]]}
	last := slots[len(slots)-1]
	c.Bound = math.NaN()
	if fastest := slices.Min(span); c.Makespan > 0 {
		c.Saves = 1 - fastest/c.Makespan
		if least := leastFrom(w, slots[i:], opt); least <= fastest*(1+1e-12) {
			c.Bound = max(c.Saves, 1-least/c.Makespan) // they differ by rounding if equal
		}
	}
	switch {
	case len(slots) == 1:
		c.Why = "the only number of slots asked for"
	case i == len(slots)-1:
		c.Why = fmt.Sprintf("every step up to %d slots still saves time", last)
	default:
		c.Why = fmt.Sprintf("more slots, up to %d, save %.1f %% of the makespan by these estimates", last, 100*c.Saves)
		if !math.IsNaN(c.Bound) {
			c.Why += fmt.Sprintf(", and at most %.1f %% by any schedule", 100*c.Bound)
		}
	}
	return c
}

// leastFrom returns a lower bound of the makespan for every schedule on any of the numbers of slots, or
// on the machines of opt. Tasks that need part of a core share it on machines, so that only the critical
// path bounds these, on the fastest machine.
func leastFrom(w *Workflow, slots []int, opt *PlanOptions) Seconds {
	speed := 1.0
	for _, m := range opt.Sim.Machines {
		speed = max(speed, m.Speed)
	}
	least := math.Inf(1)
	for _, n := range slots {
		b := Bounds(opt.SlotTimes.At(w, n), opt.Overhead, n)
		if opt.Sim.Machines != nil {
			least = min(least, b.Path/speed)
		} else {
			least = min(least, b.Makespan())
		}
	}
	return least
}

// nearest describes the closest estimate when none keeps the limits.
//
// It is called only if some limit is set that no estimate keeps. A deadline that cannot be kept goes
// first. Otherwise the budget fails, and the cheapest estimate that keeps the deadline is named.
// Choice.Feasible stays false.
func nearest(front []Estimate, opt *PlanOptions) Choice {
	c := Choice{Estimate: front[0]} // the fastest
	if opt.Deadline > 0 && c.Makespan > opt.Deadline {
		c.Why = fmt.Sprintf("nothing keeps the deadline of %.4g s; this is the fastest, %.4g s", opt.Deadline,
			c.Makespan)
		return c
	}
	cheap := front[len(front)-1]
	if opt.Deadline > 0 {
		for _, e := range front {
			if e.Makespan <= opt.Deadline {
				cheap = e
			}
		}
	}
	c.Estimate = cheap
	c.Why = fmt.Sprintf("nothing %s; this costs least, %.4g", limits(opt), c.Cost)
	return c
}

// limits names the deadline and the budget.
//
// The order is fixed and the text is part of messages.
func limits(opt *PlanOptions) string {
	var s []string
	if opt.Deadline > 0 {
		s = append(s, fmt.Sprintf("the deadline of %.4g s", opt.Deadline))
	}
	if opt.Budget > 0 {
		s = append(s, fmt.Sprintf("the budget of %.4g", opt.Budget))
	}
	return "keeps " + strings.Join(s, " and ")
}
