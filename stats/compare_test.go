package stats

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCompare(t *testing.T) {
	slow := []float64{10.1, 10.3, 9.9, 10.2, 10.0, 10.4, 9.8}
	fast := []float64{7.0, 7.2, 6.9, 7.1, 7.3, 6.8, 7.05}
	for _, c := range []struct {
		name      string
		a, b      []float64
		want      Verdict
		change    float64
		low, high float64 // bounds of the interval
	}{
		{"faster", slow, fast, Less, 7.05/10.1 - 1, -0.34, -0.27},
		{"slower", fast, slow, More, 10.1/7.05 - 1, 0.37, 0.51},
		{"same", slow, slow, Undecided, 0, -0.05, 0.05},
		{"negative", []float64{-10, -11, -12, -10.5, -11.5, -10.2}, []float64{-20, -21, -22, -20.5, -21.5, -20.2}, Less, -20.75/10.75 + 1, -1.3, -0.7},
		{"failed", slow, []float64{inf, inf, inf, inf, inf, inf}, More, inf, inf, inf},
	} {
		for _, mean := range []bool{false, true} {
			got := Compare(c.a, c.b, CompareOptions{Mean: mean, Seed: 1})
			if got.Verdict != c.want {
				t.Errorf("%s: verdict %v, want %v: %+v", c.name, got.Verdict, c.want, got)
			}
			if got.Low < c.low || got.High > c.high || got.Low > got.High {
				t.Errorf("%s: interval [%v, %v], want within [%v, %v]", c.name, got.Low, got.High, c.low, c.high)
			}
			if !mean && !closeTo(got.Change, c.change, 1e-9) {
				t.Errorf("%s: change %v, want %v", c.name, got.Change, c.change)
			}
		}
	}
}

func TestCompareTooFew(t *testing.T) {
	got := Compare([]float64{1, 1.1, 1.2}, []float64{5, 5.1, 5.2}, CompareOptions{})
	if got.Verdict != Undecided || !warned(got.Warnings, "3 and 3 runs cannot show a difference at 95 %") {
		t.Errorf("3 and 3 runs: %v %v", got.Verdict, got.Warnings)
	}
	got = Compare([]float64{1, 1.1, 1.2, 1.3}, []float64{5, 5.1, 5.2, 5.3}, CompareOptions{})
	if got.Verdict != More || !warned(got.Warnings, "narrower") {
		t.Errorf("4 and 4 runs: %v %v", got.Verdict, got.Warnings)
	}
	got = Compare([]float64{1}, nil, CompareOptions{})
	if got.Verdict != Undecided || !math.IsNaN(got.Change) || got.P != 1 {
		t.Errorf("nothing: %+v", got)
	}
}

func TestCompareZero(t *testing.T) {
	zeros, ones := make([]float64, 8), []float64{1, 1, 1, 1, 1, 1, 1, 1}
	got := Compare(zeros, ones, CompareOptions{})
	if got.Verdict != More || !math.IsNaN(got.Change) || !warned(got.Warnings, "no relative difference from 0 to 1") {
		t.Errorf("from 0 to 1: %+v", got)
	}
}

func warned(warnings []error, text string) bool {
	return slices.ContainsFunc(warnings, func(w error) bool { return strings.Contains(w.Error(), text) })
}

// Exchanging the samples exchanges the verdict; scaling both changes nothing.
func TestCompareProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Map(rapid.IntRange(10, 40), func(i int) float64 { return float64(i) })
		a := rapid.SliceOfN(value, 1, 12).Draw(t, "a")
		b := rapid.SliceOfN(value, 1, 12).Draw(t, "b")
		opts := CompareOptions{Resamples: 50}
		c, d := Compare(a, b, opts), Compare(b, a, opts)
		if !closeTo(c.P, d.P, 1e-12) || c.Verdict == Less && d.Verdict == Less || c.Verdict == More && d.Verdict == More {
			t.Fatalf("%v and exchanged %v", c, d)
		}
		double := make([]float64, len(b))
		for i := range b {
			double[i] = 2 * b[i]
		}
		twice := make([]float64, len(a))
		for i := range a {
			twice[i] = 2 * a[i]
		}
		if e := Compare(twice, double, opts); e.Verdict != c.Verdict || e.Change != c.Change || e.Low != c.Low || e.High != c.High {
			t.Fatalf("scaled by 2: %+v, want %+v", e, c)
		}
	})
}

