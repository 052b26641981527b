package bench

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/table"
)

// Errors are in per cent, budgets in their own units.
func TestReportForPeople(t *testing.T) {
	r := Report{
		Studies: []string{"a", "b"}, Seeds: 3,
		Rows: []Row{
			{
				Study: "a", Method: "rs", Budget: BudgetAt{Kind: "trials", Value: 20},
				Mean: 0.123, CI95: [2]float64{0.1, 0.15}, Median: 0.12,
				Trials: 20, Completed: 19.5, OverheadMSPerTrial: 0.256,
			},
			{Study: "b", Method: "rs", Budget: BudgetAt{Kind: "budget-x", Value: 1.5}},
			{Study: "b", Method: "rs", Budget: BudgetAt{Kind: "budget", Value: 90}},
		},
		Geomean: []Geomean{{
			Method: "rs", Budget: BudgetAt{Kind: "trials", Value: 20}, RE: 0.05, CI95: [2]float64{0.04, 0.06},
		}},
	}
	var b strings.Builder
	if err := r.Write(&b, report.Palette{}); err != nil {
		t.Fatal(err)
	}
	want := `study  method  budget        error %  95 %         median %  trials  completed  overhead ms
a      rs      20 trials        12.3  10.0 – 15.0      12.0    20.0       19.5         0.26
b      rs      1.5 × median      0.0  0.0 – 0.0         0.0     0.0        0.0         0.00
b      rs      1 min 30 s        0.0  0.0 – 0.0         0.0     0.0        0.0         0.00

geometric mean      method  budget     error %  95 %
2 studies, 3 seeds  rs      20 trials      5.0  4.0 – 6.0
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// The optimum and the worst are of the feasible rows; a goal to maximize turns them.
func TestRecorded(t *testing.T) {
	rec, err := table.Read(strings.NewReader("a,t,p\n1,4,1\n2,2,2\n3,1,9\n4,8,3\n"), table.Spec{
		File: "t.csv", Parameters: []string{"a"}, Metrics: map[string][]string{"elapsed": {"t"}, "power": {"p"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	space, err := rec.Space()
	if err != nil {
		t.Fatal(err)
	}
	limit := assay.Limit{Text: "power <= 5", Holds: func(metric func(string) (float64, bool)) (bool, error) {
		power, _ := metric("power")
		return power <= 5, nil
	}}
	grows := func(string) bool { return false }
	p, err := Recorded("x", rec, space, assay.Goal{Metric: "elapsed", Limits: []assay.Limit{limit}}, time.Second, grows)
	if err != nil || p.Name != "x" || p.Optimum != 2 || p.Worst != 8 || p.Interval != time.Second {
		t.Errorf("got %+v, %v", p, err)
	}
	p, err = Recorded("x", rec, space, assay.Goal{Metric: "elapsed", Maximize: true}, 0, grows)
	if err != nil || p.Optimum != -8 || p.Worst != -1 {
		t.Errorf("maximized: %+v, %v", p, err)
	}
	if _, err := Recorded("x", rec, space, assay.Goal{Metric: "speed"}, 0, grows); !errors.Is(err, assay.ErrEmpty) {
		t.Errorf("no row is feasible: %v", err)
	}
}
