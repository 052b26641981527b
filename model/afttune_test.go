package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
)

// Over many data sets the scale that is chosen grows with the noise.
func TestTunedAFTScaleFollowsTheNoise(t *testing.T) {
	mean := func(noise float64) (sum float64) {
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 0))
			var d assay.Data
			for range 60 {
				x := []float64{rng.Float64(), rng.Float64()}
				d.X = append(d.X, x)
				d.Y = append(d.Y, math.Exp(2+x[0]+noise*rng.NormFloat64()))
			}
			a, err := TunedAFT{AFT: AFT{Distribution: Normal, Boost: Boost{MaxDepth: 3}}, Seed: seed}.Choose(d)
			if err != nil {
				t.Fatal(err)
			}
			sum += a.Scale / 20
		}
		return sum
	}
	if little, much := mean(0.02), mean(0.5); little > 0.25 || much < 0.35 {
		t.Errorf("mean scale %v with noise 0.02, want about 0.2; %v with noise 0.5, want about 0.4", little, much)
	}
}

func TestTunedAFTChoosesTheLeastLoss(t *testing.T) {
	d := mixedData(50, 8)
	chosen, err := TunedAFT{Folds: 3, Seed: 4}.Choose(d)
	if err != nil {
		t.Fatal(err)
	}
	loss := func(a AFT) (l float64) {
		h := holdOut(newColumns(d.X), d, a, foldsOf(50, 3, 0, 4))
		for range 20 {
			l = h.next()
		}
		return l
	}
	got := loss(chosen)
	for _, scale := range celloScales {
		for _, rate := range celloRates {
			if l := loss(AFT{Scale: scale, Boost: Boost{Rate: rate}}); l < got {
				t.Errorf("chose %+v with loss %v, but %v × %v has %v", chosen, got, scale, rate, l)
			}
		}
	}
}

func TestTunedAFTOneExample(t *testing.T) {
	a, err := TunedAFT{AFT: AFT{Scale: 0.7}}.Choose(assay.Data{X: [][]float64{{1}}, Y: []float64{5}})
	if err != nil || a.Scale != 0.7 {
		t.Errorf("got %+v and %v, want the learner as it is", a, err)
	}
}

// Data that cannot be fitted have no choice of parameters.
func TestTunedAFTRefuses(t *testing.T) {
	for _, y := range [][]float64{nil, {1, 0, 2}, {1, 2, -3}} {
		d := assay.Data{Y: y}
		for range y {
			d.X = append(d.X, []float64{1})
		}
		if _, err := (TunedAFT{}).Choose(d); err == nil {
			t.Errorf("no error for the outcomes %v", y)
		}
	}
}
