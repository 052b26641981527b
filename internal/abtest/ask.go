package abtest

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// noiseLevel is the level of the interval from which the noise is read. It takes 5 pairs.
const noiseLevel = 0.9

// noise returns by how much the ratio of a pair varies: the standard deviation, on the
// scale of logarithms, of normal noise in which the estimate would be as uncertain as it
// is. It is read from a rank interval, so that a few runs that took ten times as long
// count no more there than in the verdict. It is NaN where that is not known.
func noise(a, b []float64) float64 {
	if slices.ContainsFunc(a, math.IsNaN) || slices.ContainsFunc(b, math.IsNaN) {
		return math.NaN()
	}
	c := stats.ComparePaired(a, b, stats.CompareOptions{Level: noiseLevel})
	low, high := c.Low, c.High
	if math.IsInf(low, 0) || math.IsInf(high, 0) || math.IsNaN(low) || low <= -1 {
		return math.NaN()
	}
	half := (math.Log1p(high) - math.Log1p(low)) / 2
	return half / normal(1-(1-noiseLevel)/2) * math.Sqrt(float64(c.N))
}

func normal(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// gap returns, on the scale of logarithms, the change to find, and the difference to resolve: the smaller
// of that change and the margin by which an equal command must pass the gate.
func (d *Duel) gap() (find, tell float64) {
	if d.Gate == nil {
		return math.Log1p(resolution), math.Log1p(resolution)
	}
	pass, find := d.Gate.gaps(d.Maximize)
	if tell = find; pass > 0 {
		tell = min(find, pass)
	}
	return find, tell
}

// ask fills in how many pairs a comparison that is not decided needs. a and b are its
// values, total the error on one side.
func (r *Result) ask(d *Duel, a, b []float64, total float64) {
	find, tell := d.gap()
	r.noise = noise(a, b)
	r.finds, r.asks = stats.PairsFor(r.noise, find, total), stats.PairsFor(r.noise, tell, total)
}

// advise describes the changes that would help an undecided comparison. cpuA and cpuB are the processor times of
// its runs.
func (r *Result) advise(d *Duel, cpuA, cpuB []float64, total float64) {
	if math.IsNaN(r.noise) {
		return // there are warnings
	}
	_, tell := d.gap()
	r.Needs = r.asks
	if r.Pairs >= r.asks && r.Change != nil {
		limit := 0.0
		if d.Gate != nil {
			if limit = d.Gate.Limit; !d.Gate.upwards(d.Maximize) {
				limit = -limit
			}
		}
		tell = min(tell, math.Abs(math.Log1p(*r.Change)-math.Log1p(limit)))
		r.Needs = stats.PairsFor(r.noise, tell, total)
	}
	more := ""
	if r.Needs = roundUp(r.Needs); r.Needs <= 100*maxAsked {
		took := report.Seconds(r.Seconds / float64(r.Pairs) * float64(r.Needs))
		more = fmt.Sprintf("; about %d pairs would decide it, in %s: --pairs %d", r.Needs, took, r.Needs)
	} else {
		r.Needs = 0
	}
	r.Advice = append(r.Advice, fmt.Sprintf("the ratio of two runs in turn varies by %s%s", percent(r.noise), more))
	if d.Metric == "elapsed" {
		if n := noise(cpuA, cpuB); 2*n < r.noise {
			r.Advice = append(r.Advice, fmt.Sprintf("wall time cannot decide this here: use --metric cpu, which varies "+
				"by %s (about %d pairs), unless it is waiting that differs", percent(n), stats.PairsFor(n, tell, total)))
			return
		}
	}
	if short := 0.1; r.unit == "s" && r.A.Median < short {
		r.Advice = append(r.Advice, fmt.Sprintf("runs of %s are short: one that does more work varies less",
			report.Seconds(r.A.Median)))
	}
}

// roundUp returns n with two digits, rounded up: an estimate deserves no more.
func roundUp(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}

func percent(x float64) string { return report.Number(100*x, 2) + " %" }
