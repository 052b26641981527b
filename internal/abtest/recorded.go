package abtest

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// Recorded is a benchmark that another tool has measured: the values of its sides are independent of
// each other, and no run of one side belongs to a run of another.
type Recorded struct {
	Name     string // of the benchmark, or ""
	Metric   string
	Unit     string
	Maximize bool
	Gate     *Gate
	Among    int    // as in [Duel]; at least 1
	Of       string // the unit of the values, such as processes
	Sides    []Sample
	// Drift is the relative difference that two sessions of one program are assumed to have, where the
	// values do not show it: intervals are so much wider. It is not a 95 % error, but a bound.
	Drift float64
	// Limits lists the influences that the values cannot show; they are warnings of every comparison.
	Limits []string
}

// A Sample is the values of one side.
type Sample struct {
	Name   string   // such as A
	Source []string // the files
	Values []float64
}

// Compare compares each side with the first. There is one look, so that the interval of a comparison has its share of
// the error of the report, and no more: 0.05, or [GateError] on each side with a gate. It is the interval of
// [stats.CompareShift].
func (s Recorded) Compare() []Result {
	var all []Result
	total := 0.025 / float64(s.Among) // on each side
	if s.Gate != nil {
		total = GateError / float64(s.Among)
	}
	for _, other := range s.Sides[1:] {
		a, b := s.Sides[0], other
		c := s.widen(stats.CompareShift(a.Values, b.Values, stats.CompareOptions{Level: 1 - 2*total}))
		r := Result{
			Benchmark: s.Name, Metric: s.Metric, Goal: "minimize", A: a.side(), B: b.side(),
			Change: assay.Finite(c.Change), CI: [2]*float64{assay.Finite(c.Low), assay.Finite(c.High)}, Level: c.Level, P: c.P,
			Pairs: c.N, Runs: []int{len(a.Values), len(b.Values)}, Of: s.Of, Drift: s.Drift, Looks: 1,
			Verdict: c.Verdict.String(),
			unit:    s.Unit,
		}
		if s.Maximize {
			r.Goal = "maximize"
		}
		if c.Low <= -1 && c.Verdict == stats.Undecided {
			r.CI[0] = nil // a ratio has no bound but 0
		}
		r.decided = c.Verdict != stats.Undecided
		if s.Gate != nil {
			r.Limit, r.words, r.Outcome = s.Gate.String(), s.Gate.words(s.Metric), Unknown
			if r.Change != nil {
				r.Outcome = s.Gate.judge(c.Low, c.High, s.Maximize)
			}
			r.decided = r.Outcome != Unknown
		}
		bounded := r.CI[0] != nil || r.CI[1] != nil
		for _, w := range c.Warnings {
			if bounded || r.Change == nil {
				r.Warnings = append(r.Warnings, w.Error())
			}
		}
		if !r.decided {
			s.advise(&r, a.Values, b.Values, total, bounded)
		}
		r.Warnings = append(r.Warnings, s.Limits...)
		all = append(all, r)
	}
	return all
}

// widen returns a comparison whose interval holds for every drift in the bound, too.
func (s Recorded) widen(c stats.Comparison) stats.Comparison {
	if s.Drift == 0 || math.IsNaN(c.Change) {
		return c
	}
	if c.Low > -1 {
		c.Low, c.High = (1+c.Low)/(1+s.Drift)-1, (1+c.High)*(1+s.Drift)-1
	} else { // of values that are not all positive, the change is a part of the centre
		c.Low, c.High = c.Low-s.Drift, c.High+s.Drift
	}
	if c.Low <= 0 && c.High >= 0 {
		c.Verdict = stats.Undecided
	}
	return c
}

func (x Sample) side() Side {
	mean := stats.Mean(x.Values)
	return Side{
		x.Name, x.Source, stats.Min(x.Values), stats.Median(x.Values), mean,
		assay.Finite(stats.StdDev(x.Values) / math.Abs(mean)),
	}
}

// advise estimates how many values a side would need.
func (s Recorded) advise(r *Result, a, b []float64, total float64, bounded bool) {
	if r.Change == nil {
		return
	}
	if !bounded {
		n := leastFor(total)
		r.Needs = n
		r.Advice = append(r.Advice, fmt.Sprintf("%d and %d %s cannot show a difference at %s: "+
			"at least %d of each are needed", len(a), len(b), s.Of, percent(r.Level), n))
		return
	}
	c := stats.CompareShift(a, b, stats.CompareOptions{Level: noiseLevel})
	if math.IsInf(c.Low, 0) || math.IsInf(c.High, 0) || c.Low <= -1 {
		return
	}
	se := (math.Log1p(c.High) - math.Log1p(c.Low)) / 2 / normal(1-(1-noiseLevel)/2)
	d := Duel{Gate: s.Gate, Maximize: s.Maximize}
	_, tell := d.gap()
	gap := tell - math.Log1p(s.Drift)
	if gap <= 0 && s.Gate == nil {
		return // a warning reports it
	}
	if gap <= 0 {
		r.Advice = append(r.Advice, fmt.Sprintf("no number of %s would decide it, as sessions are assumed to differ by %s: "+
			"several files of each side would", s.Of, percent(s.Drift)))
		return
	}
	if s.Gate == nil && r.CI[0] != nil && r.CI[1] != nil && *r.CI[0] > math.Expm1(-gap) && *r.CI[1] < math.Expm1(gap) {
		return // no sample is that large
	}
	// The equivalent equal number on both sides: the error falls with its root.
	n := 2 / (1/float64(len(a)) + 1/float64(len(b)))
	needs := n * math.Pow((normal(1-total)+normal(stats.Power))*se/gap, 2)
	if needs > 100*maxAsked || math.IsNaN(needs) {
		return
	}
	r.Needs = roundUp(max(int(math.Ceil(needs)), leastFor(total), int(n)+1))
	r.Advice = append(r.Advice, fmt.Sprintf("about %d %s of each would show a difference of %s", r.Needs, s.Of,
		percent(math.Expm1(tell))))
}

// leastFor returns the least number of values a side with which a rank test has that error on one side.
func leastFor(total float64) int {
	for n := 2; ; n++ {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = float64(1+i), float64(1+i+n)
		}
		if c := stats.CompareShift(a, b, stats.CompareOptions{Level: 1 - 2*total}); !math.IsInf(c.High, 0) {
			return n
		}
	}
}

// ends describes for people how many runs a comparison has.
func (r Result) ends() string {
	if len(r.Runs) == 2 {
		return fmt.Sprintf("%d and %d %s", r.Runs[0], r.Runs[1], r.Of)
	}
	end := fmt.Sprintf("%d pairs of runs", r.Pairs)
	if r.Early {
		end += ", which are enough"
	}
	return end
}

// recorded reports whether a comparison is of values that another tool has measured.
func (r Report) recorded() bool {
	return slices.ContainsFunc(r.Comparisons, func(c Result) bool { return c.Runs != nil })
}
