package race

import (
	"math"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

const (
	// stopsEach is how many runs in a row the incumbent ends, for each time that it was
	// run again, before it is run once more: after 8, 16, 24, ... A value that nothing
	// reaches any more, because the machine has become slower, gives way, and a lucky
	// pair does; the cost is at most one run in nine.
	stopsEach = 8
	// keep is how many standard deviations of its centre count against a configuration in
	// the answer.
	keep = 1.0
	// chance is how many standard deviations above the incumbent a run may get that is the
	// second of a configuration which was stopped.
	chance = 3.0
	// same is the share by which two configurations may differ and be as good as one
	// another.
	same = 0.01
	// The centre of a configuration's runs is their median, and from manyRuns on the
	// Hodges-Lehmann estimate: as little as one run in four hurts it, and it takes 2/3 of the
	// runs. Their standard deviations, times the root of the number of runs, for runs of
	// standard deviation 1:
	manyRuns       = 5
	spreadOfMedian = 1.2
	spreadOfMany   = 1.05
)

// Doubt returns the trial to run again before anything else: its value could stop other runs without confirmation by a
// second run, or it has stopped many in a row. ok is false if no such trial exists. Configurations of pending are being
// run again already.
func (f *Field) Doubt(pending func(assay.Config) bool) (t assay.Trial, ok bool) {
	if f.Quiet() {
		return t, false
	}
	best, least := f.incumbent()
	var doubted *entry
	if best != nil && f.stopped >= stopsEach*(best.runs()-1) {
		doubted = best
	}
	for i := range f.entrants {
		e := &f.entrants[i]
		if v := e.first; e.done && e.runs() == 1 && v < least && !pending(f.trial(e).Config) {
			doubted, least = e, v
		}
	}
	if doubted == nil {
		return t, false
	}
	t = f.trial(doubted)
	return t, !pending(t.Config)
}

// A standing is the estimate of an entrant in the race, on a scale on which a difference is a share of the value.
type standing struct {
	*entry
	at  float64 // the centre of its values
	low float64 // of two values the less: one bad run alone does not condemn
	off float64 // the standard deviation of at
}

// standings returns the standings of all entrants that were not refuted, are clear of the limits, and were not stopped
// twice without a finished run.
func (f *Field) standings() []standing {
	scale := f.scale()
	noise := f.Noise()
	all := make([]standing, 0, len(f.entrants))
	for i := range f.entrants {
		e := &f.entrants[i]
		if len(e.broken()) > 0 || !e.done && e.runs() > 1 {
			continue
		}
		s := standing{entry: e, at: scale(e.median()), off: noise}
		if !e.done { // its value is more, by about that much
			s.at += noise
		}
		s.low = s.at
		n := e.runs()
		if n == 2 {
			s.low = scale(min(e.value(0), e.value(1)))
		}
		if n >= manyRuns {
			x := e.values()
			for i, v := range x {
				x[i] = scale(v)
			}
			s.at, s.off = stats.HodgesLehmann(x, 0).Value, noise*spreadOfMany/math.Sqrt(float64(n))
			s.low = s.at
		} else if n > 1 {
			s.off = noise * spreadOfMedian / math.Sqrt(float64(n))
		}
		all = append(all, s)
	}
	return f.clear(all)
}

// clear returns the standings of those that are clear of the limits, or all if none of those was done.
func (f *Field) clear(all []standing) []standing {
	if !f.margin.known() {
		return all
	}
	done := false
	clear := make([]standing, 0, len(all))
	for _, s := range all {
		if !f.margin.near(f.trial(s.entry).Config) {
			clear, done = append(clear, s), done || s.done
		}
	}
	if !done {
		return all
	}
	return clear
}

// scale returns the map of values to that scale: logarithms, if all have one sign. It keeps
// the order.
func (f *Field) scale() func(float64) float64 {
	low, high, size, n := math.Inf(1), math.Inf(-1), 0.0, 0
	for i := range f.entrants {
		e := &f.entrants[i]
		for k := range e.runs() {
			v := e.value(k)
			low, high = min(low, v), max(high, v)
			size += math.Abs(v)
			n++
		}
	}
	switch {
	case low > 0:
		return math.Log
	case high < 0:
		return func(v float64) float64 { return -math.Log(-v) }
	case size == 0:
		return func(v float64) float64 { return v }
	}
	return func(v float64) float64 { return v * float64(n) / size }
}

// Next returns the trial that the race runs again next. It compares the leading configuration and the one that may be
// better than it by the most, and chooses the one with fewer runs (LUCB: Kalyanakrishnan et al. 2012). Each may be
// better or worse than its runs by √(2·ln n) standard deviations of their centre, n the runs of all.
//
// So a leader and its challenger alternate, and a drift of the machine affects both alike. A lucky leader is soon
// overtaken, and a configuration far behind is not run again.
//
// Once no configuration may be better by more than 1 %, it gives a second run to each configuration with a single run
// whose distance from the leader is at most the largest distance of two runs of one configuration: with a heavy tail,
// one run is weak evidence. ok is false when that is done.
func (f *Field) Next() (t assay.Trial, ok bool) {
	all := f.standings()
	var leader, challenger standing
	runs := 0
	for _, s := range all {
		runs += s.runs()
		if s.done && (leader.entry == nil || s.at < leader.at) {
			leader = s
		}
	}
	if leader.entry == nil {
		return t, false
	}
	if !f.trusted(leader.entry) {
		return f.trial(leader.entry), true
	}
	reach := math.Sqrt(2 * math.Log(float64(runs)))
	for _, s := range all {
		if s.entry != leader.entry &&
			(challenger.entry == nil || s.low-reach*s.off < challenger.low-reach*challenger.off) {
			challenger = s
		}
	}
	switch {
	case challenger.entry == nil:
		return t, false
	case challenger.low-reach*challenger.off >= leader.at+reach*leader.off-same:
		return f.single(all, leader)
	case leader.runs() < challenger.runs():
		return f.trial(leader.entry), true
	}
	return f.trial(challenger.entry), true
}

// single returns the least of those that have one run and may owe it to a heavy tail.
func (f *Field) single(all []standing, leader standing) (t assay.Trial, ok bool) {
	least := leader.at - math.Log1p(-f.apart)
	for _, s := range all {
		if s.runs() == 1 && s.at < least {
			t, ok, least = f.trial(s.entry), true, s.at
		}
	}
	return t, ok
}

// Margin returns how far above the incumbent a run may get that the race makes of a
// configuration which was stopped before, as a share of the value.
func (f *Field) Margin() float64 { return math.Expm1(chance * f.Noise()) }

// Best returns the configuration with the least value that it is likely to keep: its median and one standard deviation
// of it. Ties go to the first. ok is false if no configuration has a finished run, or each was refuted.
func (f *Field) Best() (e Entrant, ok bool) {
	var best *standing
	all := f.standings()
	for i, s := range all {
		if s.done && (best == nil || s.at+keep*s.off < best.at+keep*best.off) {
			best = &all[i]
		}
	}
	if best == nil {
		return e, false
	}
	return f.entrant(best.entry), true
}
