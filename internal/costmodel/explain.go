package costmodel

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-run/assay"
)

// An Explanation names the part that limits the program on one assignment.
type Explanation struct {
	Prediction
	// Limit is the part that takes the most time: Compute, Network, Disk, Stall if network and disk are not separated,
	// Other, or Whole if no parts are separated.
	Limit Part
	Share float64 // of Limit in the total, from 0 to 1
	// Elasticities has, for each attribute, by how many percent the time changes
	// if the attribute grows by 1 %: -1 if the time is inversely proportional to it, 0 if it does
	// not matter. It is the slope of log T over log ρ between the neighbouring
	// values, over (ρ_high - ρ_low)/ρ where one of these is not positive, and NaN for a category and an
	// attribute of one value.
	Elasticities []float64
}

// Explain returns the limits of the program at c, which is a member of the space. Cost: two predictions for each
// attribute.
func (m *Model) Explain(c assay.Config) Explanation {
	e := Explanation{Prediction: m.Predict(c), Limit: Whole, Share: 1}
	// The first of equals is the limit, in the order of the comparisons.
	if m.split != SplitNone {
		e.Limit, e.Share = Compute, e.Compute/e.Seconds
		if s := e.Network / e.Seconds; s > e.Share {
			e.Limit, e.Share = Network, s
		}
		if s := e.Disk / e.Seconds; s > e.Share {
			e.Limit, e.Share = Disk, s
			if m.split == SplitStall {
				e.Limit = Stall
			}
		}
		if s := e.Other / e.Seconds; s > e.Share {
			e.Limit, e.Share = Other, s
		}
	}
	for i := range m.attrs {
		e.Elasticities = append(e.Elasticities, m.elasticity(c, i))
	}
	return e
}

// elasticity returns d log T/d log ρ of attribute i at c as a difference quotient between the
// neighbouring values. At an end of the range it is one-sided. An attribute that is 0 on one
// side has no logarithm there; its slope is taken over ρ itself and multiplied by ρ.
func (m *Model) elasticity(c assay.Config, i int) float64 {
	a := m.attrs[i]
	lo, hi := a.beside(c[i])
	if !a.numeric || lo == hi {
		return math.NaN()
	}
	at := func(x float64) (rho, log float64) {
		d := c.Clone()
		d[i] = x
		return a.number(x), math.Log(m.Predict(d).Seconds)
	}
	r0, t0 := at(lo)
	r1, t1 := at(hi)
	if r0 > 0 && r1 > 0 {
		return (t1 - t0) / math.Log(r1/r0)
	}
	return (t1 - t0) / (r1 - r0) * a.number(c[i])
}

// beside returns the values on both sides of x, or x itself at an end.
func (a attribute) beside(x float64) (lo, hi float64) {
	n := a.param.Count()
	if n == 0 {
		// A continuum has no neighbours. A twentieth of the range stands for the distance to them.
		step := (a.param.Hi - a.param.Lo) / 20
		return max(a.param.Lo, x-step), min(a.param.Hi, x+step)
	}
	step := 1.0
	if a.param.Numeric() && n > 1 {
		step = a.param.At(1) - a.param.At(0)
	}
	return max(a.param.At(0), a.param.Snap(x-step)), min(a.param.At(n-1), a.param.Snap(x+step))
}

// Predictors describes the fit of each predictor function, in order: its part, the kind of regression, and its
// attributes with their transformations, such as "compute: linear in 1/cpu, memory".
func (m *Model) Predictors() []string {
	var out []string
	for _, f := range m.forms {
		var of []string
		for k, i := range f.attributes {
			name := m.attrs[i].param.Name
			if k < len(f.transforms) {
				// In the order of the constants of Transform.
				name = [...]string{name, "1/" + name, "log " + name}[f.transforms[k]]
			}
			of = append(of, name)
		}
		text := "constant"
		if len(of) > 0 {
			text = fmt.Sprintf("%v in %s", f.regression, strings.Join(of, ", "))
		}
		out = append(out, fmt.Sprintf("%v: %s", f.part, text))
	}
	return out
}
