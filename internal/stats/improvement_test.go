package stats

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// logImprovementBig computes log h(z) = log(phi(z) + z Phi(z)) with 400 bits by
// the Taylor series of erf, which needs no tail formula.
func logImprovementBig(z float64) float64 {
	const prec = 600
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	n := func() *big.Float { return new(big.Float).SetPrec(prec) }
	// Phi(z) = 1/2 + phi(z) (z + z³/3 + z⁵/(3·5) + ...), all terms of one sign.
	zz := n().Mul(f(z), f(z))
	sum, term := n(), f(z)
	for k := 3; ; k += 2 {
		sum.Add(sum, term)
		term.Mul(term, zz)
		term.Quo(term, f(float64(k)))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-prec {
			break
		}
	}
	// phi(z) = exp(-z²/2)/sqrt(2 pi).
	half := n().Quo(zz, f(2))
	exp, t := f(1), f(1)
	for k := 1; ; k++ {
		t.Mul(t, half)
		t.Quo(t, f(float64(k)))
		exp.Add(exp, t)
		if t.Sign() == 0 || t.MantExp(nil) < exp.MantExp(nil)-prec {
			break
		}
	}
	pi, _ := n().SetString("3.141592653589793238462643383279502884197169399375105820974944592307816406286208998628034825" +
		"342117067982148086513282306647093844609550582231725359408128481117450284102701938521105559" +
		"644622948954930381964428810975665933446128475648233786783165271201909145648566923460348610" +
		"45432664821339360726024914127372458700660631558817488152092096282925409171536436789259036")
	phi := n().Quo(f(1), n().Mul(exp, n().Sqrt(n().Mul(f(2), pi))))
	Phi := n().Add(f(0.5), n().Mul(phi, sum))
	h := n().Add(phi, n().Mul(f(z), Phi))
	m := n()
	e := h.MantExp(m)
	x, _ := m.Float64()
	return math.Log(x) + float64(e)*math.Ln2
}

func TestLogNormLossAgainstManyBits(t *testing.T) {
	for _, z := range []float64{
		-20, -19.3, -15, -10, -8, -6, -5.01, -5, -4.99, -4, -3, -2, -1, -0.5, -1e-9, 0, 0.3, 1, 2, 5, 10,
	} {
		got, want := LogNormLoss(z), logImprovementBig(z)
		if !(math.Abs(got-want) <= 1e-13*max(1, math.Abs(want))) {
			t.Errorf("log h(%v) = %.17g, want %.17g", z, got, want)
		}
	}
}

func TestLogEITail(t *testing.T) {
	// log h(z) -> log phi(z) - 2 log|z| + log(1 - 3/z² + 15/z⁴ - ...).
	for _, z := range []float64{-1e2, -1e4, -1e8} {
		want := -z*z/2 - math.Log(2*math.Pi)/2 - 2*math.Log(-z) + math.Log1p(-3/(z*z)+15/(z*z*z*z))
		if got := LogEI(-z, 1, 0); !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
			t.Errorf("LogEI at z = %v: got %v, want %v", z, got, want)
		}
		if got := expectedImprovement(-z, 1, 0); got != 0 {
			t.Errorf("EI at z = %v: got %v, want 0 by underflow", z, got)
		}
	}
}

// For minimisation with best value m: EI = (m - mu) Phi(z) + sigma phi(z).
// Reference: Ding et al. 2022, section 3.2.2, with the sign corrected
func TestEI(t *testing.T) {
	for _, c := range []struct{ mean, std, best, want float64 }{
		{0, 1, 0, 0.3989422804014327},     // phi(0)
		{1, 2, 2, 2 * 0.6977965574013060}, // h(1/2) = phi(.5) + .5 Phi(.5)
		{2, 2, 1, 2 * 0.1977965574013060}, // h(-1/2) = h(1/2) - 1/2
		{3, 0, 5, 2},                      // certain improvement
		{5, 0, 3, 0},                      // certain failure
		{5, 0, 5, 0},                      // certain tie
		{3, math.NaN(), 5, 2},             // no estimate
		{-10, 1e-3, 0, 10},                // nearly certain
		{1e300, 1e-300, 0, 0}, {1, 1e300, 0, 0.3989422804014327e300},
	} {
		if got := expectedImprovement(c.mean, c.std, c.best); !(math.Abs(got-c.want) <= 1e-13*math.Abs(c.want)) {
			t.Errorf("EI(%v, %v, %v) = %.17g, want %.17g", c.mean, c.std, c.best, got, c.want)
		}
	}
	if got := LogEI(5, 0, 3); !math.IsInf(got, -1) {
		t.Errorf("LogEI without chance: got %v, want -Inf", got)
	}
}

func TestLogEIOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mean := rapid.Float64Range(-50, 50).Draw(t, "mean")
		std := rapid.Float64Range(1e-3, 20).Draw(t, "std")
		best := rapid.Float64Range(-50, 50).Draw(t, "best")
		x := LogEI(mean, std, best)
		if math.IsNaN(x) {
			t.Fatal("NaN")
		}
		// It falls with the mean, rises with the deviation up to rounding, and is
		// the logarithm of EI.
		if y := LogEI(mean+0.1, std, best); y > x {
			t.Errorf("mean %v: %v, mean %v: %v", mean, x, mean+0.1, y)
		}
		if y := LogEI(mean, std*1.1, best); y < x-1e-12 {
			t.Errorf("std %v: %v, std %v: %v", std, x, std*1.1, y)
		}
		if e := expectedImprovement(mean, std, best); e > 1e-290 && !(math.Abs(math.Log(e)-x) <= 1e-9) {
			t.Errorf("log EI %v, LogEI %v", math.Log(e), x)
		}
		// Continuous where the branches meet.
		a, b := LogNormLoss(math.Nextafter(-lossTail, 0)), LogNormLoss(-lossTail)
		if !(math.Abs(a-b) <= 1e-12) {
			t.Errorf("%v and %v at z = -5", a, b)
		}
	})
}

func BenchmarkLogEI(b *testing.B) {
	x := 0.0
	for b.Loop() {
		LogEI(x, 1, 0)
		if x += 0.01; x > 10 {
			x = 0
		}
	}
}

// expectedImprovement is the improvement itself, which underflows to 0.
func expectedImprovement(mean, std, best float64) float64 { return math.Exp(LogEI(mean, std, best)) }
