package costmodel

import (
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
)

// feasibility predicts on which assignments runs fail, from failed and successful runs. A hypothesis is that runs fail
// up to a threshold in one attribute, or from a threshold on. The hypotheses that no run contradicts are weighted by
// how common they are, with the threshold anywhere between the failed and the successful runs. Without such a
// hypothesis, a run fails if the nearest run failed.
//
// Thresholds come first because programs fail from too little of a resource. A classifier would need more failures than
// a user wants to run: one failure and one success make a threshold.
type feasibility struct {
	space      *assay.Space   // of the assignments
	failed, ok []assay.Config // assignments of failed and of finished runs
	hypotheses []threshold    // that no run contradicts
}

// A threshold: runs fail on this side of it, the lower if below.
type threshold struct {
	at     attribute // the attribute
	param  int       // its index
	below  bool      // runs fail at small values
	fails  float64   // the failed run that is farthest from the failing end
	works  float64   // the run to the end that is nearest to it, or the other end
	weight float64   // how common such a cause is
}

// newFeasibility combines failed and finished runs. Without a failure there are no hypotheses and no risk.
func newFeasibility(space *assay.Space, attrs []attribute, failed, ok []assay.Config) feasibility {
	f := feasibility{space: space, failed: failed, ok: ok}
	if len(failed) == 0 {
		return f
	}
	for i, a := range attrs {
		if !a.numeric || a.lo == a.hi {
			continue
		}
		for _, below := range [2]bool{true, false} {
			if h, ok := f.hypothesis(i, a, below); ok {
				f.hypotheses = append(f.hypotheses, h)
			}
		}
	}
	return f
}

// hypothesis returns the threshold in attribute i with the failures on one side, and whether
// the runs admit it: every failed run lies deeper on the failing side than every run to the
// end. Its weight is how common such a cause is: memory 10, other capacities 1, too much of a
// capacity 0.02.
//
// Invariant: fails <= works in depth; the true threshold is somewhere between them.
func (f *feasibility) hypothesis(i int, a attribute, below bool) (threshold, bool) {
	h := threshold{at: a, param: i, below: below, fails: math.Inf(-1), works: a.hi, weight: 1}
	for _, c := range f.failed {
		h.fails = max(h.fails, h.depth(c))
	}
	h.works = h.depthOf(a.hi)
	if !below {
		h.works = h.depthOf(a.lo)
	}
	for _, c := range f.ok {
		h.works = min(h.works, h.depth(c))
	}
	if h.fails > h.works || h.fails == h.works && len(f.ok) > 0 && f.contradicted(h) {
		return h, false
	}
	// Programs die of too little, and of too little memory most of all.
	if a.capable != 0 && below != (a.capable > 0) {
		h.weight = 0.02
	} else if strings.Contains(strings.ToLower(a.param.Name), "mem") {
		h.weight = 10
	}
	return h, true
}

// contradicted reports whether a run worked where one failed.
func (f *feasibility) contradicted(h threshold) bool {
	return slices.ContainsFunc(f.ok, func(c assay.Config) bool { return h.depth(c) <= h.fails })
}

// depth is ρ, or -ρ of a threshold with the failures above it: failures have
// the smaller depth.
func (h *threshold) depth(c assay.Config) float64 { return h.depthOf(h.at.number(c[h.param])) }

func (h *threshold) depthOf(x float64) float64 {
	if h.below {
		return x
	}
	return -x
}

// risk returns the probability that c fails by this hypothesis.
func (h *threshold) risk(c assay.Config) float64 {
	switch d := h.depth(c); {
	case d <= h.fails:
		return 1
	case d >= h.works:
		return 0
	default:
		if lo, hi := h.fails, h.works; h.below && lo > 0 { // by ratio, as memory is
			return math.Log(hi/d) / math.Log(hi/lo)
		}
		return (h.works - d) / (h.works - h.fails)
	}
}

// risk returns the probability that a run of c fails: the mean over the hypotheses by weight. If runs contradict every
// threshold, the risk follows from the distances d to the nearest failed and the nearest finished run: d_ok²/(d_ok² +
// d_failed²), which is 1 on a failed assignment and 0 on a finished one. Without any finished run, the risk decreases
// with the distance from the failures.
func (f *feasibility) risk(c assay.Config) float64 {
	if len(f.failed) == 0 {
		return 0
	}
	if len(f.hypotheses) > 0 {
		var sum, weight float64
		for _, h := range f.hypotheses {
			sum += h.weight * h.risk(c)
			weight += h.weight
		}
		return sum / weight
	}
	nearest := func(cs []assay.Config) float64 {
		least := math.Inf(1)
		for _, x := range cs {
			least = min(least, f.space.Distance(c, x))
		}
		return least
	}
	bad, good := nearest(f.failed), nearest(f.ok)
	if bad == 0 && good == 0 {
		return 0.5
	}
	if math.IsInf(good, 1) {
		return math.Exp(-bad)
	}
	return good * good / (bad*bad + good*good)
}
