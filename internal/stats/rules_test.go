package stats

import (
	"math"
	"testing"
)

// Two points lie on a line, rising or falling; one lies on none.
func TestCorrelationOfTwo(t *testing.T) {
	for _, tt := range []struct{ x, y []float64 }{
		{[]float64{1, 5}, []float64{-3, 8}}, {[]float64{1, 5}, []float64{8, -3}},
	} {
		want := math.Copysign(1, tt.y[1]-tt.y[0])
		if got := Correlation(tt.x, tt.y); !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("%v and %v: %v, want %v", tt.x, tt.y, got, want)
		}
	}
	if got := Correlation([]float64{1}, []float64{2}); !math.IsNaN(got) {
		t.Errorf("one pair: %v", got)
	}
}

// W is taken for normal if there are too many signs to count. Its mean is half of the sum of the ranks, its
// variance a quarter of the sum of their squares: each rank is in it or not by a fair coin. In three groups of
// 40 equal sizes the ranks are 20.5, 60.5 and 100.5.
func TestWilcoxonOfMany(t *testing.T) {
	for _, ties := range []bool{false, true} {
		for _, negative := range []int{3, 4, 5} { // each third, fourth, fifth of 120
			var d []float64
			var w, sum, squares float64
			for i := range 120 {
				size, rank := float64(i+1), float64(i+1)
				if ties {
					size, rank = float64(i/40+1), float64(i/40*40)+20.5
				}
				sum, squares = sum+rank, squares+rank*rank
				if i%negative == 0 {
					size = -size
				} else {
					w += rank
				}
				d = append(d, size)
			}
			want := math.Erfc((math.Abs(w-sum/2) - 0.5) / math.Sqrt(squares/4) / math.Sqrt2)
			got := WilcoxonSignedRank(d)
			if got.Exact || got.Statistic != w || !(math.Abs(got.P-want) <= 1e-9*want) {
				t.Errorf("ties %v, 1 in %d negative: %+v, want W %v and P %v", ties, negative, got, w, want)
			}
		}
	}
}

// The variance is of deviations from the mean, so that a large mean takes no digit of it. Here they are -5.875, -2.375,
// 1 and 7.25.
func TestVarianceOfLargeValues(t *testing.T) {
	if got, want := Variance([]float64{1e15 + 0.125, 1e15 + 3.625, 1e15 + 7, 1e15 + 13.25}), 93.71875/3; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A difference of nothing, or an error of nothing or everything, has no number of runs.
func TestReplicatesPanics(t *testing.T) {
	p := Pareto{Alpha: 1.5, Beta: 2}
	for _, tt := range [][2]float64{{0, 0.1}, {-1, 0.1}, {math.NaN(), 0.1}, {1, 0}, {1, 1}, {1, math.NaN()}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("difference %v, error %v: no panic", tt[0], tt[1])
				}
			}()
			p.Replicates(tt[0], tt[1])
		}()
	}
}

// The rank is the one of a normal distribution of mean mn/2 and variance mn(m+n+1)/12 above 50 values: 450 - 1.96·67.64
// for 30 and 30, 400 - 1.96·63.77 for 20 and 40, 400 - 1.645·63.77 at a tenth.
func TestSplitRankOfMany(t *testing.T) {
	for _, tt := range []struct {
		m, n  int
		alpha float64
		want  int
	}{{30, 30, 0.025, 317}, {20, 40, 0.025, 275}, {40, 20, 0.05, 295}, {1, 60, 0.001, 0}} {
		if got := splitRank(tt.m, tt.n, tt.alpha); got != tt.want {
			t.Errorf("%d and %d at %v: %d, want %d", tt.m, tt.n, tt.alpha, got, tt.want)
		}
	}
}
