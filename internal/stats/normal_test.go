package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// closeTo reports whether got is want to the given relative error; equal
// infinities and two NaN are close.
func closeTo(got, want, tol float64) bool {
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return true
	}
	return math.Abs(got-want) <= tol*math.Abs(want)
}

// The reference values are computed with 60 to 80 decimal digits from erfc and
// the continued fraction.
func TestLogNormCDF(t *testing.T) {
	for _, c := range []struct{ z, want float64 }{
		{math.Inf(-1), math.Inf(-1)},
		{-1e5, -5000000012.4318639983},
		{-1000, -500007.82669481218431},
		{-40, -804.60844201375378817},
		{-38.5, -745.69527029041108133},
		{-20, -203.91715537109726394},
		{-8, -35.013437159914549896},
		{-5, -15.064998393988725736},
		{-3, -6.6077262215103495433},
		{-2.5, -5.0816482772786904984},
		{-2, -3.7831843336820319488},
		{-1, -1.8410216450092635058},
		{-1e-5, -0.69315515943738436302},
		{0, -0.69314718055994530942},
		{0.5, -0.36894641528865639307},
		{2, -0.023012909328963488465},
		{5, -2.8665161296376359338e-7},
		{9, -1.1285884059538406478e-19},
		{20, -2.7536241186062336951e-89},
		{37.5, -4.6053530095819548438e-308},
		{math.Inf(1), 0},
		{math.NaN(), math.NaN()},
	} {
		if got := LogNormCDF(c.z); !closeTo(got, c.want, 1e-12) {
			t.Errorf("LogNormCDF(%v) = %.17g, want %.17g", c.z, got, c.want)
		}
	}
}

func TestMillsRatio(t *testing.T) {
	for _, c := range []struct{ z, want float64 }{
		{math.Inf(-1), math.Inf(1)},
		{-3, 225.334896220349121},
		{0, 1.25331413731550025},
		{0.5, 0.876364456453692347},
		{1.75, 0.464306928039442164},
		{2, 0.421369229288054473},
		{2.25, 0.385148290798434624},
		{5, 0.192808104715315765},
		{10, 0.0990285964717319214},
		{38, 0.0262976029742529644},
		{1e3, 0.000999999000002999985},
		{1e5, 9.999999999e-6},
		{1e8, 9.999999999999999e-9},
		{1e200, 1e-200},
		{math.Inf(1), 0},
		{math.NaN(), math.NaN()},
	} {
		if got := MillsRatio(c.z); !closeTo(got, c.want, 1e-14) {
			t.Errorf("MillsRatio(%v) = %.17g, want %.17g", c.z, got, c.want)
		}
	}
}

func TestLogNormLoss(t *testing.T) {
	for _, c := range []struct{ z, want float64 }{
		{math.Inf(-1), math.Inf(-1)},
		{-1e5, -5000000023.94478946},
		{-1000, -500014.734452091158},
		{-40, -808.29856835661996},
		{-10, -55.5531220361223559},
		{-5, -16.7443011626609901},
		{-2.5, -6.21254164544351286},
		{-2, -4.76878352391711416},
		{-1.5, -3.52993592080570985},
		{-1, -2.48512102571264134},
		{0, -0.918938533204672742},
		{1, 0.08002621884930694},
		{10, 2.30258509299404568},
		{math.NaN(), math.NaN()},
	} {
		if got := LogNormLoss(c.z); !closeTo(got, c.want, 1e-12) {
			t.Errorf("LogNormLoss(%v) = %.17g, want %.17g", c.z, got, c.want)
		}
	}
}

func TestTruncNormMean(t *testing.T) {
	for _, c := range []struct{ mu, sigma, lower, mean float64 }{
		{0, 1, 0, 0.797884560802865356}, // half-normal: √(2/π)
		{0, 1, -3, 0.00443783904212566379},
		{10, 2, 11.5, 12.6575559304424141},
		{0, 1, 5, 5.18650396712584212},
		{100, 0.5, 300, 300.001249984375488},
		{0, 1, 1e5, 100000.00001},
		{3, 2, -1000, 3},
		{3, 2, math.Inf(-1), 3},
		{3, 2, math.Inf(1), math.Inf(1)},
		{3, 0, 1, 3},
		{3, 0, 7, 7},
	} {
		if got := TruncNormMean(c.mu, c.sigma, c.lower); !closeTo(got, c.mean, 1e-14) {
			t.Errorf("TruncNormMean(%v, %v, %v) = %.17g, want %.17g", c.mu, c.sigma, c.lower, got, c.mean)
		}
	}
}

// Every function is continuous where its branches meet, and monotone.
func TestNormalIsSmooth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.Float64Range(-60, 30).Draw(t, "z")
		w := z + rapid.Float64Range(1e-6, 1).Draw(t, "step")
		// The mean value theorem with the derivative φ/Φ = 1/Mills(-z), which
		// falls with z.
		d := LogNormCDF(w) - LogNormCDF(z)
		low, high := (w-z)/MillsRatio(-w), (w-z)/MillsRatio(-z)
		slack := 1e-12 * math.Abs(LogNormCDF(z))
		if d < low-slack-1e-300 || d > high+slack+1e-300 {
			t.Fatalf("LogNormCDF rises by %g from %v to %v, want %g to %g", d, z, w, low, high)
		}
		if m := TruncNormMean(0, 1, z); m < math.Max(0, z) {
			t.Fatalf("TruncNormMean(0, 1, %v) = %v", z, m)
		}
		// The loss function's derivative is Φ; both are denormal, with few
		// bits, below -37.
		if z < -36 {
			return
		}
		e := math.Exp(LogNormLoss(w)) - math.Exp(LogNormLoss(z))
		tol := 1e-11 * math.Exp(LogNormLoss(w))
		if e < (w-z)*NormCDF(z)-tol || e > (w-z)*NormCDF(w)+tol {
			t.Fatalf("the loss rises by %g from %v to %v", e, z, w)
		}
	})
}

func TestNormQuantileInvertsCDF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.Float64Range(-37, 5).Draw(t, "z")
		if got := NormQuantile(NormCDF(z)); !(math.Abs(got-z) <= 1e-9) {
			t.Fatalf("NormQuantile(NormCDF(%v)) = %v", z, got)
		}
	})
	if got := NormQuantile(0.975); !closeTo(got, 1.959963984540054, 1e-14) {
		t.Errorf("NormQuantile(0.975) = %v", got)
	}
}
