package cello

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stop"
)

// problem returns a table of n·10 configurations, whose runs take longer the greater the
// first parameter is; the second one has no effect.
func problem(t *testing.T, n int) bench.Problem {
	t.Helper()
	var csv strings.Builder
	csv.WriteString("a,b,t\n")
	for a := range n {
		for b := range 10 {
			csv.WriteString(strings.Join([]string{
				assay.FormatNumber(float64(a)), assay.FormatNumber(float64(b)),
				assay.FormatNumber(math.Round(10 * math.Exp(float64(a)/8))),
			}, ",") + "\n")
		}
	}
	rec, err := table.Read(strings.NewReader(csv.String()), table.Spec{
		File: "t.csv", Parameters: []string{"a", "b"}, Metrics: map[string][]string{"elapsed": {"t"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	space, err := rec.Space()
	if err != nil {
		t.Fatal(err)
	}
	p, err := bench.Recorded("t", rec, space, assay.Goal{Metric: "elapsed", Grows: true}, 2*time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	return *p
}

// An oracle predicts the value that a run ends at, plus off; it never stops one. It takes
// a tenth of a second to decide.
type oracle struct {
	truth func(assay.Config) (float64, bool)
	off   float64
}

func (o oracle) Decide(_ []assay.Trial, running assay.Trial) assay.Decision {
	time.Sleep(100 * time.Millisecond)
	v, _ := o.truth(running.Config)
	return assay.Decision{Predicted: v + o.off}
}

// A slow searcher takes 3 s for each trial.
type slow struct{ assay.Searcher }

func (s slow) Tell(ts ...assay.Trial) error {
	time.Sleep(3 * time.Second)
	return s.Searcher.Tell(ts...)
}

func method(name string, off float64) bench.Method {
	return bench.Method{Name: name, New: func(p *bench.Problem, seed uint64) (assay.Searcher, assay.Stopper, error) {
		var rule assay.Stopper = oracle{p.True, off}
		if name == "none" {
			rule = nil
		}
		return slow{search.NewRandom(p.Space, seed)}, rule, nil
	}}
}

func options(t *testing.T, experiments ...string) Options {
	return Options{
		Experiments: experiments, Problems: []bench.Problem{problem(t, 10)}, BudgetX: 10, Seeds: 2,
		Methods: []bench.Method{method("exact", 0), method("off", 3), method("blind", math.NaN()), method("none", 0)},
	}
}

// The error is of the predictions, and the overhead of the searcher and the rule,
// apart: each is known here. A rule that predicts nothing has no error.
func TestErrorAndOverhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows, err := Run(t.Context(), options(t, "overhead", "error"))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range rows {
			names = append(names, r.Experiment+" "+r.Method)
		}
		want := []string{"error exact", "error off", "overhead exact", "overhead off", "overhead blind", "overhead none"}
		if !slices.Equal(names, want) {
			t.Fatalf("rows %q, want %q", names, want)
		}
		exact, off := rows[0], rows[1]
		if exact.MSE != 0 || !(math.Abs(off.MSE-9) <= 1e-9) || off.Predictions != exact.Predictions || off.Predictions < 50 {
			t.Errorf("errors %+v and %+v, want 0 and 9", exact, off)
		}
		if !(math.Abs(off.CI95[0]-9) <= 1e-9) || !(math.Abs(off.CI95[1]-9) <= 1e-9) {
			t.Errorf("interval %v of an error that is always 9", off.CI95)
		}
		for _, r := range rows[2:] {
			// A run of 10 to 31 s is decided about 4 to 15 times; the last one may be cut.
			if !(math.Abs(r.LearningMS-3000) <= 1e-6) || r.OverheadMS != r.LearningMS+r.DecidingMS {
				t.Errorf("%s: %+v, want 3 s for a trial", r.Method, r)
			}
			if none := r.Method == "none"; none != (r.DecidingMS == 0) || !none && (r.DecidingMS < 400 || r.DecidingMS > 1500) {
				t.Errorf("%s: %v ms for decisions", r.Method, r.DecidingMS)
			}
		}
	})
}

// Regressions that know the same trials are asked about the same runs. Standard
// regression knows not how far a run has come; the censored one does, and its error
// changes on the way.
func TestSame(t *testing.T) {
	rows, err := Run(t.Context(), options(t, "same"))
	if err != nil || len(rows) != len(regressions) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, r := range rows {
		if r.Method != regressions[i].name || r.Predictions != 2*probes*tenths || len(r.Parts) != tenths {
			t.Fatalf("row %+v", r)
		}
		sum := 0.0
		for _, x := range r.Parts {
			sum += x / tenths
		}
		if !(math.Abs(sum-r.MSE) <= 1e-9*sum) {
			t.Errorf("%s: tenths have a mean of %v, all %v", r.Method, sum, r.MSE)
		}
		still := slices.Max(r.Parts) == slices.Min(r.Parts)
		if want := r.Method == "standard"; still != want {
			t.Errorf("%s: errors %v", r.Method, r.Parts)
		}
	}
	// Early, a start from 0.5 predicts far too little, and a start from the mean does not.
	if !(rows[2].Parts[0] > 2*rows[1].Parts[0]) {
		t.Errorf("after a tenth of a run: %v from 0.5, %v from the mean", rows[2].Parts[0], rows[1].Parts[0])
	}
}

// Cello's own methods come through the same door as any: their rules predict.
func TestErrorOfTheRules(t *testing.T) {
	o := options(t, "error")
	cello := func(p *bench.Problem, seed uint64) (assay.Searcher, assay.Stopper, error) {
		return search.NewRandom(p.Space, seed), stop.NewPredictive(p.Space, stop.PredictiveOptions{After: 5}), nil
	}
	o.Methods = []bench.Method{{Name: "cello", New: cello}}
	rows, err := Run(t.Context(), o)
	if err != nil || len(rows) != 1 || !(rows[0].MSE > 0) || rows[0].Predictions == 0 {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestErrors(t *testing.T) {
	o := options(t, "error", "figure")
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), `no experiment "figure"`) {
		t.Errorf("unknown experiment: %v", err)
	}
	o = options(t, "error")
	o.Methods = o.Methods[2:]
	synctest.Test(t, func(t *testing.T) {
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no method predicted") {
			t.Errorf("nothing is predicted: %v", err)
		}
	})
	broken := errors.New("broken")
	for _, name := range []string{"error", "same"} {
		o = options(t, name)
		o.Problems[0].Replay = func(uint64) (assay.Runner, assay.Clock) {
			clock := &table.SimClock{}
			return failing{broken}, clock
		}
		synctest.Test(t, func(t *testing.T) {
			_, err := Run(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), "seed 1: ") || !errors.Is(err, broken) {
				t.Errorf("%s of a runner that is broken: %v", name, err)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Run(context.Context, assay.Job, func(assay.Measurement)) (assay.Measurement, error) {
	return assay.Measurement{}, assay.Errorf(assay.ClassUsage, "%w: %w", assay.ErrSetup, f.err)
}

// Errors are shown as multiples of the first method's, and the last lines have the
// means over the studies: geometric ones of multiples, arithmetic ones of times.
func TestWrite(t *testing.T) {
	parts := func(x float64) []float64 { return slices.Repeat([]float64{x}, tenths) }
	rows := []Row{
		{Experiment: "error", Study: "a", Method: "bo-gb", MSE: 10, CI95: [2]float64{9, 11}, Predictions: 7},
		{Experiment: "error", Study: "a", Method: "cello", MSE: 5, CI95: [2]float64{4, 6}, Predictions: 8},
		{Experiment: "error", Study: "b", Method: "bo-gb", MSE: 1, Predictions: 9},
		{Experiment: "error", Study: "b", Method: "cello", MSE: 8, Predictions: 9},
		{Experiment: "same", Study: "a", Method: "standard", MSE: 4, Parts: parts(4)},
		{Experiment: "same", Study: "a", Method: "censored", MSE: 1, Parts: parts(2)},
		{Experiment: "overhead", Study: "a", Method: "bo", Trials: 3, OverheadMS: 4, LearningMS: 3, DecidingMS: 1},
		{Experiment: "overhead", Study: "b", Method: "bo", Trials: 3, OverheadMS: 8, LearningMS: 5, DecidingMS: 3},
	}
	var b strings.Builder
	if err := Write(rows, &b, report.Palette{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"a bo-gb 7 10 9 – 11 1", "a cello 8 5 4 – 6 0.5", "b cello 9 8 0 – 0 8", "geometric mean bo-gb 1",
		"geometric mean cello 2", "a censored 1 0.25 0.5 0.5 0.5", "geometric mean censored 0.25 0.5",
		"b bo 3 8 0 – 0 5 3", "mean bo 6 4 2",
	} {
		found := false
		for line := range strings.Lines(b.String()) {
			found = found || strings.HasPrefix(strings.Join(strings.Fields(line), " "), want)
		}
		if !found {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
}
