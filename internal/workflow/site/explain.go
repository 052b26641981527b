package site

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// This file turns the states at the ends of searches into plans for people: the schedule, the
// uncertainty of the makespan, and the reason why a plan is or is not the best.

// maxOthers is how many plans are kept beside the best.
const maxOthers = 20

// finish fills s with the plans that the states are the ends of: the best, up to maxOthers of
// other kinds, fastest first, their intervals, and why each loses. Two searches often find the
// same decisions; these count once. A plan is dominated by one that is as fast and moves no
// more, and is better in one of the two.
func (p *problem) finish(s *Plans, best *state, plans []*state) {
	seen := map[string]bool{}
	add := func(st *state) *Plan {
		steps := stepsTo(st)
		key := fmt.Sprint(steps)
		if seen[key] {
			return nil
		}
		seen[key] = true
		plan := p.replay(steps)
		plan.Name = p.name(plan)
		return plan
	}
	s.Best = add(best)
	for _, st := range plans {
		if x := add(st); x != nil {
			s.Others = append(s.Others, x)
		}
	}
	slices.SortStableFunc(s.Others, func(a, b *Plan) int {
		return cmp.Or(cmp.Compare(a.Makespan, b.Makespan), cmp.Compare(a.Staged+a.Remote, b.Staged+b.Remote))
	})
	all := append([]*Plan{s.Best}, s.Others...)
	for _, x := range all {
		for _, y := range all {
			nx, ny := x.Staged+x.Remote, y.Staged+y.Remote
			x.Dominated = x.Dominated || y.Makespan <= x.Makespan && ny <= nx && (y.Makespan < x.Makespan || ny < nx)
		}
	}
	s.Others = s.Others[:min(len(s.Others), maxOthers)]
	p.intervals(append([]*Plan{s.Best}, s.Others...))
	s.Best.Why = whyBest(s)
	for _, x := range s.Others {
		x.Why = whyLoses(x, s.Best)
	}
}

// step is one decision of a plan.
type step struct {
	task             int32
	compute, storage int16
}

// stepsTo returns the decisions that led to a state.
//
// In the order in which they were taken. A state knows its decision and its parent, also after
// forget.
func stepsTo(s *state) (out []step) {
	for ; s != nil && s.task >= 0; s = s.parent {
		out = append(out, step{s.task, s.compute, s.storage})
	}
	slices.Reverse(out)
	return out
}

// replay makes the plan of a sequence of decisions by taking them again, now with a record:
// states of a search keep no history but decisions.
//
// Low and High are the makespan until intervals sets them. The copies that it notes stay in
// p.copies, where no other state refers to them.
func (p *problem) replay(steps []step) *Plan {
	plan := &Plan{}
	s := p.child(p.first)
	for _, x := range steps {
		p.advance(s, int(x.task), int(x.compute), int(x.storage),
			p.duration(int(x.task), int(x.compute), int(x.storage)), plan)
	}
	plan.Prediction = workflow.Prediction{Makespan: s.makespan, Low: s.makespan, High: s.makespan}
	plan.Stored = s.used
	plan.Path = p.breakdown(plan)
	return plan
}

// breakdown splits the makespan into its parts. It walks back from the task that ends last to one that
// it waited for and that ended when it became ready, and so on to a task that waited for none.
func (p *problem) breakdown(plan *Plan) (b Breakdown) {
	of := make([]int32, p.n) // decision of each task
	last := 0
	for i, d := range plan.Decisions {
		of[d.Task] = int32(i)
		if d.End > plan.Decisions[last].End {
			last = i
		}
	}
	// Invariant: the parts of b and the start of the walk's rest, d.End, add up
	// to the makespan.
	for at := last; at >= 0; {
		d := &plan.Decisions[at]
		x := p.time[(d.Task*p.np+d.Compute)*p.np+d.Storage]
		delay := p.net.sites[d.Compute].Delay
		b.Compute += x.Compute
		if d.Compute == d.Storage {
			b.Local += x.Stall
		} else {
			b.Remote += d.End - d.Start - x.Compute - delay
		}
		b.Waiting += d.Start - d.Arrived + delay
		b.Staging += d.Arrived - d.Ready
		at = -1
		for _, q := range p.w.Graph.Preds(d.Task) {
			if e := plan.Decisions[of[q]].End; e == d.Ready && (at < 0 || e > 0) {
				at = int(of[q])
			}
		}
	}
	return b
}

// name describes the kind of the plan.
//
// The plan has one decision at least. Sites are the sites that compute; sites that only keep data are
// not named.
func (p *problem) name(plan *Plan) string {
	var sites []string
	c, d := plan.Decisions[0].Compute, plan.Decisions[0].Storage
	same := true
	for _, x := range plan.Decisions {
		same = same && x.Compute == c && x.Storage == d
		if n := p.net.sites[x.Compute].Name; !slices.Contains(sites, n) {
			sites = append(sites, n)
		}
	}
	if same {
		return p.pureName(c, d)
	}
	slices.Sort(sites)
	return "over " + joinSome(sites, 4)
}

// pureName names the plan with all tasks at c and their data at d.
func (p *problem) pureName(c, d int) string {
	staged := false
	for i, n := range p.first.used {
		staged = staged || i != d && n > 0
	}
	at, store := p.net.sites[c].Name, p.net.sites[d].Name
	switch {
	case c == d && staged:
		return "at " + at + ", data staged"
	case c == d:
		return "at " + at + ", data local"
	case staged:
		return "at " + at + ", data staged to " + store + ", remote I/O"
	}
	return "at " + at + ", remote I/O to " + store
}

