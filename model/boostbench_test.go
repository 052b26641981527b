package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
)

// mixedData returns n examples with the 25 features of a software and hardware
// configuration: 12 fractions, 5 counts up to 64, 3 sizes over six decades, 3
// switches and 2 choices of a few; and positive outcomes of which a third are
// censored.
func mixedData(n int, seed uint64) assay.Data {
	rng := rand.New(rand.NewPCG(seed, 0))
	d := assay.Data{}
	for range n {
		x := make([]float64, 0, 25)
		for range 12 {
			x = append(x, rng.Float64())
		}
		for range 5 {
			x = append(x, float64(1+rng.IntN(64)))
		}
		for range 3 {
			x = append(x, math.Pow(10, 6*rng.Float64()-3))
		}
		for range 3 {
			x = append(x, float64(rng.IntN(2)))
		}
		x = append(x, float64(rng.IntN(5)), float64(rng.IntN(4)))
		y := math.Exp(4 + 0.8*x[20] + x[0]*x[1] - 0.01*x[12] + 0.1*math.Log(x[17])*x[21] + 0.2*x[23] + 0.2*rng.NormFloat64())
		c := rng.IntN(3) == 0
		if c {
			y *= rng.Float64()
		}
		d.X, d.Y, d.Censored = append(d.X, x), append(d.Y, y), append(d.Censored, c)
	}
	return d
}

func BenchmarkAFTFit(b *testing.B) {
	for _, n := range []int{20, 50, 100, 500, 2000} {
		d := mixedData(n, 1)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := (AFT{}).Fit(d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAFTPredict(b *testing.B) {
	X := mixedData(2000, 2).X
	out := make([]assay.Prediction, len(X))
	for _, n := range []int{100, 2000} {
		p, err := (AFT{}).Fit(mixedData(n, 1))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				assay.PredictAll(p, X, out)
			}
		})
	}
}

func BenchmarkTunedAFT(b *testing.B) {
	d := mixedData(100, 1)
	for b.Loop() {
		if _, err := (TunedAFT{}).Choose(d); err != nil {
			b.Fatal(err)
		}
	}
}
