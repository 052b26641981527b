package pro

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay/internal/stats"
)

// bowlText is a table of 36 configurations with three runs of each, 1, 1.2 and 1.4
// times the fastest.
func bowlText() string {
	var b strings.Builder
	b.WriteString("x,y,a,b,c\n")
	for x := range 6 {
		for y := range 6 {
			f := 1 + math.Hypot(float64(x-4), float64(y-1))
			fmt.Fprintf(&b, "%d,%d,%g,%g,%g\n", x, y, f, 1.2*f, 1.4*f)
		}
	}
	return b.String()
}

func newExperiment(t *testing.T, o Options, runs ...string) (*Experiment, error) {
	t.Helper()
	if o.Simulations == 0 {
		o.Simulations = 7
	}
	o.Steps, o.Alpha, o.Seed = 40, 1.7, 1
	if o.Size == 0 {
		o.Size = 0.2
	}
	if len(runs) == 0 {
		runs = []string{"a"}
	}
	return New(readTable(t, bowlText(), runs...), seconds, o)
}

func mustRun(t *testing.T, o Options, workers int, runs ...string) []Cell {
	t.Helper()
	e, err := newExperiment(t, o, runs...)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := e.Run(t.Context(), workers, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// Fig. 9: three shapes by eleven sizes, one run of each point, without noise.
func TestSimplexCells(t *testing.T) {
	cells := mustRun(t, Options{Experiments: []string{"simplex"}}, 2)
	if len(cells) != 33 {
		t.Fatalf("%d cells, want 3 shapes of 11 sizes", len(cells))
	}
	for i, c := range cells {
		if c.Simplex != []string{"2N", "N+1", "grow"}[i/11] || c.Rho != 0 || c.Repeat != "1" || !(c.NTT >= 1) {
			t.Errorf("cell %d: %+v", i, c)
		}
		if !(math.Abs(c.Median-c.NTT) <= 1e-9) || c.CI95[1]-c.CI95[0] > 1e-9 {
			t.Errorf("cell %d differs from simulation to simulation, though nothing is random: %+v", i, c)
		}
	}
}

// Fig. 10: every number of runs for every load, in the order of the options.
func TestRepeatCells(t *testing.T) {
	loads := []float64{0, 0.3}
	cells := mustRun(t, Options{Experiments: []string{"repeat"}, Loads: loads, Repeat: []int{1, 3, 0}}, 2)
	if len(cells) != 6 {
		t.Fatalf("%d cells", len(cells))
	}
	for i, c := range cells {
		if c.Rho != loads[i/3] || c.Repeat != []string{"1", "3", "auto"}[i%3] {
			t.Errorf("cell %d: %+v", i, c)
		}
		if c.Noise != "pareto" || c.Simplex != "2N" || c.Size != 0.2 {
			t.Errorf("cell %d: %+v", i, c)
		}
	}
	if !(cells[1].NTT > cells[0].NTT) {
		t.Errorf("without noise three runs of a point (%v) cost no more than one (%v)", cells[1].NTT, cells[0].NTT)
	}
}

// Recorded noise has the load that it was recorded with, 1 - 1/mean of the multiples of
// the fastest; scaled, the load of the cell.
// Reference: equation 6
func TestRecordedNoise(t *testing.T) {
	series := Noise{Name: "file", Times: []float64{3, 6, 4.5}} // a mean multiple of 1.5
	of := Noise{Name: "table"}
	for _, tt := range []struct {
		noise Noise
		scale bool
		rho   []float64
	}{
		{series, false, []float64{1 - 1/1.5}},
		{series, true, []float64{0, 0.1}},
		{of, false, []float64{1 - 1/1.2}},
		{of, true, []float64{0, 0.1}},
	} {
		e, err := newExperiment(t, Options{
			Experiments: []string{"repeat"}, Loads: []float64{0, 0.1}, Repeat: []int{2},
			Noise: []Noise{tt.noise}, Scale: tt.scale,
		}, "a", "b", "c")
		if err != nil || len(e.cells) != len(tt.rho) {
			t.Fatalf("%+v: %d cells, %v", tt, len(e.cells), err)
		}
		for i, c := range e.cells {
			if !(math.Abs(c.Rho-tt.rho[i]) <= 1e-12) || c.Noise != tt.noise.Name {
				t.Errorf("%+v: load %v", tt, c.Rho)
			}
			multiples := c.series
			if c.table != nil {
				multiples = c.table.multiples[e.land.recorded[7].at.Key()]
			}
			if got, want := stats.Mean(multiples), 1/(1-c.Rho); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("%+v: multiples %v with the mean %v, want %v", tt, multiples, got, want)
			}
			if !(math.Abs(stats.Min(multiples)-1) <= 1e-12) {
				t.Errorf("%+v: multiples %v, of which the least is not 1", tt, multiples)
			}
		}
	}
}

// Scaling keeps the fastest run and multiplies the mean excess.
func TestScaleExcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, err := multiplesOf(rapid.SliceOfN(rapid.Float64Range(0.1, 50), 1, 20).Draw(t, "times"))
		if err != nil || stats.Min(x) != 1 {
			t.Fatalf("multiples %v, %v", x, err)
		}
		k := rapid.Float64Range(0, 10).Draw(t, "k")
		y := scaleExcess(x, k)
		if got, want := stats.Mean(y)-1, k*(stats.Mean(x)-1); stats.Min(y) != 1 || !(math.Abs(got-want) <= 1e-9*(1+want)) {
			t.Errorf("%v by %v is %v", x, k, y)
		}
	})
	if scaleExcess(nil, 2) != nil {
		t.Error("noise that is no series has become one")
	}
}

