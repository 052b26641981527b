package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// minTail is the least number of tail values that [DiagnoseTail] rests on: the
// standard error of a tail index from 10 values is a third of it.
const minTail = 10

func descending(x []float64) []float64 {
	s := slices.Sorted(slices.Values(x))
	slices.Reverse(s)
	return s
}

// hillSorted returns Hill's estimate of the tail index α of P[X > x] ~ x^-α (Eq. 8 of
// Tabatabaee et al. 2005) from the k greatest of the values, which are in descending order (Hill 1975): with
// x_(1) >= x_(2) >= …
//
//	1/α = 1/k·Σ_{i<=k} log(x_(i)/x_(k+1)).
//
// Its interval rests on k/α being gamma distributed with shape k for a tail that is
// exactly Pareto's; N is k. The estimate depends on the
// origin of x: for y = f + n with a constant f, give it the noise n, or y less
// its minimum, as [DiagnoseTail] does. It is NaN, with a warning, if x_(k+1) is not
// positive and finite, the k+1 values are equal, or there is a NaN.
func hillSorted(s []float64, k int, level float64) Estimate {
	e := unbounded(math.NaN(), level, k)
	e.Low = 0
	var logs float64
	for _, v := range s[:k] {
		logs += math.Log(v / s[k])
	}
	if !(s[k] > 0) || math.IsNaN(s[len(s)-1]) || math.IsInf(logs, 0) || math.IsNaN(logs) || logs <= 0 {
		e.warn("no tail: the %d greatest values are not above a positive one", k)
		return e
	}
	e.Value = float64(k) / logs
	// 2·k·α/α̂ is χ² with 2k degrees of freedom, that is twice a gamma variable
	// of shape k.
	shape := float64(k)
	e.Low = e.Value / shape * mathext.GammaIncRegInv(shape, (1-level)/2)
	e.High = e.Value / shape * mathext.GammaIncRegInv(shape, (1+level)/2)
	return e
}

// A Point is a point of a curve.
type Point struct{ X, Y float64 }

// LogLogTail returns the complementary distribution on logarithmic scales, one
// point (log₁₀ x, log₁₀ P[X > x]) for each different positive value but the
// greatest, where P is 0. The tail of a heavy-tailed variable is a straight line of
// slope -α (Tabatabaee et al. 2005, §4.3, Fig. 5 and 7).
func LogLogTail(x []float64) []Point {
	s := slices.Sorted(slices.Values(x))
	var points []Point
	for i, v := range s {
		if i+1 < len(s) && s[i+1] == v || v <= 0 || math.IsNaN(v) || i+1 == len(s) {
			continue
		}
		points = append(points, Point{math.Log10(v), math.Log10(float64(len(s)-i-1) / float64(len(s)))})
	}
	return points
}

// Truncate returns the values that are at most limit, in their order: §4.3 of
// Tabatabaee et al. 2005 looks for the tail of the small spikes when the big
// ones are removed. The truncated distribution is bounded, so that its tail index
// describes only the range below limit.
func Truncate(x []float64, limit float64) []float64 {
	return slices.DeleteFunc(slices.Clone(x), func(v float64) bool { return v > limit })
}

// TailKind is the weight of a tail.
type TailKind uint8

const (
	TailUnknown TailKind = iota // the interval of α holds a limit between kinds
	TailLight                   // α > 2: means and variances are finite
	TailHeavy                   // 1 < α < 2: the variance is infinite
	TailNoMean                  // α < 1: the mean is infinite, too
)

// A Tail is the diagnosis of the tail of a sample.
type Tail struct {
	Kind      TailKind // the class of the tail
	Alpha     Estimate // the tail index; Alpha.N is the number of values it rests on
	Threshold float64  // where the tail begins, in the unit of the sample
	Line      float64  // R² of the straight line through the tail of [LogLogTail]
	Distance  float64  // Kolmogorov-Smirnov distance of the tail from Pareto's
	Text      string   // the verdict, for people
}

