package costmodel

import (
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// An attribute is one parameter of the space as models see it: a number ρ, or a
// category.
//
// It is made once for a space and never changes, so that functions and models share it.
type attribute struct {
	param   assay.Param // of the space
	numeric bool        // it is a number ρ
	numbers []float64   // of the levels, if it has any and is numeric
	lo, hi  float64     // least and greatest ρ; 0 and 1 for a category
	capable float64     // +1 if more of it is more capacity, -1 if less is, 0 if that is not known
}

// Words in the names of attributes that imply the direction of capacity. They are looked up in this order: less delay,
// more of a resource and less data mean more capacity.
var (
	delays    = []string{"rtt", "latency", "delay"}
	resources = []string{
		"cpu", "core", "thread", "slot", "speed", "score", "mem", "bandwidth", "rate", "disk",
		"node", "instance", "worker",
	}
	data = []string{"size", "input", "bytes", "lines", "rows"}
)

// attributesOf returns the attributes of a space. The number of a level is [assay.Param.LevelNumber]. If a level of an
// ordinal parameter has no number, the place of each level is used, from 1.
func attributesOf(space *assay.Space, lessIsMore []string) []attribute {
	attrs := make([]attribute, space.Dim())
	for i, p := range space.Params {
		if p.Kind == assay.Permutation { // each order is a category
			orders := make([]string, p.Count())
			for k := range orders {
				orders[k] = p.Text(float64(k))
			}
			p.Kind, p.Levels = assay.Categorical, orders
		}
		a := attribute{param: p, numeric: p.Ordered(), lo: p.Lo, hi: p.Hi}
		if p.Kind == assay.Categorical {
			a.lo, a.hi = 0, 1
		} else if !p.Numeric() {
			a.numbers = levelNumbers(p)
			// The levels need not be written in the order of their numbers.
			a.lo, a.hi = slices.Min(a.numbers), slices.Max(a.numbers)
		}
		a.capable = capability(p.Name, lessIsMore)
		attrs[i] = a
	}
	return attrs
}

// capability returns +1 if more of the named attribute is more capacity, -1 if less is, and 0 if the name implies no
// direction. A lessIsMore that is not nil overrides the name.
func capability(name string, lessIsMore []string) float64 {
	switch {
	case lessIsMore != nil && slices.Contains(lessIsMore, name):
		return -1
	// Delays come before resources: "disk_latency" is a delay. Data come last: "memory_size" is a
	// resource.
	case lessIsMore == nil && contains(name, delays):
		return -1
	case contains(name, resources):
		return 1
	case lessIsMore == nil && contains(name, data):
		return -1
	}
	return 0
}

// contains reports whether the name, in any case, has one of the words in it.
func contains(name string, words []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
}

// levelNumbers returns the number of each level. If any level is no number, the numbers are the places of the levels,
// from 1. A switch is off and on, whatever the names of its levels.
func levelNumbers(p assay.Param) []float64 {
	xs := make([]float64, len(p.Levels))
	for l := range p.Levels {
		x, ok := p.LevelNumber(l)
		if !ok || p.Kind == assay.Switch {
			for l := range xs {
				xs[l] = float64(l + 1)
			}
			return xs
		}
		xs[l] = x
	}
	return xs
}

// number returns ρ of a coordinate; of a category, its index.
func (a attribute) number(x float64) float64 {
	if a.numbers == nil {
		return x
	}
	return a.numbers[int(x)]
}

// ends returns the coordinates of the least and the greatest capacity. They are the ends of
// the range of ρ, and in that order unless less is known to be more. Levels may be written in
// any order.
func (a attribute) ends() (worst, best float64) {
	lo, hi := a.param.Lo, a.param.Hi
	if n := a.param.Count(); n > 0 {
		lo, hi = a.param.At(0), a.param.At(n-1)
	}
	if a.numbers != nil && a.numbers[int(lo)] > a.numbers[int(hi)] {
		lo, hi = hi, lo
	}
	if a.capable < 0 {
		lo, hi = hi, lo
	}
	return lo, hi
}

// maxSteps is the number of distinct values of a continuous or very long attribute in a bisection.
//
// The search for the nearest unused value costs the square of this number.
const maxSteps = 1 << 12

// sequence returns the values of the attribute in the order of L_max-I_1: lo, hi, 1/2, 1/4, 3/4, ... of the range of ρ,
// for levels the nearest unused one (Algorithm 5). The sequence of a continuous attribute, or one with more than 4,096
// values, is limited to maxSteps values.
func (a attribute) sequence() []float64 {
	n := a.param.Count()
	if n == 0 || n > maxSteps {
		var xs []float64
		for f := range stats.Bisection() {
			if len(xs) == maxSteps {
				break
			}
			// Repetitions are rare among maxSteps values. Comparing with all earlier values would cost the square of their
			// number.
			if x := a.param.Snap(a.param.Lo + f*(a.param.Hi-a.param.Lo)); !slices.Contains(xs[max(0, len(xs)-64):], x) {
				xs = append(xs, x)
			}
		}
		return xs
	}
	coords := make([]float64, n)
	for i := range coords {
		coords[i] = a.param.At(int64(i))
	}
	// A category has no bisection: its levels come in the order of the space.
	if !a.numeric {
		return coords
	}
	var xs []float64
	for f := range stats.Bisection() {
		if len(coords) == 0 {
			break
		}
		target := a.lo + f*(a.hi-a.lo)
		k := 0
		for i, x := range coords {
			if math.Abs(a.number(x)-target) < math.Abs(a.number(coords[k])-target) {
				k = i
			}
		}
		xs = append(xs, coords[k])
		coords = slices.Delete(coords, k, k+1)
	}
	return xs
}

// A Transform is a function g of one attribute in f(ρ) = Σ a_i·g_i(ρ_i) + c.
type Transform uint8

const (
	Identity   Transform = iota // g(ρ) = ρ
	Reciprocal                  // g(ρ) = 1/ρ
	Logarithm                   // g(ρ) = log ρ
)

var transformNames = [...]string{"identity", "reciprocal", "logarithm"}

// String returns "identity", "reciprocal" or "logarithm".
func (t Transform) String() string { return transformNames[t] }

// apply returns g(ρ). The value may be infinite or NaN if [attribute.allows] returns false.
//
// All three are monotone for ρ > 0; the reciprocal reverses the order.
func (t Transform) apply(x float64) float64 {
	switch t {
	case Reciprocal:
		return 1 / x
	case Logarithm:
		return math.Log(x)
	}
	return x
}

// allows reports whether every value of the attribute has a finite g.
func (a attribute) allows(t Transform) bool { return t == Identity || a.numeric && a.lo > 0 }

// rates are the words in the names of attributes that occupancies are inversely
// proportional to (§4.1: "a reciprocal transformation is applied to the CPU speed").
var rates = []string{"cpu", "core", "speed", "bandwidth", "rate", "node", "instance_count"}

// published returns the predetermined transformation of §4.1.
//
// reciprocal are the names given by the options and overrule the words, unless nil.
func (a attribute) published(reciprocal []string) Transform {
	named := slices.Contains(reciprocal, a.param.Name)
	if reciprocal == nil {
		named = contains(a.param.Name, rates) || a.param.Name == "disk"
	}
	if named && a.allows(Reciprocal) {
		return Reciprocal
	}
	return Identity
}

// columns is the number of features of the attribute: one, or for a category of
// more than two levels one for each level.
func (a attribute) columns() int {
	if a.numeric || len(a.param.Levels) <= 2 {
		return 1
	}
	return len(a.param.Levels)
}

// appendFeatures appends the features of coordinate x under t: g(ρ)/g(base), or g(ρ)
// if that is not finite, and 0/1 for the levels of a category.
func (a attribute) appendFeatures(row []float64, x float64, t Transform, base float64) []float64 {
	if a.numeric {
		v, b := t.apply(a.number(x)), t.apply(a.number(base))
		// A baseline of 0 has no ratio.
		if b != 0 && !math.IsInf(v/b, 0) {
			v /= b
		}
		return append(row, v)
	}
	if a.columns() == 1 {
		return append(row, x)
	}
	for l := range a.param.Levels {
		if float64(l) == x {
			row = append(row, 1)
		} else {
			row = append(row, 0)
		}
	}
	return row
}