// Rates over simulated run times: a log-normal with one run in ten delayed.
func TestCompareRates(t *testing.T) {
	const reps = 500
	rng := newRand(6)
	draw := func(n int, scale float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = scale * math.Exp(0.05*rng.NormFloat64())
			if rng.IntN(10) == 0 {
				x[i] *= 1.5
			}
		}
		return x
	}
	for _, c := range []struct {
		n                 int
		leastPower, cover float64
	}{
		{6, 0.42, 0.93}, {10, 0.66, 0.93}, {20, 0.96, 0.93},
	} {
		var wrong, found, covered, shiftWrong, shiftFound, shiftCovered int
		for r := range reps {
			opts := CompareOptions{Resamples: 400, Seed: uint64(r)}
			a, same, faster := draw(c.n, 1), draw(c.n, 1), draw(c.n, 0.9)
			count(&wrong, Compare(a, same, opts).Verdict != Undecided)
			count(&shiftWrong, CompareShift(a, same, opts).Verdict != Undecided)
			medians, shift := Compare(a, faster, opts), CompareShift(a, faster, opts)
			count(&found, medians.Verdict == Less)
			count(&shiftFound, shift.Verdict == Less)
			count(&covered, medians.Low <= -0.1 && -0.1 <= medians.High)
			count(&shiftCovered, shift.Low <= -0.1 && -0.1 <= shift.High)
		}
		t.Logf("shift n=%d: false differences %.3f, 10 %% found %.3f, change covered %.3f", c.n,
			float64(shiftWrong)/reps, float64(shiftFound)/reps, float64(shiftCovered)/reps)
		tol := 3 * math.Sqrt(0.05*0.95/reps)
		if shiftWrong > int(reps*(0.05+tol)) || shiftCovered < int(reps*(0.95-tol)) || shiftFound < found {
			t.Errorf("n=%d: of %d, the shift has %d false differences and %d intervals that cover, and finds %d where the medians find %d",
				c.n, reps, shiftWrong, shiftCovered, shiftFound, found)
		}
		t.Logf("n=%d: false differences %.3f, 10 %% found %.3f, change covered %.3f", c.n,
			float64(wrong)/reps, float64(found)/reps, float64(covered)/reps)
		if rate := float64(wrong) / reps; rate > 0.05+3*math.Sqrt(0.05*0.95/reps) {
			t.Errorf("n=%d: %.3f of equal pairs were called different, want <= 0.05", c.n, rate)
		}
		if rate := float64(found) / reps; rate < c.leastPower {
			t.Errorf("n=%d: 10 %% was found in %.3f, want >= %v", c.n, rate, c.leastPower)
		}
		if rate := float64(covered) / reps; rate < c.cover {
			t.Errorf("n=%d: the interval covers the change in %.3f, want >= %v", c.n, rate, c.cover)
		}
	}
}

func count(n *int, ok bool) {
	if ok {
		*n++
	}
}

func TestVerdictString(t *testing.T) {
	for v, want := range map[Verdict]string{Less: "less", Undecided: "~", More: "more"} {
		if v.String() != want {
			t.Errorf("%d prints as %q, want %q", v, v, want)
		}
	}
}

// The quick median of a resample is the median of the values drawn.
func TestResamplerDrawsMedians(t *testing.T) {
	rng := newRand(19)
	for n := 1; n < 12; n++ {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(rng.IntN(20))
		}
		r := newResampler(x, false)
		for range 50 {
			got := r.draw(rng)
			var drawn []float64
			for i, c := range r.count {
				drawn = append(drawn, slices.Repeat(r.sorted[i:i+1], int(c))...)
			}
			if len(drawn) != n || got != Median(drawn) {
				t.Fatalf("median %v of %v, want %v", got, drawn, Median(drawn))
			}
		}
	}
}
