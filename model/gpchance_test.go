package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
)

// Each residual belongs to the prediction of its example by a process without it, with the same kernel.
// Reference: Rasmussen and Williams 2006, eq. 5.12
func TestProcessResidualsLeaveOneOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var d assay.Data
	for range 25 {
		x := []float64{rng.Float64(), rng.Float64()}
		d.X, d.Y = append(d.X, x), append(d.Y, 3+math.Sin(5*x[0])+0.2*rng.NormFloat64())
	}
	for _, censored := range []bool{false, true} {
		near := 1e-6
		if censored { // the sites are found again, by steps that end when they are small
			near = 5e-3
			d.Censored = make([]bool, 25)
			d.Censored[3], d.Censored[17] = true, true
			d.Y[3], d.Y[17] = d.Y[3]-0.5, d.Y[17]-0.5
		}
		p, err := GP{}.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		g := p.(*gpPosterior)
		got := g.Residuals()
		k := 0
		for i := range d.Y {
			if censored && d.Censored[i] {
				continue
			}
			want := leaveOut(t, g, d, i)
			if !(math.Abs(got[k]-want) <= near*(1+math.Abs(want))) {
				t.Errorf("censored %v, row %d: residual %v, want %v", censored, i, got[k], want)
			}
			k++
		}
		if k != len(got) {
			t.Errorf("censored %v: %d residuals, want %d", censored, len(got), k)
		}
	}
}

// leaveOut returns the residual of row i by conditioning the process on the others.
func leaveOut(t *testing.T, g *gpPosterior, d assay.Data, i int) float64 {
	t.Helper()
	m := newMarginal(g.scaler, d)
	m.propagate(g.theta)
	n := len(m.y)
	// Solve for the mean and the variance at row i from the other rows of m.k.
	var rows []int
	for j := range n {
		if j != i {
			rows = append(rows, j)
		}
	}
	a := make([][]float64, len(rows)) // the others' covariance, the cross-covariance and the outcomes
	for r, j := range rows {
		for _, l := range rows {
			a[r] = append(a[r], m.k.At(j, l))
		}
		a[r] = append(a[r], m.k.At(j, i), m.y[j])
	}
	eliminate(a)
	mean, variance := 0.0, m.k.At(i, i)
	for r, j := range rows {
		variance -= m.k.At(i, j) * a[r][len(rows)]
		mean += m.k.At(i, j) * a[r][len(rows)+1]
	}
	return (m.y[i] - mean) / math.Sqrt(variance)
}

// eliminate solves linear systems by Gauss and Jordan with the columns beyond the
// square as right-hand sides, in place.
func eliminate(a [][]float64) {
	for c := range a {
		pivot := c
		for r := c; r < len(a); r++ {
			if math.Abs(a[r][c]) > math.Abs(a[pivot][c]) {
				pivot = r
			}
		}
		a[c], a[pivot] = a[pivot], a[c]
		for k := len(a[c]) - 1; k >= c; k-- {
			a[c][k] /= a[c][c]
		}
		for r := range a {
			if f := a[r][c]; r != c {
				for k := c; k < len(a[r]); k++ {
					a[r][k] -= f * a[c][k]
				}
			}
		}
	}
}

// The noise that a process reports is the noise of its outcomes, in their unit.
func TestProcessNoise(t *testing.T) {
	for _, noise := range []float64{0.05, 0.5, 5} {
		rng := rand.New(rand.NewPCG(5, 5))
		var d assay.Data
		for range 150 {
			x := rng.Float64()
			d.X, d.Y = append(d.X, []float64{x}), append(d.Y, 10+4*math.Sin(4*x)+noise*rng.NormFloat64())
		}
		p, err := GP{}.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.(Process).Noise(); got < noise/1.5 || got > noise*1.5 {
			t.Errorf("noise %v, want %v", got, noise)
		}
	}
}
