package stats

import (
	"math"
	"testing"
)

// P is twice the share of all exchanges within the pairs that make the statistic as extreme, and the interval has the
// shifts that neither side refutes: both by definition, on few values with ties.
func TestComparePairedAgreesWithAllExchanges(t *testing.T) {
	rng := newRand(11)
	for round := range 300 {
		n := 6 + round%4
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], b[i] = math.Exp(rng.NormFloat64()), math.Exp(rng.NormFloat64()-0.5)
			if round%3 == 0 { // equal values
				a[i], b[i] = math.Ceil(3*a[i]), math.Ceil(3*b[i])
			}
		}
		c := ComparePaired(a, b, CompareOptions{Level: 0.9})
		great, small := exchanges(a, b, 1)
		if want := min(1, 2*min(great, small)); !closeTo(c.P, want, 1e-12) {
			t.Fatalf("%v, %v: P = %v, want %v", a, b, c.P, want)
		}
		low, high := 1+c.Low, 1+c.High
		for _, s := range []struct {
			factor float64
			inside bool
		}{{low * (1 - 1e-9), false}, {low * (1 + 1e-9), true}, {high * (1 - 1e-9), true}, {high * (1 + 1e-9), false}} {
			if c.Low == c.High || c.Low == 0 || c.High == 0 {
				continue
			}
			great, small := exchanges(a, b, s.factor)
			if in := min(great, small) > 0.05; in != s.inside {
				t.Errorf("%v, %v: at a factor of %v the tails are %v and %v, the interval is [%v, %v]", a, b, s.factor, great,
					small, 1+c.Low, 1+c.High)
			}
		}
	}
}

// exchanges returns the shares of all exchanges within the pairs of a and b/factor in which the ranks of b have at
// least, and at most, their sum.
func exchanges(a, b []float64, factor float64) (great, small float64) {
	n := len(a)
	all := append([]float64{}, a...)
	for _, v := range b {
		all = append(all, math.Exp(math.Log(v)-math.Log(factor)))
	}
	for i, v := range all[n:] { // as exact as the values of a
		for _, w := range a {
			if closeTo(v, w, 1e-12) {
				all[n+i] = w
			}
		}
	}
	r := Ranks(all)
	sum := 0.0
	for i := range a {
		sum += r[n+i] - r[i]
	}
	for set := range 1 << n {
		s := 0.0
		for i := range a {
			d := r[n+i] - r[i]
			if set>>i&1 == 1 {
				d = -d
			}
			s += d
		}
		if s >= sum {
			great++
		}
		if s <= sum {
			small++
		}
	}
	return great / float64(int(1)<<n), small / float64(int(1)<<n)
}

// One slow run of the faster command hides nothing: the signed ranks of the pairs, where it has the greatest, show no
// difference. Times of a recorded program, in ms.
func TestComparePairedOfOutliers(t *testing.T) {
	first := []float64{206, 224, 212, 208, 1260, 211, 329, 211, 215, 213, 312, 213}
	best := []float64{139, 139, 138, 643, 141, 140, 152, 140, 142, 136, 140, 140}
	c := CompareAtLook(first, best, 0)
	if c.Verdict != Less || c.Low > -0.34 || c.High < -0.34 || c.High > -0.3 {
		t.Errorf("%+v", c)
	}
	d := make([]float64, len(first))
	for i := range d {
		d[i] = math.Log(best[i] / first[i])
	}
	if p := WilcoxonSignedRank(d).P; p < 1-c.Level {
		t.Errorf("signed ranks have P = %v: the test shows nothing", p)
	}
}

// More than 50 pairs are compared by the normal approximation, near the exact one of 49.
func TestComparePairedOfMany(t *testing.T) {
	rng := newRand(5)
	var a, b []float64
	for range 60 {
		a, b = append(a, math.Exp(0.1*rng.NormFloat64())), append(b, math.Exp(0.1*rng.NormFloat64()-0.05))
	}
	exact, many := ComparePaired(a[:49], b[:49], CompareOptions{}), ComparePaired(a[:50], b[:50], CompareOptions{})
	if many.P > 2*exact.P || many.P < exact.P/2 || !(math.Abs(exact.Low-many.Low) <= 0.01) ||
		!(math.Abs(exact.High-many.High) <= 0.01) {
		t.Errorf("49: %v [%v, %v], 50: %v [%v, %v]", exact.P, exact.Low, exact.High, many.P, many.Low, many.High)
	}
	equal := make([]float64, 60)
	for i := range equal {
		equal[i] = 3
	}
	if c := ComparePaired(equal, equal, CompareOptions{}); c.P != 1 ||
		c.Low != 0 || c.High != 0 || c.Verdict != Undecided {
		t.Errorf("equal values: %+v", c)
	}
	if c := ComparePaired(nil, nil, CompareOptions{}); c.Verdict != Undecided || len(c.Warnings) == 0 {
		t.Errorf("no pairs: %+v", c)
	}
}
