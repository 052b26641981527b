package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay/internal/stats"
)

// The rows of Table 3 that are printed: 1, 2, 3, 15 and 16 of the design with
// foldover for N = 7.
// Reference: Shivam, Babu and Chase 2006, appendix A, Table 3
func TestPlackettBurmanTable3(t *testing.T) {
	rows := stats.Foldover(stats.PlackettBurman(7))
	if len(rows) != 16 {
		t.Fatalf("%d rows, want 16", len(rows))
	}
	for i, want := range map[int][]int{
		1:  {1, 1, 1, -1, 1, -1, -1},
		2:  {-1, 1, 1, 1, -1, 1, -1},
		3:  {-1, -1, 1, 1, 1, -1, 1},
		15: {-1, -1, 1, -1, 1, 1, -1},
		16: {1, 1, 1, 1, 1, 1, 1},
	} {
		if got := rows[i-1]; !slices.Equal(got, want) {
			t.Errorf("row %d: got %v, want %v", i, got, want)
		}
	}
	// "the effect of parameter X_1 is |y_1 - y_2 - y_3| ... - y_15 + y_16"
	y := make([]float64, 16)
	y[0], y[1], y[2], y[14], y[15] = 1, 20, 300, 4000, 50000
	if got, want := stats.Effects(rows, y)[0], 1.0-20-300-4000+50000; got != want {
		t.Errorf("effect of X_1: got %v, want %v", got, want)
	}
}

// Three attributes take 4 rows, and "NIMO performs eight runs" with foldover.
// Reference: section 3.2
func TestPlackettBurmanEightRuns(t *testing.T) {
	rows := stats.Foldover(stats.PlackettBurman(3))
	want := [][]int{{1, 1, -1}, {-1, 1, 1}, {1, -1, 1}, {-1, -1, -1}, {-1, -1, 1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, 1}}
	if !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("got %v, want %v", rows, want)
	}
}

// Every column is balanced and orthogonal to every other, the last row is low,
// and the number of rows is the next multiple of 4 where it can be.
func TestPlackettBurmanIsOrthogonal(t *testing.T) {
	larger := 0
	for n := 1; n <= 160; n++ {
		rows := stats.PlackettBurman(n)
		if len(rows)%4 != 0 || len(rows) <= n || len(rows) != stats.PlackettBurmanOrder(n) {
			t.Fatalf("n = %d: %d rows", n, len(rows))
		}
		if len(rows) != (n/4+1)*4 {
			larger++
		}
		if n < 48 && len(rows) != (n/4+1)*4 {
			t.Errorf("n = %d: %d rows, want %d", n, len(rows), (n/4+1)*4)
		}
		for j := range n {
			if rows[len(rows)-1][j] != -1 {
				t.Fatalf("n = %d: the last row has %d in column %d", n, rows[len(rows)-1][j], j)
			}
			for k := j; k < n; k++ {
				dot, sum := 0, 0
				for _, r := range rows {
					dot += r[j] * r[k]
					sum += r[j]
				}
				if sum != 0 || j != k && dot != 0 || j == k && dot != len(rows) {
					t.Fatalf("n = %d: columns %d and %d: sum %d, product %d", n, j, k, sum, dot)
				}
			}
		}
	}
	if larger > 20 {
		t.Errorf("%d of 160 designs are larger than they need be", larger)
	}
}

// With foldover, products of two factors leave the effects of single ones as
// they are: y = 5·x_2 + 3·x_5 - x_1 has effects in that order, whatever the pairs.
func TestFoldoverFreesMainEffects(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{6, 11, 27} {
		rows := stats.Foldover(stats.PlackettBurman(n))
		weight := make([]float64, n*n)
		for i := range weight {
			weight[i] = rng.NormFloat64() * 10
		}
		y := make([]float64, len(rows))
		for i, r := range rows {
			y[i] = 7 + 5*float64(r[2]) + 3*float64(r[5]) - float64(r[1])
			for j := range n {
				for k := range j {
					y[i] += weight[j*n+k] * float64(r[j]*r[k])
				}
			}
		}
		effects := stats.Effects(rows, y)
		for j, e := range effects {
			want := map[int]float64{2: 5, 5: 3, 1: 1}[j] * float64(len(rows))
			if !(math.Abs(e-want) <= 1e-6) {
				t.Errorf("n = %d: effect %d is %v, want %v", n, j, e, want)
			}
		}
		if got := stats.RankEffects(effects)[:3]; !slices.Equal(got, []int{2, 5, 1}) {
			t.Errorf("n = %d: ranks %v", n, got)
		}
	}
}

func TestRankEffects(t *testing.T) {
	if got, want := stats.RankEffects([]float64{1, math.NaN(), 3, 1, 0}), []int{2, 0, 3, 4, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
