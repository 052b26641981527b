package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestCorrelationKnown(t *testing.T) {
	for _, c := range []struct {
		name              string
		x, y              []float64
		pearson, spearman float64
	}{
		// IQ and hours of television (Wikipedia, "Spearman's rank correlation
		// coefficient"): ρ = -29/165.
		{
			"television",
			[]float64{106, 86, 100, 101, 99, 103, 97, 113, 112, 110},
			[]float64{7, 0, 27, 50, 28, 29, 20, 12, 6, 17},
			-0.037601473846875934, -29.0 / 165,
		},
		{"ties", []float64{1, 2, 2, 3, 4}, []float64{5, 1, 2, 2, 9}, 0.49603025115883964, 0.2894736842105264},
		{"line", []float64{1, 2, 3}, []float64{-1, -3, -5}, -1, -1},
		{"huge", []float64{1e200, 2e200, 3e200}, []float64{1e-200, 2e-200, 3e-200}, 1, 1},
		{"constant", []float64{0.1, 0.1, 0.1}, []float64{1, 2, 3}, nan, nan},
		{"one", []float64{1}, []float64{1}, nan, nan},
		{"infinite", []float64{1, 2, inf}, []float64{1, 2, 3}, nan, 1},
	} {
		if got := Correlation(c.x, c.y); !closeTo(got, c.pearson, 1e-12) {
			t.Errorf("%s: Correlation = %v, want %v", c.name, got, c.pearson)
		}
		if got := Spearman(c.x, c.y); !closeTo(got, c.spearman, 1e-12) {
			t.Errorf("%s: Spearman = %v, want %v", c.name, got, c.spearman)
		}
	}
}

// "a technique … useful when surrogates with different output ranges are
// compared": the value does not depend on scale or offset, only on shape.
// Reference: Silva et al. 2018, §3.4
func TestCrossCorrelation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 30).Draw(t, "n")
		value := rapid.Map(rapid.IntRange(-1000, 1000), func(i int) float64 { return float64(i) / 8 })
		f := rapid.SliceOfN(value, n, n).Draw(t, "f")
		g := rapid.SliceOfN(value, n, n).Draw(t, "g")
		if constant(f) || constant(g) {
			if !math.IsNaN(CrossCorrelation(f, g)) {
				t.Fatal("a constant surrogate has a correlation")
			}
			return
		}
		// The formula as it is written.
		mf, mg := Mean(f), Mean(g)
		sf, sg := math.Sqrt(sumSquares(f, mf)/float64(n)), math.Sqrt(sumSquares(g, mg)/float64(n))
		var want float64
		for i := range f {
			want += (f[i] - mf) * (g[i] - mg) / (sf * sg) / float64(n)
		}
		got := CrossCorrelation(f, g)
		if !(math.Abs(got-want) <= 1e-9) || got < -1 || got > 1 {
			t.Fatalf("got %v, want %v", got, want)
		}
		scaled := make([]float64, n)
		for i := range g {
			scaled[i] = 40 - 3*g[i]
		}
		if flipped := CrossCorrelation(f, scaled); !(math.Abs(flipped+got) <= 1e-9) {
			t.Fatalf("scaled by -3: %v, want %v", flipped, -got)
		}
	})
}
