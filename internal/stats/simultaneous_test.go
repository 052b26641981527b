package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// paretoRanks returns columns of 1 plus Pareto noise with normal scores of
// correlation r, shape 1.7.
func paretoRanks(ranks, rows int, r float64, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 5))
	columns := make([][]float64, ranks)
	for range rows {
		shared := rng.NormFloat64()
		for j := range columns {
			z := math.Sqrt(r)*shared + math.Sqrt(1-r)*rng.NormFloat64()
			columns[j] = append(columns[j], 1+0.05*math.Exp(-LogNormCDF(-z)/1.7))
		}
	}
	return columns
}

func sameLimits(ranks int, limit float64) []float64 {
	l := make([]float64, ranks)
	for i := range l {
		l[i] = limit
	}
	return l
}

// Independent processors are worth as many runs as they are, equal ones are
// worth one, and between them it goes down with the correlation.
// Reference: Tabatabaee et al. 2005, sections 4.3 and 5.1, equation 11
func TestSimultaneous(t *testing.T) {
	limit := 1 + 0.05*math.Pow(0.5, -1/1.7) // the median: p = 1/2
	last := 4.5
	for _, r := range []float64{0, 0.3, 0.6, 0.9, 1} {
		s := NewSimultaneous(paretoRanks(4, 4000, r, 1), sameLimits(4, limit))
		k := s.Independent
		if !(math.Abs(s.Late-0.5) <= 0.02) || s.Ranks != 4 || s.Rows != 4000 {
			t.Errorf("r = %v: %+v", r, s)
		}
		if want := 6 / math.Pi * math.Asin(r/2); !(math.Abs(s.Correlation-want) <= 0.03) { // Spearman's of a normal copula
			t.Errorf("r = %v: rank correlation %v, want %v", r, s.Correlation, want)
		}
		if !(k.Value < last) || !(k.Low <= k.Value && k.Value <= k.High) {
			t.Errorf("r = %v: worth %v [%v, %v] runs, more than %v with less correlation", r, k.Value, k.Low, k.High, last)
		}
		t.Logf("r = %v: 4 simultaneous runs are worth %.2f [%.2f, %.2f]", r, k.Value, k.Low, k.High)
		last = k.Value
		switch r {
		case 0:
			if !k.Contains(4) {
				t.Errorf("independent: worth %v [%v, %v] runs, want 4", k.Value, k.Low, k.High)
			}
		case 1:
			if !(math.Abs(k.Value-1) <= 1e-9) {
				t.Errorf("equal: worth %v runs, want 1", k.Value)
			}
		}
	}
}

// Two of four rows late on each rank, one of them together: ln(1/4) / ln(1/2) = 2.
func TestSimultaneousByHand(t *testing.T) {
	s := NewSimultaneous([][]float64{{1, 9, 9, 1}, {1, 9, 1, 9}}, sameLimits(2, 5))
	if s.Late != 0.5 || s.AllLate != 0.25 || !(math.Abs(s.Independent.Value-2) <= 1e-12) || s.Correlation != 0 {
		t.Errorf("got %+v", s)
	}
}

func TestSimultaneousEdges(t *testing.T) {
	never := NewSimultaneous([][]float64{{1, 2}, {1, 9}}, sameLimits(2, 5)).Independent
	always := NewSimultaneous([][]float64{{7, 8}, {7, 9}}, sameLimits(2, 5)).Independent
	if !math.IsNaN(never.Value) || !math.IsNaN(always.Value) {
		t.Errorf("got %v and %v runs, want NaN", never.Value, always.Value)
	}
	// Late in turn, never together: of 60 rows, q < 3/60, p = 1/2.
	a, b := make([]float64, 60), make([]float64, 60)
	for i := range a {
		a[i], b[i] = float64(i%2), float64(1-i%2)
	}
	k := NewSimultaneous([][]float64{a, b}, sameLimits(2, 0.5)).Independent
	if k.Value != 2 || k.Low != 2 || k.High != 2 {
		t.Errorf("never together: %+v, want 2, the number of ranks", k)
	}
	k = NewSimultaneous([][]float64{a[:8], b[:8], a[:8]}, sameLimits(3, 0.5)).Independent
	if want := math.Log(3.0/8) / math.Log(0.5); !(math.Abs(k.Value-want) <= 1e-12) || k.High != 3 {
		t.Errorf("never together in 8 rows: %+v, want %v to 3", k, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for columns of different lengths")
		}
	}()
	NewSimultaneous([][]float64{{1}, {1, 2}}, sameLimits(2, 1))
}
