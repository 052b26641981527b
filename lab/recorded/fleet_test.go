package recorded

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/internal/workereffect"
	"github.com/assay-run/assay/search"
)

// machineTable is a recorded machine: three runs of each of 120 configurations, all times a multiple.
func machineTable(t *testing.T, times func(a, b int) float64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	text := "a,b,t1,t2,t3\n"
	for a := range 12 {
		for b := range 10 {
			text += fmt.Sprintf("%d,%d", a, b)
			for range 3 {
				text += fmt.Sprintf(",%.5f", times(a, b)*math.Exp(0.003*rng.NormFloat64()))
			}
			text += "\n"
		}
	}
	rec, err := table.Read(strings.NewReader(text), table.Spec{
		File: "t.csv", Parameters: []string{"a", "b"}, Metrics: map[string][]string{"elapsed": {"t1", "t2", "t3"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// Within a class the worker as a factor makes up for a machine that is slower, and across classes runs again
// on the target make up for differences that no factor does. The values as they are do neither.
func TestRunFleet(t *testing.T) {
	like := func(a, b int) float64 { return 10 + 0.5*float64(a) + 0.2*float64(b) }
	other := func(a, b int) float64 { return 40 + 0.4*float64(a) - 2*float64(b%5) }
	first, second, third := machineTable(t, like), machineTable(t, like), machineTable(t, other)
	space, err := first.Space()
	if err != nil {
		t.Fatal(err)
	}
	rep, err := RunFleet(t.Context(), FleetOptions{
		Fleets: []Fleet{
			{"same", [][]Machine{{{"m", first, 0}, {"n", second, 1.3}}}},
			{"any", [][]Machine{{{"m", first, 0}}, {{"o", third, 0}}}},
		},
		Space: space, Goal: assay.Goal{Metric: "elapsed"}, Trials: 24, Seeds: 12,
		Methods: []bench.Method{drawnAnew},
	})
	if err != nil {
		t.Fatal(err)
	}
	behind := map[string]float64{}
	for _, r := range rep.Rows {
		behind[r.Fleet+" "+r.Arm] = r.Behind
		want := 24.0
		switch r.Arm {
		case "share":
			want = 12
		case "any": // on one class nothing lacks a run there
			want = map[string]float64{"same": 24, "any": 29}[r.Fleet]
		}
		if !(math.Abs(r.Runs-want) <= 1e-9) {
			t.Errorf("%s, %s: %v runs, want %v", r.Fleet, r.Arm, r.Runs, want)
		}
	}
	if behind["same target"] != 0 || behind["same factor"] > 0.005 || behind["same raw"] < behind["same factor"] {
		t.Errorf("one class: %v", behind)
	}
	if behind["any any"] > behind["any raw"] || behind["any any"] > 0.05 {
		t.Errorf("two classes: %v", behind)
	}
	var b strings.Builder
	if err := rep.Write(&b, report.Palette{}); err != nil || !strings.Contains(b.String(), "24 trials, 12 seeds") {
		t.Errorf("%v\n%s", err, &b)
	}
}

// drawnAnew is a method that draws configurations.
var drawnAnew = bench.Method{
	Name: "random",
	New: func(p *bench.Problem, seed uint64) (assay.Searcher, assay.Stopper, error) {
		s := search.NewRandom(p.Space, seed)
		return search.CorrectWorkers(s, workereffect.New(p.Space, "")), nil, nil
	},
}
