package study

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/stats"
)

// frontRuns is how many runs each configuration of a front is to have in the end, that of the search
// among them: the median of three leaves out one that was lucky or unlucky.
const frontRuns = 3

// A FrontTrial is a trial that no other one beats in all objectives.
type FrontTrial struct {
	assay.Trial           // of the search; Values are the medians of its runs
	Runs        int       // that came to an end
	Worst       []float64 // of each objective, over the runs
}

// frontier knows the runs of each configuration of a study with several objectives.
type frontier struct {
	goal     assay.Goal
	entrants []*entrant
	by       map[string]*entrant // by the Key of the configuration
}

// An entrant is a configuration that came to an end, with the values of its runs, one list for each objective.
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

// front returns the configurations that no other one beats, by the medians of their runs, in order of
// the first objective. One that failed when it was run again is not among them.
func (f *frontier) front() []FrontTrial {
	var sound []*entrant
	var points [][]float64
	for _, e := range f.entrants {
		if len(e.broken) == 0 {
			sound, points = append(sound, e), append(points, e.medians())
		}
	}
	var all []FrontTrial
	for _, i := range assay.Front(points) {
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

func (e *entrant) medians() []float64 {
	out := make([]float64, len(e.runs))
	for i, xs := range e.runs {
		out[i] = stats.Median(xs)
	}
	return out
}

// Balanced returns the index of the trial of a front that is nearest to the best of each objective, with each
// scaled to its range over the front, in the objective where it is farthest from it; the earliest in the
// front of equals, -1 of an empty front. weights, nil for all the same, say how much each objective counts.
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

// confirmFront runs the configurations of the front again, in turn, until each of them has three runs: a
// trial of many is in the front partly by luck. What turns out to be beaten leaves it, and what it beat comes
// in, which is run again too. Unless it is timed as many runs are made as a fifth of the trials, or as Check
// says if that is more; otherwise as many as fit in what was kept back.
//
// The runs are made one at a time, whatever Parallel is, for the reason given at check.
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
