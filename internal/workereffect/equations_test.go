package workereffect

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/assay-run/assay"
)

// dense is ZᵀV⁻¹Z and ZᵀV⁻¹y with all that is 0 written out.
func (d *design) dense(shared float64) (*mat.SymDense, *mat.VecDense) {
	a, b := mat.NewSymDense(d.columns, nil), mat.NewVecDense(d.columns, nil)
	add := func(z []float64, y, weight float64) {
		for j, x := range z {
			b.SetVec(j, b.AtVec(j)+weight*x*y)
			for k := j; k < len(z); k++ {
				a.SetSym(j, k, a.At(j, k)+weight*x*z[k])
			}
		}
	}
	for _, rows := range d.of {
		sum, ys := make([]float64, d.columns), 0.0
		for _, i := range rows {
			z := make([]float64, d.columns)
			for _, e := range d.entries[i] {
				z[e.column] = e.x
				sum[e.column] += e.x
			}
			add(z, d.y[i], 1)
			ys += d.y[i]
		}
		if n := float64(len(rows)); n > 0 {
			add(sum, ys, -shared/(1+n*shared))
		}
	}
	return a, b
}

// The solution equals [mat.Cholesky]'s to the last bit: corrected values are compared with those on record.
func TestEquationsAreThoseOfCholesky(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := New(nil, "")
		workers := 2 + r.IntN(90)
		for i := range 20 + r.IntN(200) {
			where := string(rune('A' + r.IntN(workers)))
			m.Add(assay.Trial{
				Proposal: assay.Proposal{ID: int64(i), Config: assay.Config{float64(r.IntN(9)), float64(r.IntN(9)), 1}},
				State:    assay.Done, Value: math.Exp(r.NormFloat64()), Started: time.Unix(int64(i), 0),
				Measurement: assay.Measurement{Worker: where, MachineClass: string(rune('a' + r.IntN(1+int(seed%3))))},
			})
		}
		for _, shared := range []float64{0, 0.3, 80} {
			d := newDesign(m)
			eq := newEquations(d.columns)
			d.normal(eq, shared)
			a, b := d.dense(shared)
			for j := range d.columns {
				prior := math.Pow(10, -9*r.Float64())
				eq.a[j*eq.n+j] += prior
				a.SetSym(j, j, a.At(j, j)+prior)
			}
			var chol mat.Cholesky
			var theta mat.VecDense
			var inverse mat.SymDense
			ok := chol.Factorize(a) && chol.SolveVecTo(&theta, b) == nil && chol.InverseTo(&inverse) == nil
			if got := eq.solve(); got != ok {
				t.Fatalf("seed %d, shared %v: solved %v, want %v", seed, shared, got, ok)
			}
			for j := range d.columns {
				if !ok {
					break
				}
				if eq.theta[j] != theta.AtVec(j) || eq.variance(j) != inverse.At(j, j) {
					t.Fatalf("seed %d, shared %v: %d of %d is %v with variance %v, want %v and %v", seed, shared, j, d.columns,
						eq.theta[j], eq.variance(j), theta.AtVec(j), inverse.At(j, j))
				}
			}
		}
	}
}

// Equations without a solution, or with one that is all rounding, are refused as mat.Cholesky refuses them.
func TestEquationsWithoutASolution(t *testing.T) {
	for _, tt := range []struct {
		name string
		a    []float64
		ok   bool
	}{
		{"fine", []float64{2, 1, 0, 2}, true},
		{"indefinite", []float64{1, 2, 0, 1}, false},
		{"singular", []float64{1, 1, 0, 1}, false},
		{"of one size and of none", []float64{1e9, 0, 0, 1e-9}, false},
	} {
		eq := newEquations(2)
		copy(eq.a, tt.a)
		copy(eq.b, []float64{1, 1})
		var c mat.Cholesky
		want := c.Factorize(mat.NewSymDense(2, tt.a)) && c.Cond() <= mat.ConditionTolerance
		if got := eq.solve(); got != tt.ok || got != want {
			t.Errorf("%s: %v, want %v, and mat.Cholesky says %v", tt.name, got, tt.ok, want)
		}
	}
}

// BenchmarkFit is an estimate from 200 runs of 64 workers.
func BenchmarkFit(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 7))
	m := New(nil, "")
	for i := range 200 {
		m.runs = append(m.runs, run{config: i, worker: i % 64, x: []float64{r.Float64()}, y: r.NormFloat64()})
		m.configs.Number(assay.Config{float64(i)})
	}
	m.classes = []string{""}
	for range 64 {
		m.workers = append(m.workers, worker{})
	}
	for b.Loop() {
		if e := fitted(m); e.rest == nil {
			b.Fatal("nothing was fitted")
		}
	}
}