// The result does not depend on the workers, nor a cell on those beside it.
func TestRunIsDeterministic(t *testing.T) {
	o := Options{
		Experiments: []string{"repeat", "simplex"}, Loads: []float64{0.2, 0.4}, Repeat: []int{1, 0}, Simulations: 11,
	}
	want := mustRun(t, o, 1)
	for _, workers := range []int{0, 3, 20} {
		if got := mustRun(t, o, workers); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: another result", workers)
		}
	}
	o.Loads, o.Repeat, o.Experiments = []float64{0.4}, []int{0}, []string{"repeat"}
	if got := mustRun(t, o, 2)[0]; !reflect.DeepEqual(got, want[3]) {
		t.Errorf("a cell by itself is %+v, beside others %+v", got, want[3])
	}
	o.Correlated = 1
	if got := mustRun(t, o, 2)[0]; got.NTT >= want[3].NTT {
		t.Errorf("shared noise costs %v, no less than the %v of the slowest of four", got.NTT, want[3].NTT)
	}
}

func TestRunProgressAndEnd(t *testing.T) {
	e, err := newExperiment(t, Options{Experiments: []string{"simplex"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	calls := 0
	_, err = e.Run(ctx, 2, func(done, total int) {
		calls++
		if done != calls || total != 33 {
			t.Errorf("%d of %d after %d cells", done, total, calls)
		}
		if done == 2 {
			cancel(enough)
		}
	})
	if !errors.Is(err, enough) || calls != 2 {
		t.Errorf("got %v after %d cells", err, calls)
	}
}

func TestBadOptions(t *testing.T) {
	for want, o := range map[string]Options{
		`no experiment "nope"`: {Experiments: []string{"nope"}},
		"one run of each":      {Experiments: []string{"repeat"}, Noise: []Noise{{Name: "table"}}},
		"a run time of 0":      {Experiments: []string{"repeat"}, Noise: []Noise{{Name: "f", Times: []float64{1, 0}}}},
		"no noise to scale": {
			Experiments: []string{"repeat"}, Noise: []Noise{{Name: "f", Times: []float64{2, 2}}}, Scale: true,
		},
	} {
		if _, err := newExperiment(t, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %q", err, want)
		}
	}
}

// The least of a noise is among the fixed numbers of runs of that noise and load.
func TestLeast(t *testing.T) {
	cells := []Cell{
		{Noise: "a", Rho: 0.1, Repeat: "1", NTT: 3},
		{Noise: "a", Rho: 0.1, Repeat: "2", NTT: 2},
		{Noise: "a", Rho: 0.1, Repeat: "auto", NTT: 1},
		{Noise: "a", Rho: 0.2, Repeat: "1", NTT: 5},
		{Noise: "b", Rho: 0.1, Repeat: "1", NTT: 1.5},
	}
	for i, want := range []bool{false, true, false, true, true} {
		if got := Least(cells, i); got != want {
			t.Errorf("cell %d: %v", i, got)
		}
	}
}

// The names of the fields are a contract.
func TestCellJSON(t *testing.T) {
	o := Options{Experiments: []string{"repeat"}, Loads: []float64{0.2}, Repeat: []int{0}}
	text, err := json.Marshal(mustRun(t, o, 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"experiment", "simplex", "size", "noise", "rho", "repeat", "ntt", "ci95", "median"} {
		if !strings.Contains(string(text), `"`+name+`":`) {
			t.Errorf("%s has no %q", text, name)
		}
	}
	if strings.Contains(string(text), "series") {
		t.Errorf("%s says too much", text)
	}
}
