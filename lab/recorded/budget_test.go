package recorded

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/spec"
)

// In a budget that is enough for all configurations the answer of runs without much noise is the best; in the shortest
// budget the first configuration alone has run. Repeated runs take a part of the time, and the studies of all are those
// of the table.
func TestBudgets(t *testing.T) {
	text := "x,s\n"
	for x := range 12 {
		text += fmt.Sprintf("%d,%d\n", x, 12-x)
	}
	tab, err := table.Read(strings.NewReader(text), table.Spec{
		Parameters: []string{"x"}, Metrics: map[string][]string{"elapsed": {"s"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	space, err := tab.Space()
	if err != nil {
		t.Fatal(err)
	}
	p, err := bench.Recorded("course", tab, space, assay.Goal{Metric: "elapsed", Grows: true}, time.Second, spec.Grows)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Budgets(t.Context(), BudgetOptions{
		Problems: []bench.Problem{*p}, Tables: []*table.Table{tab}, Method: inOrder, Budgets: []float64{2, 60},
		Noise: []float64{0.001}, Within: 0.05, Seeds: 2,
	})
	if err != nil || len(r.Rows) != 4 {
		t.Fatalf("%v, %+v", err, r.Rows)
	}
	short, long := r.Rows[0], r.Rows[1]
	if short.Trials > 2 || long.Trials != 12 || long.Near != 1 || !(long.Again > 0 && long.Again < 1) {
		t.Errorf("%+v", r.Rows)
	}
	for i, row := range r.Rows[2:] {
		if row.Study = "course"; row != r.Rows[i] {
			t.Errorf("%+v of all, %+v of the table", row, r.Rows[i])
		}
	}
	if _, err := Budgets(t.Context(), BudgetOptions{Problems: []bench.Problem{*p}}); err == nil {
		t.Error("a search without a budget")
	}
}
