package stats

import (
	"math"
	"testing"
)

func onLine(i, j int) float64 { return math.Abs(float64(i - j)) }

// By hand: z = 1, 2, 4, 7 at 0, 1, 2, 3.
func TestVariogramByHand(t *testing.T) {
	v, err := NewVariogram([]float64{1, 2, 4, 7}, onLine, VariogramOptions{Lags: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := []Lag{{1, 14.0 / 6, 3}, {2, 34.0 / 4, 2}, {3, 36.0 / 2, 1}}
	if len(v.Lags) != len(want) {
		t.Fatalf("lags %v, want %v", v.Lags, want)
	}
	for i, l := range v.Lags {
		if !closeTo(l.Gamma, want[i].Gamma, 1e-15) || l.Distance != want[i].Distance || l.Pairs != want[i].Pairs {
			t.Errorf("lag %v, want %v", l, want[i])
		}
	}
	upTo2 := VariogramOptions{Lags: 3, MaxDistance: 2}
	if v, _ := NewVariogram([]float64{1, 2, 4, 7}, onLine, upTo2); len(v.Lags) != 3 || v.Lags[1].Distance != 2 {
		// The classes are then 2/3 wide: distances 1 and 2 are in the second and third.
		if len(v.Lags) != 2 {
			t.Errorf("up to 2: %v", v.Lags)
		}
	}
}

func TestVariogramErrors(t *testing.T) {
	same := func(i, j int) float64 { return 0 }
	for name, err := range map[string]error{
		"few":       second(NewVariogram([]float64{1, 2}, onLine, VariogramOptions{})),
		"NaN":       second(NewVariogram([]float64{1, 2, nan}, onLine, VariogramOptions{})),
		"infinite":  second(NewVariogram([]float64{1, 2, inf}, onLine, VariogramOptions{})),
		"one place": second(NewVariogram([]float64{1, 2, 3}, same, VariogramOptions{})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	v, err := NewVariogram([]float64{2, 2, 2, 2}, onLine, VariogramOptions{})
	if err != nil || v.Sill != 0 || !math.IsNaN(v.Continuity()) {
		t.Errorf("a constant: %+v, %v; want sill 0 and no continuity", v, err)
	}
}

func second(_ Variogram, err error) error { return err }

// series draws an autoregressive series of variance 1, whose variogram is
// exactly exponential with range -3/log(rho), plus white noise.
func series(seed uint64, n int, rho, noise float64) []float64 {
	rng := newRand(seed)
	z, out := rng.NormFloat64(), make([]float64, n)
	for i := range out {
		z = rho*z + math.Sqrt(1-rho*rho)*rng.NormFloat64()
		out[i] = z + math.Sqrt(noise)*rng.NormFloat64()
	}
	return out
}

// The share of white noise is the nugget's share of the sill.
func TestVariogramFindsTheNugget(t *testing.T) {
	for _, c := range []struct{ noise, want float64 }{{0, 1}, {0.25, 0.8}, {1, 0.5}, {4, 0.2}} {
		var got []float64
		for seed := range uint64(20) {
			v, err := NewVariogram(series(seed, 400, 0.9, c.noise), onLine, VariogramOptions{Lags: 40, MaxDistance: 80})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v.Continuity())
		}
		if m := Mean(got); !(math.Abs(m-c.want) <= 0.07) {
			t.Errorf("noise %v: mean continuity %.3f over 20 series, want %v ± 0.07", c.noise, m, c.want)
		}
	}
}

func TestVariogramOfNoiseIsAllNugget(t *testing.T) {
	var got []float64
	for seed := range uint64(20) {
		rng := newRand(100 + seed)
		z := make([]float64, 300)
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		v, err := NewVariogram(z, onLine, VariogramOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v.Continuity())
		if v.Nugget < 0 || v.Sill < v.Nugget {
			t.Errorf("model out of order: %+v", v)
		}
	}
	if m := Mean(got); m > 0.12 {
		t.Errorf("mean continuity of white noise %.3f, want about 0", m)
	}
}

// Replicates see the nugget directly.
func TestVariogramOfReplicates(t *testing.T) {
	rng := newRand(11)
	var z, at []float64
	for i := range 60 {
		for range 3 {
			at = append(at, float64(i))
			z = append(z, 5*math.Sin(float64(i)/12)+0.5*rng.NormFloat64())
		}
	}
	distance := func(i, j int) float64 { return math.Abs(at[i] - at[j]) }
	v, err := NewVariogram(z, distance, VariogramOptions{Lags: 30, MaxDistance: 30})
	if err != nil {
		t.Fatal(err)
	}
	if v.Lags[0].Distance != 0 || v.Lags[0].Pairs != 180 || !(math.Abs(v.Lags[0].Gamma-0.25) <= 0.06) {
		t.Errorf("first lag %+v, want 180 pairs at 0 with gamma about 0.25", v.Lags[0])
	}
	if v.Continuity() < 0.9 {
		t.Errorf("continuity %.3f of a smooth curve with 1.5 %% noise", v.Continuity())
	}
}

// A parabola is smoother at the origin than the exponential model, whose best
// nugget would be negative.
func TestVariogramOfASmoothCurve(t *testing.T) {
	z := make([]float64, 40)
	for i := range z {
		z[i] = float64(i * i)
	}
	v, err := NewVariogram(z, onLine, VariogramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Nugget != 0 || v.Sill <= 0 || v.Continuity() != 1 {
		t.Errorf("nugget %v, sill %v, continuity %v; want 0, positive and 1", v.Nugget, v.Sill, v.Continuity())
	}
}
