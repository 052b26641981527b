package stats

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hill is Hill's estimate of values in any order.
func hill(x []float64, k int, level float64) Estimate { return hillSorted(descending(x), k, level) }

// By hand: the two greatest of 1, e, e², e⁴ are e² and e⁴ above e: the mean
// logarithm is (1 + 3)/2 and α = 1/2.
func TestHillByHand(t *testing.T) {
	e := hill([]float64{math.E * math.E, 1, math.Pow(math.E, 4), math.E}, 2, 0.95)
	if !closeTo(e.Value, 0.5, 1e-14) || e.N != 2 {
		t.Errorf("got %+v, want 0.5", e)
	}
	// 2kα/α̂ is χ² with 4 degrees of freedom: quantiles 0.4844186 and 11.1432868.
	if !closeTo(e.Low, 0.5*0.48441856/4, 1e-6) || !closeTo(e.High, 0.5*11.14328678/4, 1e-6) {
		t.Errorf("interval [%v, %v], want [%v, %v]", e.Low, e.High, 0.5*0.48441856/4, 0.5*11.14328678/4)
	}
	for _, x := range [][]float64{{-1, 0, 1, 2}, {3, 3, 3, 3}, {1, 1, 1, inf}, {1, 2, nan, 4}} {
		if e := hill(x, 2, 0.95); !math.IsNaN(e.Value) || len(e.Warnings) != 1 {
			t.Errorf("hill(%v) = %+v, want NaN and a warning", x, e)
		}
	}
}

// Hill's interval is exact for Pareto's law.
func TestHillCovers(t *testing.T) {
	p, rng := Pareto{1.7, 2}, newRand(16)
	const reps = 3000
	covered := 0
	for range reps {
		x := make([]float64, 60)
		for i := range x {
			x[i] = p.Draw(rng)
		}
		count(&covered, hill(x, 15, 0.95).Contains(p.Alpha))
	}
	if got := float64(covered) / reps; !(math.Abs(got-0.95) <= 3*math.Sqrt(0.95*0.05/reps)) {
		t.Errorf("coverage %.4f, want 0.95", got)
	}
}

// "For the heavy tail r.v., tail of the log-log plot should be approximately
// linear": at Pareto's quantiles it is exactly a line of slope -α.
// Reference: Tabatabaee et al. 2005, section 4.3
func TestLogLogTail(t *testing.T) {
	p := Pareto{1.5, 1}
	const n = 50
	var x []float64
	for i := range n {
		x = append(x, p.Quantile(float64(i+1)/(n+1e-9)))
	}
	points := LogLogTail(x)
	if len(points) != n-1 {
		t.Fatalf("%d points, want %d", len(points), n-1)
	}
	for _, q := range points {
		if !(math.Abs(q.Y+1.5*q.X) <= 1e-6) {
			t.Fatalf("point %v is not on the line of slope -1.5", q)
		}
	}
	got := LogLogTail([]float64{10, 100, 10, -1})
	if len(got) != 1 || got[0].X != 1 || !closeTo(got[0].Y, math.Log10(0.25), 1e-15) {
		t.Errorf("ties: %v, want one point (1, log 0.25)", got)
	}
	if LogLogTail(nil) != nil {
		t.Error("points of nothing")
	}
}

// "we truncate the GS2 data and remove all samples that are larger than 5."
// Reference: Tabatabaee et al. 2005, section 4.3
func TestTruncate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOf(rapid.Float64Range(0, 10)).Draw(t, "x")
		kept := Truncate(x, 5)
		n := 0
		for _, v := range x {
			count(&n, v <= 5)
		}
		if len(kept) != n || len(kept) > 0 && Max(kept) > 5 {
			t.Fatalf("kept %v", kept)
		}
	})
}

// Run times are 10 s and noise; the verdict is judged over 100 samples.
func TestDiagnoseTail(t *testing.T) {
	pareto := func(alpha float64) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 { return 10 + Pareto{alpha, 0.5}.Draw(rng) }
	}
	for _, c := range []struct {
		name         string
		n            int
		draw         func(*rand.Rand) float64
		kind         TailKind
		right, wrong int // at least right and at most wrong of 100
	}{
		{"Pareto 0.5", 1000, pareto(0.5), TailNoMean, 95, 0},
		{"Pareto 1.5", 1000, pareto(1.5), TailHeavy, 80, 2},
		{"Pareto 1.7", 3000, pareto(1.7), TailHeavy, 80, 2},
		{"exponential", 1000, func(rng *rand.Rand) float64 { return 10 + rng.ExpFloat64() }, TailLight, 95, 0},
		{"normal", 200, func(rng *rand.Rand) float64 { return 10 + rng.NormFloat64() }, TailLight, 95, 0},
		{"log-normal", 1000, func(rng *rand.Rand) float64 { return math.Exp(rng.NormFloat64() / 2) }, TailLight, 95, 0},
		{"Pareto 4", 5000, pareto(4), TailLight, 60, 2},
		{"Pareto 1.5, few", 60, pareto(1.5), TailHeavy, 20, 5},
	} {
		rng := newRand(17)
		var right, wrong, light int
		for range 100 {
			x := make([]float64, c.n)
			for i := range x {
				x[i] = c.draw(rng)
			}
			d := DiagnoseTail(x)
			count(&right, d.Kind == c.kind)
			count(&light, d.Kind == TailLight)
			count(&wrong, d.Kind != c.kind && d.Kind != TailUnknown)
			if d.Text == "" || d.Alpha.Low > d.Alpha.Value || d.Alpha.High < d.Alpha.Value ||
				!(d.Line > 0.5 && d.Line <= 1) || !(d.Distance < 0.5) ||
				d.Threshold < Min(x) || d.Threshold > Max(x) {
				t.Fatalf("%s: %+v", c.name, d)
			}
		}
		if right < c.right || wrong > c.wrong {
			t.Errorf("%s: right %d, wrong %d of 100; want >= %d and <= %d", c.name, right, wrong, c.right, c.wrong)
		}
		if c.kind != TailLight && light > 0 {
			t.Errorf("%s: %d of 100 heavy tails were called light", c.name, light)
		}
	}
}

// The constant part of a run time does not affect the verdict.
func TestDiagnoseTailIgnoresTheOrigin(t *testing.T) {
	rng := newRand(18)
	x, y := make([]float64, 400), make([]float64, 400)
	for i := range x {
		x[i] = math.Round(Pareto{1.4, 1}.Draw(rng)*1024) / 1024 // so that adding 4096 is exact
		y[i] = x[i] + 4096
	}
	a, b := DiagnoseTail(x), DiagnoseTail(y)
	if a.Alpha.Value != b.Alpha.Value || a.Kind != b.Kind || b.Threshold != a.Threshold+4096 {
		t.Errorf("%+v, and 4096 later %+v", a, b)
	}
}

func TestDiagnoseTailOfNothing(t *testing.T) {
	for name, x := range map[string][]float64{
		"few":      make([]float64, 49),
		"equal":    make([]float64, 100),
		"infinite": append(make([]float64, 99), inf),
		"NaN":      append(make([]float64, 99), nan),
	} {
		d := DiagnoseTail(x)
		if d.Kind != TailUnknown || len(d.Alpha.Warnings) != 1 || !strings.Contains(d.Text, "tail") {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
