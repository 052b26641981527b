package costmodel

import (
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
)

// feasibility says where runs fail, from where some failed and others did not. A
// hypothesis is that runs fail up to a threshold in one attribute, or from one on;
// those that no run contradicts are believed in proportion to how common they are,
// with the threshold anywhere between the failed runs and the others. If there is
// none, a run fails where the nearest one did.
//
// Thresholds are the first explanation because programs die of too little of something. A
// classifier would need more failures than anybody wants to run: one failure and one success
// make a threshold.
type feasibility struct {
	space      *assay.Space
	failed, ok []assay.Config
	hypotheses []threshold
}

// A threshold: runs fail on this side of it, the lower if below.
type threshold struct {
	at     attribute
	param  int
	below  bool
	fails  float64 // the failed run that is farthest from the failing end
	works  float64 // the run to the end that is nearest to it, or the other end
	weight float64
}

// newFeasibility returns what failed runs and runs to the end say together. Without a failure
// there are no hypotheses and no risk.
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

// risk returns the probability that a run of c fails: the mean over the hypotheses by weight.
// If runs contradict every threshold it is by the distances d to the nearest failed run and to
// the nearest run to the end, d_ok²/(d_ok² + d_failed²): 1 on a failed one and 0 on one that
// worked. Where nothing has run to the end it falls off with the distance from the failures.
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
