package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/table"
)

// lucky is a table of repeated runs: one in four of the first row is much faster than its true time.
func lucky(t *testing.T) Problem {
	t.Helper()
	rec, err := table.Read(strings.NewReader("a,t1,t2,t3,t4\n1,1,10,10.1,10.2\n2,4,4.1,4.2,4.3\n3,9,9.1,9.2,9.3\n"),
		table.Spec{
			File: "t.csv", Parameters: []string{"a"}, Metrics: map[string][]string{"elapsed": {"t1", "t2", "t3", "t4"}},
		})
	if err != nil {
		t.Fatal(err)
	}
	space, err := rec.Space()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Recorded("lucky", rec, space, assay.Goal{Metric: "elapsed"}, time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	return *p
}

// With a race, a configuration that was lucky once is not the answer. Without one it is, in one seed of four. The test
// judges the recommendation of each within the same time.
func TestRace(t *testing.T) {
	r := mustRun(t, Options{
		Problems: []Problem{lucky(t)}, Methods: []Method{inOrder}, Budgets: []Budget{seconds(400), seconds(200)},
		Seeds: 40, First: 5, Race: 1,
	})
	if len(r.Raced) != 4 || r.Raced[0].Study != "lucky" || r.Raced[1].Study != "" || len(r.Rows) != 4 {
		t.Fatalf("%d comparisons, %d rows", len(r.Raced), len(r.Rows))
	}
	for _, c := range r.Raced {
		if c.Near != 1 || c.Without > 0.9 || c.Without < 0.5 {
			t.Errorf("within 2 %%: %v with, %v without", c.Near, c.Without)
		}
		if c.Mean >= 0 || c.CI95[1] >= 0 || c.Worse != 0 || c.Better+c.Equal != 40 || c.Better == 0 {
			t.Errorf("compared: %+v", c)
		}
	}
	for _, row := range r.Rows {
		if row.Spent > row.Budget.Seconds {
			t.Errorf("%s: %v s spent of %v", row.Method, row.Spent, row.Budget.Seconds)
		}
	}
	var b strings.Builder
	if err := r.Write(&b, report.Palette{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "with the race  method    budget      worse by %") {
		t.Errorf("got\n%s", b.String())
	}
}

// Budgets of a race count time, since it makes more runs than there are trials.
func TestRaceOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"trials":      {Budgets: []Budget{trials(3)}, Race: 1},
		"a curve":     {Budgets: []Budget{seconds(3)}, Race: 1, Curve: true},
		"less than 0": {Budgets: []Budget{seconds(3)}, Race: -1},
	} {
		o.Problems, o.Methods, o.Seeds = []Problem{lucky(t)}, []Method{inOrder}, 1
		if _, err := Run(t.Context(), o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
