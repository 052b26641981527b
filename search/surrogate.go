package search

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/model"
)

// fit makes the surrogate from the trials that have ended and the beliefs about outstanding ones, unless nothing has
// changed since the last time. There is at least one finished trial.
//
// After an error there is no surrogate, and scale and incumbent come from the examples.
func (b *Bayes) fit() error {
	if b.surrogate != nil {
		return nil
	}
	data := b.examples()
	p, err := b.learner.Fit(data)
	if err != nil {
		return fmt.Errorf("surrogate: %w", err)
	}
	b.surrogate = p
	b.fitLimits()
	return nil
}

// examples returns the training set, and sets the scale and the incumbent that
// belong to it.
//
// The rows are shared with the trials: a learner does not change them. Finished and failed trials come in
// the order of time, then the outstanding ones.
func (b *Bayes) examples() assay.Data {
	var values []float64
	for _, e := range b.trials {
		if b.measured(e) {
			values = append(values, e.value)
		}
	}
	// The scale is the scale of finished trials alone: beliefs must not bend it.
	worst := slices.Max(values)
	b.scale = newScale(values)
	on := make([]float64, len(values))
	for i, v := range values {
		on[i] = b.scale.forward(v)
	}
	b.incumbent, b.spreadOf = slices.Min(on), model.Deviation(on)
	if b.limits != nil {
		b.bind()
	}

	var d assay.Data
	add := func(features []float64, y float64, censored bool) {
		d.X = append(d.X, features)
		d.Y = append(d.Y, b.scale.forward(y))
		if b.opts.Censored {
			d.Censored = append(d.Censored, censored)
		}
	}
	for _, e := range b.trials {
		switch {
		case b.measured(e):
			add(e.features, e.value, false)
		// It is not known by how much it is worse: the worst value keeps the search away from its surroundings.
		case e.state != assay.Censored:
			add(e.features, worst, false)
		case b.opts.Censored && b.scale.defined(e.value):
			add(e.features, e.value, true)
		}
	}
	middle := stats.Median(values)
	for id, c := range b.proposals.Outstanding() {
		// A lie may be NaN, for a proposal of the design, or of another sign than the scale bears.
		lie := b.lies[id]
		if !b.scale.defined(lie) {
			lie = middle
		}
		add(b.encode(c), lie, false)
	}
	return d
}

// bind sets the values that depend on the limits: the incumbent is the best value within them.
func (b *Bayes) bind() {
	b.limits.rescale(b.trials)
	b.incumbent = math.Inf(1)
	for _, e := range b.trials {
		if e.state == assay.Done {
			b.incumbent = min(b.incumbent, b.scale.forward(e.value))
		}
	}
}

// A scale is a monotone transform under which objective values are of one order of magnitude, so that the surrogate
// can distinguish the good from the very good.
type scale struct {
	kind   scaleKind // the transform
	center float64   // see arsinhScale
	spread float64   // likewise
}

// scaleKind is the transform. It is chosen anew at each fit.
type scaleKind uint8

const (
	logScale     scaleKind = iota // log y
	mirrorScale                   // -log(-y)
	arsinhScale                   // arsinh((y-center)/spread)
	shiftedScale                  // y-center: all are equal
)

// leastNormal is the least positive float64 that is not subnormal.
const leastNormal = 0x1p-1022

// newScale returns the scale for the given values of finished trials, of which
// there is at least one.
func newScale(values []float64) scale {
	switch lo, hi := slices.Min(values), slices.Max(values); {
	case lo > 0:
		return scale{kind: logScale}
	case hi < 0:
		return scale{kind: mirrorScale}
	default:
		s := scale{kind: arsinhScale, center: stats.Median(values)}
		// The median distance from the median, or the mean distance if more than half are equal.
		away := make([]float64, len(values))
		for i, v := range values {
			away[i] = math.Abs(v - s.center)
			s.spread += away[i] / float64(len(values))
		}
		if m := stats.Median(away); m > 0 {
			s.spread = m
		}
		if s.spread == 0 {
			s.kind = shiftedScale
			return s
		}
		// math.Log is wrong at subnormal numbers on amd64 (golang/go#56600).
		s.spread = min(max(s.spread, leastNormal), math.MaxFloat64)
		return s
	}
}

// defined reports whether forward is finite at y.
func (s scale) defined(y float64) bool {
	f := s.forward(y)
	return !math.IsNaN(f) && !math.IsInf(f, 0)
}

// forward returns y on the scale. It is NaN or infinite where the scale is not defined.
func (s scale) forward(y float64) float64 {
	switch s.kind {
	case logScale:
		return math.Log(y)
	case mirrorScale:
		return -math.Log(-y)
	case arsinhScale:
		half := y/2 - s.center/2 // y - center may overflow
		if z := half / (s.spread / 2); math.Abs(z) < 1e150 {
			return math.Asinh(z)
		}
		// arsinh z = log 2z for large z, by logarithms as the quotient may overflow.
		return math.Copysign(2*math.Ln2+math.Log(math.Abs(half))-math.Log(s.spread), half)
	}
	return y - s.center
}

// inverse is the inverse of forward. It may overflow to an infinity far from the data.
func (s scale) inverse(f float64) float64 {
	switch s.kind {
	case logScale:
		return math.Exp(f)
	case mirrorScale:
		return -math.Exp(-f)
	case arsinhScale:
		if math.Abs(f) < 350 {
			return s.center + s.spread*math.Sinh(f)
		}
		// sinh f = exp(f)/2 for large f, by logarithms as exp may overflow.
		return s.center + math.Copysign(math.Exp(math.Abs(f)-math.Ln2+math.Log(s.spread)), f)
	}
	return f + s.center
}
