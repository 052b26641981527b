package model

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// referenceFile opens a file of the reference data, which are no part of the
// repository but lie in $ASSAY_DATA_REFERENCE or ../shared/reference beside it, or
// skips.
func referenceFile(tb testing.TB, path ...string) *os.File {
	tb.Helper()
	dir := os.Getenv("ASSAY_DATA_REFERENCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "reference")
	}
	f, err := os.Open(filepath.Join(append([]string{dir}, path...)...))
	if err != nil {
		tb.Skipf("SKIPPED: no reference data (set ASSAY_DATA_REFERENCE): %v", err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

// recorded reads a table of 25 features and a run time from the reference data
// and returns the features and the logarithm of the time.
func recorded(tb testing.TB, name string) (X [][]float64, y []float64) {
	tb.Helper()
	lines, err := csv.NewReader(referenceFile(tb, "aft", "data", name)).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := make([]float64, 26)
		for j := range row {
			if row[j], err = strconv.ParseFloat(line[j], 64); err != nil {
				tb.Fatal(err)
			}
		}
		X, y = append(X, row[:25:25]), append(y, math.Log(row[25]))
	}
	return X, y
}

// The quality on the holdout equals the quality of scikit-learn's RandomForestRegressor with its
// defaults: R² of the logarithm within two standard deviations (over seeds) of its mean, and the
// disagreement of the trees within 5 %.
func TestForestReference(t *testing.T) {
	var refs []struct {
		N   int     `json:"n"`
		R2  float64 `json:"r2"`
		SD  float64 `json:"r2_sd"`
		Std float64 `json:"median_tree_std"`
	}
	if err := json.NewDecoder(referenceFile(t, "forest", "ref_rf.json")).Decode(&refs); err != nil {
		t.Fatal(err)
	}
	H, hy := recorded(t, "holdout.csv")
	out := make([]assay.Prediction, len(H))
	for _, ref := range refs {
		X, y := recorded(t, fmt.Sprintf("train_%d.csv", ref.N))
		seeds := 10
		if ref.N > 100 && !testbed.IsSystem() {
			seeds = 1
		}
		var r2, std float64
		for seed := range seeds {
			p := mustFit(t, Forest{Seed: uint64(seed)}, assay.Data{X: X, Y: y})
			assay.PredictAll(p, H, out)
			stds := make([]float64, len(out))
			for i, q := range out {
				stds[i] = q.Std
			}
			slices.Sort(stds)
			r2 += rSquared(hy, out) / float64(seeds)
			std += stds[len(stds)/2] / float64(seeds)
		}
		t.Logf("n = %d: R² %.4f (scikit-learn %.4f ± %.4f), median std %.4f (%.4f)",
			ref.N, r2, ref.R2, ref.SD, std, ref.Std)
		if !(math.Abs(r2-ref.R2) <= 2*ref.SD) {
			t.Errorf("n = %d: R² %v, want %v ± %v", ref.N, r2, ref.R2, 2*ref.SD)
		}
		if !(math.Abs(std-ref.Std) <= 0.05*ref.Std) {
			t.Errorf("n = %d: median std %v, want %v within 5 %%", ref.N, std, ref.Std)
		}
	}
}

func rSquared(y []float64, p []assay.Prediction) float64 {
	m := mean(y)
	var residual, total float64
	for i, v := range y {
		residual += (v - p[i].Mean) * (v - p[i].Mean)
		total += (v - m) * (v - m)
	}
	return 1 - residual/total
}

func BenchmarkForestFit(b *testing.B) {
	for _, c := range []struct {
		name  string
		n     int
		learn Forest
	}{
		{"n=20", 20, Forest{}},
		{"n=100", 100, Forest{}},
		{"n=500", 500, Forest{}},
		{"n=2000", 2000, Forest{}},
		{"quick/n=100", 100, Forest{Trees: 30, MaxFeatures: 8, MinLeaf: 3}},
		{"quick/n=1000", 1000, Forest{Trees: 30, MaxFeatures: 8, MinLeaf: 3}},
	} {
		b.Run(c.name, func(b *testing.B) {
			X, y := recorded(b, "train_2000.csv")
			d := assay.Data{X: X[:c.n], Y: y[:c.n]}
			for b.Loop() {
				mustFit(b, c.learn, d)
			}
		})
	}
}

func BenchmarkForestPredict(b *testing.B) {
	C, _ := recorded(b, "candidates_2000.csv")
	out := make([]assay.Prediction, len(C))
	for _, n := range []int{100, 2000} {
		X, y := recorded(b, fmt.Sprintf("train_%d.csv", n))
		p := mustFit(b, Forest{}, assay.Data{X: X, Y: y})
		b.Run(fmt.Sprintf("batch/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				assay.PredictAll(p, C, out)
			}
		})
		b.Run(fmt.Sprintf("one/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				p.Predict(C[0])
			}
		})
	}
}
