package study

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// frontRuns is how many runs each configuration of a Pareto front is to have in the end, including the search's: the
// median of three leaves out one that was lucky or unlucky.
const frontRuns = 3

// frontTolerance is the relative difference below which two values of an objective are as good as equal in the front.
const frontTolerance = 0.001

// A FrontTrial is a trial of the Pareto front: no other trial beats it in all objectives.
type FrontTrial struct {
	assay.Trial           // of the search; Values are the medians of its runs
	Runs        int       // complete ones
	Worst       []float64 // of each objective, over the runs
}

// frontier knows the runs of each configuration of a study with several objectives.
type frontier struct {
	goal     assay.Goal
	entrants []*entrant
	by       map[string]*entrant // by the Key of the configuration
}

// An entrant is a configuration with a complete run, with the values of its runs, one list for each objective.
type entrant struct {
	trial  assay.Trial
	runs   [][]float64
	broken []assay.Trial // runs that failed or broke a limit, since it was first done
	tried  int           // times that it was run again
}

// take takes a run into account.
func (f *frontier) take(t assay.Trial, why purpose) {
	key := t.Config.Key()
	e := f.by[key]
	if why != searched && e != nil {
		e.tried++
	}
	switch t.State {
	case assay.Done:
		values, err := f.goal.Values(t.Measurement)
		if err != nil {
			return
		}
		if e == nil {
			e = &entrant{trial: t, runs: make([][]float64, len(values))}
			if f.by == nil {
				f.by = map[string]*entrant{}
			}
			f.by[key] = e
			f.entrants = append(f.entrants, e)
		}
		for i, x := range values {
			e.runs[i] = append(e.runs[i], x)
		}
	case assay.Failed, assay.Infeasible:
		if e != nil {
			e.broken = append(e.broken, t)
		}
	}
}

// front returns the Pareto front of the configurations, by the medians of their runs, in order of the
// first objective. One that failed when it was run again is not among them, and neither is one beside which another is
// at most frontTolerance worse in each objective.
func (f *frontier) front() []FrontTrial {
	var sound []*entrant
	var points [][]float64
	for _, e := range f.entrants {
		if len(e.broken) == 0 {
			sound, points = append(sound, e), append(points, e.medians())
		}
	}
	var all []FrontTrial
	for _, i := range apart(points, assay.Front(points)) {
		e := sound[i]
		m := FrontTrial{Trial: e.trial, Runs: len(e.runs[0])}
		m.Value, m.Values = points[i][0], points[i]
		for _, xs := range e.runs {
			m.Worst = append(m.Worst, slices.Max(xs))
		}
		all = append(all, m)
	}
	return all
}

// apart returns those points of a front that matter: beside each of the others one of them is at most frontTolerance
// worse in each objective. It prefers points that stand for most others.
func apart(points [][]float64, front []int) (all []int) {
	open := slices.Clone(front)
	for len(open) > 0 {
		best, covered := open[0], 0
		for _, i := range open {
			if !asGood(points[i], points[open[0]]) {
				continue
			}
			n := 0
			for _, k := range open {
				if asGood(points[i], points[k]) {
					n++
				}
			}
			if n > covered {
				best, covered = i, n
			}
		}
		all = append(all, best)
		open = slices.DeleteFunc(open, func(k int) bool { return asGood(points[best], points[k]) })
	}
	slices.SortFunc(all, func(i, k int) int { return cmp.Compare(points[i][0], points[k][0]) })
	return all
}

// asGood reports whether a is at most frontTolerance worse than b in each objective.
func asGood(a, b []float64) bool {
	for i, x := range a {
		if x > b[i]+frontTolerance*math.Abs(b[i]) {
			return false
		}
	}
	return true
}

func (e *entrant) medians() []float64 {
	out := make([]float64, len(e.runs))
	for i, xs := range e.runs {
		out[i] = stats.Median(xs)
	}
	return out
}

// Balanced returns the index of the trial of a Pareto front with the least distance from the best of each objective:
// the largest of the distances per objective, each scaled to its range over the front. Among equals it is the
// earliest; for an empty front it is -1. weights, nil for all the same, are the weights of the objectives.
func Balanced(front [][]float64, weights []float64) int {
	best, least := -1, math.Inf(1)
	if len(front) == 0 {
		return best
	}
	lo, hi := slices.Clone(front[0]), slices.Clone(front[0])
	for _, p := range front {
		for i, x := range p {
			lo[i], hi[i] = min(lo[i], x), max(hi[i], x)
		}
	}
	for k, p := range front {
		far, sum := 0.0, 0.0
		for i, x := range p {
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			if hi[i] > lo[i] {
				d := w * (x - lo[i]) / (hi[i] - lo[i])
				far, sum = max(far, d), sum+d
			}
		}
		if d := far + 1e-3*sum; d < least { // of two that are as far, the one that is nearer in the others
			best, least = k, d
		}
	}
	return best
}

// balanced sets the best of a study with several objectives: the balanced trial of the front. The mutex
// of the loop is held.
func (j *judge) balanced() {
	front := j.frontier.front()
	points := make([][]float64, len(front))
	for i, m := range front {
		points[i] = m.Values
	}
	j.top = nil
	if k := Balanced(points, nil); k >= 0 {
		t := front[k].Trial
		j.top = &t
	}
}

// confirmFront runs the configurations of the Pareto front again, in turn, until each of them has three runs: a trial
// of many is in the front partly by luck. A configuration that turns out to be dominated leaves it, and those that it
// dominated enter and are run again too. A timed study makes as many runs as fit in the reserve. Otherwise it makes a
// fifth of the trials, or Check if that is more.
//
// The runs are made one at a time, with any Parallel, for the reason given at check.
func (r *racer) confirmFront(ctx context.Context) error {
	for !r.limits.interrupted(ctx) && !r.limits.exhausted() {
		next, more := r.front.unconfirmed()
		left := r.limits.budget().Time - r.record.spent()
		switch {
		case !more:
			return nil
		case r.limits.budget().Time > 0 && left < next.Measurement.Elapsed+r.took.least():
			return nil
		case !r.limits.timed() && r.enoughRaces():
			return nil
		}
		o := r.runs.again(ctx, next, max(left, 0), nil)
		if err := r.runs.settleAgain(ctx, o); err != nil {
			return err
		}
		if o.lost || o.trial.State == assay.Censored {
			return nil
		}
	}
	return nil
}

// unconfirmed returns the trial of the front with the fewest runs, the first of equals, unless all have enough.
func (j *judge) unconfirmed() (t assay.Trial, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fewest := frontRuns
	for _, m := range j.frontier.front() {
		e := j.frontier.by[m.Config.Key()]
		if n := max(m.Runs, e.tried+1); n < fewest {
			t, ok, fewest = e.trial, true, n
		}
	}
	return t, ok
}

// refutedOfFront returns the configurations that failed when they were run again.
func (j *judge) refutedOfFront() (all []Refuted) {
	for _, e := range j.frontier.entrants {
		if len(e.broken) > 0 && e.tried > 0 {
			all = append(all, Refuted{e.trial, e.broken, e.tried})
		}
	}
	return all
}

// unconfirmedTime returns how long the runs are likely to take that the front lacks.
func (j *judge) unconfirmedTime() (need time.Duration) {
	for _, m := range j.frontier.front() {
		need += time.Duration(max(0, frontRuns-m.Runs)) * (j.lasted.typical(m.Config) + j.lasted.beside)
	}
	return need
}
