package model

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// TestForestSpeed compares with scikit-learn on the same machine, in one run:
// the least of several times each. The limits are those that Bayesian
// optimization was designed with: of scikit-learn's time in one thread, 1/8 to
// fit 100 examples and 1/4 to fit 2,000 (half of two threads'), and 1/3 to
// predict 2,000 rows.
func TestForestSpeed(t *testing.T) {
	if os.Getenv("ASSAY_SOAK") == "" {
		t.Skip("SKIPPED: takes a minute, set ASSAY_SOAK=1")
	}
	candidates := referenceFile(t, "aft", "data", "candidates_2000.csv").Name()
	C, _ := recorded(t, "candidates_2000.csv")
	out := make([]assay.Prediction, len(C))
	for _, c := range []struct {
		n, repeat    int
		fit, predict float64
	}{{100, 50, 1.0 / 8, 1.0 / 3}, {2000, 5, 1.0 / 4, 1.0 / 3}} {
		name := fmt.Sprintf("train_%d.csv", c.n)
		train := referenceFile(t, "aft", "data", name).Name()
		text, err := exec.Command(cmp.Or(os.Getenv("ASSAY_PYTHON"), "python3"),
			"testdata/sklearn_forest.py", train, candidates).Output()
		if err != nil {
			t.Skipf("SKIPPED: no python3 with scikit-learn: %v", err)
		}
		var fit, predict float64 // ms
		if _, err := fmt.Sscan(string(text), &fit, &predict); err != nil {
			t.Fatal(err)
		}
		X, y := recorded(t, name)
		var p assay.Predictor
		ourFit := leastTime(c.repeat, func() { p = mustFit(t, Forest{}, assay.Data{X: X, Y: y}) })
		ourPredict := leastTime(100, func() { assay.PredictAll(p, C, out) })
		t.Logf("n = %d: fit %.2f ms, %.3f of %.1f; predict %.2f ms, %.3f of %.2f",
			c.n, ourFit, ourFit/fit, fit, ourPredict, ourPredict/predict, predict)
		if ourFit > c.fit*fit {
			t.Errorf("n = %d: fit takes %.3f of scikit-learn's time, want %.3f", c.n, ourFit/fit, c.fit)
		}
		if ourPredict > c.predict*predict {
			t.Errorf("n = %d: prediction takes %.3f of scikit-learn's time, want %.3f", c.n, ourPredict/predict, c.predict)
		}
	}
}

// leastTime returns the least time of f in ms.
func leastTime(repeat int, f func()) float64 {
	least := time.Duration(1<<63 - 1)
	for range repeat {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least.Seconds() * 1e3
}