// whyBest describes how certain it is that the best plan is best. With makespan = (1 + gap)·bound, a
// faster plan saves at most gap/(1 + gap) of the makespan.
func whyBest(s *Plans) string {
	switch gap := s.Best.Makespan/s.Bound - 1; {
	case s.Exact:
		return "no assignment is faster"
	case s.Bound > 0:
		return fmt.Sprintf("no plan is more than %.3g %% faster", 100*gap/(1+gap))
	}
	return "the fastest found"
}

// whyLoses names the parts of the makespan in which a plan is behind the best: the two largest
// that are more than a tenth of the gap. Rounding, a billionth of the makespan, is no gap.
//
// The result is "" if no part is behind by that much.
func whyLoses(x, best *Plan) string {
	gap := x.Makespan - best.Makespan
	if gap <= 1e-9*best.Makespan {
		if more := x.Staged + x.Remote - best.Staged - best.Remote; more > 0 {
			return "as fast, but moves " + bytesText(more) + " more"
		}
		return "as fast"
	}
	type part struct {
		name string
		more workflow.Seconds
	}
	parts := []part{
		{"computing", x.Path.Compute - best.Path.Compute},
		{"local I/O", x.Path.Local - best.Path.Local},
		{"remote I/O", x.Path.Remote - best.Path.Remote},
		{"staging", x.Path.Staging - best.Path.Staging},
		{"waiting for a slot", x.Path.Waiting - best.Path.Waiting},
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.more, a.more) })
	var why []string
	for _, q := range parts {
		if q.more > 0.1*gap && len(why) < 2 {
			why = append(why, fmt.Sprintf("%.4g s more of %s", q.more, q.name))
		}
	}
	return strings.Join(why, ", ")
}

// intervals sets Low and High of the plans to the 5 % and 95 % quantiles of their makespans with random
// errors: each kind of task has one error at each site, since an error of a cost model affects all tasks
// of a kind. Assignments and order stay as planned. Every plan sees the same errors.
func (p *problem) intervals(plans []*Plan) {
	uncertain := p.opt.Error > 0
	for i := range p.time {
		uncertain = uncertain || p.time[i].Error > 0
	}
	if !uncertain {
		return
	}
	p.interval(plans[:1], 20)
	p.interval(plans[1:], 0)
}

// intervalWork is the number of decisions that are made for the intervals of the best plan, and again
// for the others: a quarter of a second each. If that is not enough, the rest of the plans have no
// interval.
const intervalWork = 2e5

// interval sets the intervals of plans, with at least a number of samples; where
// 20 are too many, which is the least that quantiles of 5 and 95 % take, it sets none.
//
// Low and High never exclude the makespan as planned, even where errors are all on one side of it.
// Sample k has the same errors for every plan, as they are drawn from the seed and k.
func (p *problem) interval(plans []*Plan, least int) {
	if len(plans) == 0 {
		return
	}
	samples := max(least, min(p.opt.Samples, int(intervalWork/float64(p.n*len(plans)))))
	if samples < min(20, p.opt.Samples) {
		return
	}
	ends := make([][]workflow.Seconds, len(plans))
	for k := range samples {
		rng := rand.New(rand.NewPCG(p.opt.Seed, uint64(k)))
		noise := p.noise(rng)
		for i, plan := range plans {
			ends[i] = append(ends[i], p.makespan(plan, noise))
		}
	}
	for i, plan := range plans {
		plan.Low = min(plan.Makespan, workflow.Quantile(ends[i], 0.05))
		plan.High = max(plan.Makespan, workflow.Quantile(ends[i], 0.95))
	}
}

// noise returns a factor for each task and site to compute at, task by task. An error that the
// model gives is the deviation of the logarithm; without one the factor is uniform in 1 ±
// Options.Error. Tasks of one kind have one draw at each site.
func (p *problem) noise(rng *rand.Rand) []float64 {
	type draw struct{ uniform, normal float64 }
	kinds := map[string][]draw{}
	out := make([]float64, p.n*p.np)
	for t := range p.n {
		kind := p.w.Tasks[t].Kind
		draws, ok := kinds[kind]
		if !ok {
			for range p.np {
				draws = append(draws, draw{2*rng.Float64() - 1, rng.NormFloat64()})
			}
			kinds[kind] = draws
		}
		for c := range p.np {
			f := 1 + p.opt.Error*draws[c].uniform
			if e := p.time[(t*p.np+c)*p.np+c].Error; e > 0 {
				f = math.Exp(e * draws[c].normal)
			}
			out[t*p.np+c] = f
		}
	}
	return out
}

// makespan returns a plan's makespan when times are multiplied by noise. Delays of sites are
// not: they are no part of the model. Copies that the replay notes are dropped again.
func (p *problem) makespan(plan *Plan, noise []float64) workflow.Seconds {
	kept := len(p.copies)
	s := p.child(p.first)
	for _, d := range plan.Decisions {
		delay := p.net.sites[d.Compute].Delay
		length := (p.duration(d.Task, d.Compute, d.Storage)-delay)*noise[d.Task*p.np+d.Compute] + delay
		p.advance(s, d.Task, d.Compute, d.Storage, length, nil)
	}
	p.copies = p.copies[:kept]
	return s.makespan
}

// joinSome lists the first k words, and the number of the rest.
//
// It is for messages, so that a hundred sites do not fill a screen.
func joinSome(words []string, k int) string {
	if len(words) > k {
		return strings.Join(words[:k], ", ") + fmt.Sprintf(" and %d more", len(words)-k)
	}
	return strings.Join(words, ", ")
}
