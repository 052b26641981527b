package recorded

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/search"
)

// A course is a simulated study of one parameter x = 0, 1, ...: the cost of each configuration, and how many seconds
// its runs take.
type course struct {
	truth  []float64
	length []int
}

// problem returns the course as a problem.
func (c course) problem(t *testing.T, name string) bench.Problem {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 0, Hi: float64(len(c.truth) - 1)}})
	if err != nil {
		t.Fatal(err)
	}
	return bench.Problem{
		Name: name, Space: space, Goal: assay.Goal{Metric: "cost"},
		Worst: slices.Max(c.truth), Optimum: slices.Min(c.truth),
		True: func(x assay.Config) (float64, bool) { return c.truth[int(x[0])], true },
		Replay: func(uint64) (assay.Runner, assay.Clock) {
			clock := &table.SimClock{}
			return bench.Simulate(clock, func(x assay.Config) assay.Measurement {
				return assay.Measurement{
					Elapsed: time.Duration(c.length[int(x[0])]) * time.Second,
					Metrics: map[string]float64{"cost": c.truth[int(x[0])]},
				}
			}), clock
		},
	}
}

// inOrder is a method that proposes x = 0, 1, 2, ...
var inOrder = bench.Method{
	Name: "in order",
	New: func(p *bench.Problem, _ uint64) (assay.Searcher, assay.Stopper, error) {
		return search.NewGrid(p.Space, search.GridOptions{}), nil, nil
	},
}

// A method that learns nothing asks for the same with several runs at once, in less time: runs are counted as they were
// asked for, and the time is by the clock. The good one is a quick one, which ends first of those at once.
func TestParallel(t *testing.T) {
	c := course{truth: []float64{9, 9, 8, 7, 7, 6, 5, 4, 4, 1, 3, 2}, length: []int{4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 4, 4}}
	for _, tt := range []struct {
		trials, reached         int
		runs, half, error, time float64 // time is a share of the time of one at a time
	}{
		{12, 2, 10, 5, 0, 10.0 / 38},
		{6, 0, 6, 7, 5, 8.0 / 24},
	} {
		r, err := Parallel(t.Context(), ParallelOptions{
			Problems: []bench.Problem{c.problem(t, "course")}, Method: inOrder, Runs: 4, Within: 0.5, Trials: tt.trials,
			Seeds: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		want := ParallelSearch{Reached: tt.reached, Runs: tt.runs, Half: tt.half, Error: tt.error}
		row := r.Rows[0]
		if row.One != want || row.Many != want || row.Blind != want {
			t.Errorf("%d trials: %+v, want %+v of all three", tt.trials, row, want)
		}
		if row.Runs != 1 || r.Runs != 1 || !(math.Abs(row.Time-tt.time) <= 1e-9) || !(math.Abs(r.Time-tt.time) <= 1e-9) {
			t.Errorf("%d trials: %v times the runs, %v of the time, want 1 and %v", tt.trials, row.Runs, row.Time, tt.time)
		}
		var b strings.Builder
		if err := r.Write(&b, report.Palette{}); err != nil || !strings.Contains(b.String(), "all, in order, within 50.0 %") {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
	if _, err := Parallel(t.Context(),
		ParallelOptions{Problems: []bench.Problem{c.problem(t, "c")}, Method: inOrder, Runs: 1}); err == nil {
		t.Error("one run at once is compared with itself")
	}
}

// A counting searcher keeps how many results it had at each proposal. It makes at most most of them without one.
type counting struct {
	most, told int
	at         []int
}

func (c *counting) Ask(int) ([]assay.Proposal, error) {
	if len(c.at)-c.told >= c.most {
		return nil, nil
	}
	c.at = append(c.at, c.told)
	return []assay.Proposal{{ID: int64(len(c.at))}}, nil
}

func (c *counting) Tell(trials ...assay.Trial) error {
	c.told += len(trials)
	return nil
}

// A blind search knows no result while it makes its first proposals, and each one afterwards. One that cannot propose
// without a result gets those that are there.
func TestBlind(t *testing.T) {
	for most, want := range map[int][]int{9: {0, 0, 0, 0, 4, 5}, 2: {0, 0, 2, 3, 4, 5}} {
		c := &counting{most: most}
		m := blindly(bench.Method{New: func(*bench.Problem, uint64) (assay.Searcher, assay.Stopper, error) {
			return c, nil, nil
		}}, 4)
		s, _, err := m.New(nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		for range want {
			ps, err := s.Ask(1)
			if err != nil || len(ps) != 1 {
				t.Fatalf("%v, %v", ps, err)
			}
			if err := s.Tell(assay.Trial{Proposal: ps[0]}); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(c.at, want) {
			t.Errorf("at most %d without a result: it knew %v, want %v", most, c.at, want)
		}
	}
}