// DiagnoseTail tests whether run times x have a heavy tail (Tabatabaee et al. 2005, §4.2-4.3). The runs are of one
// configuration; x excludes failed runs (+Inf).
//
// By Eq. 5 a run time is a constant and noise, and only the noise has a tail: [Hill] is applied to x less its minimum,
// which makes it independent of the constant (PORT-Hill with q = 0; Araújo Santos, Fraga Alves & Gomes 2006). The
// number of tail values, between 10 and a tenth of the sample (or 10 if that is more), is the one with the least
// distance from a Pareto tail (Clauset, Shalizi & Newman 2009, §3.3), out of 40 candidates.
//
// Subtracting the minimum biases the index of a light tail towards 2 when it rests on few values, so the diagnosis errs
// towards "heavy": it diagnoses 1000 exponential values as light and 1000 Pareto(3) values mostly as unknown, and in
// the simulations of its tests it never diagnosed a Pareto tail with α < 2 as light. Fewer than 50 values, and data
// without a tail, give TailUnknown with a warning. The level of the interval is 0.95. Cost: n log n.
func DiagnoseTail(x []float64) Tail {
	d := Tail{Alpha: unbounded(math.NaN(), defaultLevel, 0), Threshold: math.NaN(), Line: math.NaN(), Distance: math.NaN()}
	d.Alpha.Low = 0
	if len(x) < 5*minTail || hasNaN(x) || slices.ContainsFunc(x, isInf) {
		d.Alpha.warn("need >= %d finite run times to judge a tail, have %d", 5*minTail, len(x))
		d.Text = fmt.Sprintf("the tail is unknown: %d run times are too few or not all are finite", len(x))
		return d
	}
	s := descending(x)
	origin := s[len(s)-1]
	for i := range s {
		s[i] -= origin
	}
	k := d.chooseTail(s)
	if k == 0 {
		d.Alpha.warn("no tail: the greatest values are equal")
		d.Text = "there is no tail: the greatest values are equal"
		return d
	}
	d.Alpha = hillSorted(s, k, defaultLevel)
	d.Threshold = origin + s[k]
	d.Line = tailLine(s[:k], len(s))
	d.Kind, d.Text = classifyTail(d.Alpha)
	return d
}

// chooseTail returns the number of tail values of the sorted excesses whose
// distance from Pareto's law is least, 0 if there is no tail at all.
func (d *Tail) chooseTail(s []float64) int {
	const candidates = 40
	least, best := math.Inf(1), 0
	top := max(minTail, len(s)/10)
	last := 0
	for c := range candidates {
		k := int(math.Round(minTail * math.Pow(float64(top)/minTail, float64(c)/(candidates-1))))
		if k == last {
			continue
		}
		last = k
		e := hillSorted(s, k, defaultLevel)
		if math.IsNaN(e.Value) {
			continue
		}
		if dist := paretoDistance(s[:k], s[k], e.Value); dist < least {
			least, best = dist, k
		}
	}
	d.Distance = least
	return best
}

// paretoDistance returns the Kolmogorov-Smirnov distance between the tail
// values, in descending order, and Pareto(alpha, threshold).
func paretoDistance(tail []float64, threshold, alpha float64) float64 {
	k := float64(len(tail))
	var most float64
	for i, v := range tail {
		q := math.Pow(threshold/v, alpha)
		most = max(most, math.Abs(q-float64(i)/k), math.Abs(q-float64(i+1)/k))
	}
	return most
}

// tailLine returns R² of the least-squares line through the log-log tail, n the
// size of the whole sample.
func tailLine(tail []float64, n int) float64 {
	x, y := make([]float64, len(tail)), make([]float64, len(tail))
	for i, v := range tail {
		x[i], y[i] = math.Log(v), math.Log((float64(i)+0.5)/float64(n))
	}
	r := Correlation(x, y)
	return r * r
}

// classifyTail names the kind that the whole interval of α agrees on.
func classifyTail(alpha Estimate) (TailKind, string) {
	number := fmt.Sprintf("tail index %.2f [%.2f, %.2f] from the %d greatest", alpha.Value, alpha.Low, alpha.High, alpha.N)
	switch {
	case alpha.High < 1:
		return TailNoMean, "very heavy tail, the mean is infinite: take minima or medians (" + number + ")"
	case alpha.High < 2:
		return TailHeavy, "heavy tail, the variance is infinite: averages do not settle, " +
			"take minima or medians (" + number + ")"
	case alpha.Low > 2:
		return TailLight, "light tail: averages are safe (" + number + ")"
	}
	return TailUnknown, "the data do not show whether the tail is heavy: take minima or medians to be safe (" +
		number + ")"
}
