package bench

import (
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/report"
)

// A method that learns nothing asks for the same with several runs at once, in less time: runs are counted as they were asked
// for, and the time is that of the clock. The good one is a quick one, which ends first of those at once.
func TestParallel(t *testing.T) {
	c := course{truth: []float64{9, 9, 8, 7, 7, 6, 5, 4, 4, 1, 3, 2}, length: []int{4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 4, 4}}
	for _, tt := range []struct {
		trials, reached         int
		runs, half, error, time float64 // time is the share of that of one at a time
	}{
		{12, 2, 10, 5, 0, 10.0 / 38},
		{6, 0, 6, 7, 5, 8.0 / 24},
	} {
		r, err := Parallel(t.Context(), ParallelOptions{
			Problems: []Problem{c.problem(t, "course")}, Method: inOrder, Runs: 4, Within: 0.5, Trials: tt.trials, Seeds: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		want := ParallelSearch{Reached: tt.reached, Runs: tt.runs, Half: tt.half, Error: tt.error}
		row := r.Rows[0]
		if row.One != want || row.Many != want {
			t.Errorf("%d trials: %+v, want %+v of both", tt.trials, row, want)
		}
		if row.Runs != 1 || r.Runs != 1 || math.Abs(row.Time-tt.time) > 1e-9 || math.Abs(r.Time-tt.time) > 1e-9 {
			t.Errorf("%d trials: %v times the runs, %v of the time, want 1 and %v", tt.trials, row.Runs, row.Time, tt.time)
		}
		var b strings.Builder
		if err := r.Write(&b, report.Palette{}); err != nil || !strings.Contains(b.String(), "all, in order, within 50.0 %") {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
	if _, err := Parallel(t.Context(), ParallelOptions{Problems: []Problem{c.problem(t, "c")}, Method: inOrder, Runs: 1}); err == nil {
		t.Error("one run at once is compared with itself")
	}
}
