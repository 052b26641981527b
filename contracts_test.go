package assay_test

import (
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/google/go-cmp/cmp"
)

// plain is a searcher without abilities; hinted has one.
type plain struct{}

func (plain) Ask(int) ([]assay.Proposal, error) { return nil, assay.ErrDone }
func (plain) Tell(...assay.Trial) error         { return nil }

type hinted struct{ plain }

func (hinted) Hint(func(assay.Config) float64) {}

// wrap is a wrapper that leaves every ability to the inner searcher. It has Narrow itself
// if the inner searcher has it, unless it ends the ability.
type wrap struct {
	assay.Searcher
	ends bool
}

func (w wrap) Unwrap() assay.Searcher         { return w.Searcher }
func (w wrap) Narrow(func(assay.Config) bool) {}
func (w wrap) Hides(ability any) bool {
	if _, is := ability.(*assay.Hinter); is {
		return w.ends
	}
	return assay.HidesWith[assay.Narrower](ability, w.Searcher)
}

type narrowed struct{ plain }

func (narrowed) Narrow(func(assay.Config) bool) {}

func TestAs(t *testing.T) {
	for _, tt := range []struct {
		name           string
		s              assay.Searcher
		hints, narrows bool
	}{
		{"nothing", nil, false, false},
		{"no ability", plain{}, false, false},
		{"its own", hinted{}, true, false},
		{"through two wrappers", wrap{wrap{hinted{}, false}, false}, true, false},
		{"ended by the outer one", wrap{wrap{hinted{}, false}, true}, false, false},
		{"ended by the inner one", wrap{wrap{hinted{}, true}, false}, false, false},
		{"methods of a wrapper of one that lacks it", wrap{plain{}, false}, false, false},
		{"methods of a wrapper of one that has it", wrap{narrowed{}, false}, false, true},
		{"the same, deeper", wrap{wrap{narrowed{}, false}, false}, false, true},
	} {
		if _, ok := assay.As[assay.Hinter](tt.s); ok != tt.hints {
			t.Errorf("%s: a hinter: %v, want %v", tt.name, ok, tt.hints)
		}
		n, ok := assay.As[assay.Narrower](tt.s)
		if ok != tt.narrows {
			t.Errorf("%s: a narrower: %v, want %v", tt.name, ok, tt.narrows)
		}
		if w, outer := tt.s.(wrap); ok && outer && n != assay.Narrower(w) {
			t.Errorf("%s: the ability is that of %T, want the outermost", tt.name, n)
		}
	}
}

func TestDataRows(t *testing.T) {
	d := assay.Data{X: [][]float64{{0}, {1}, {2}}, Y: []float64{10, 11, 12}, Censored: []bool{false, true, false}}
	got := d.Rows([]int{2, 1, 1})
	want := assay.Data{X: [][]float64{{2}, {1}, {1}}, Y: []float64{12, 11, 11}, Censored: []bool{false, true, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got.Y[0], got.Censored[0] = 99, true
	if d.Y[2] != 12 || d.Censored[2] {
		t.Error("a change of what Rows returned is seen in the data")
	}
	d.Censored = nil
	if got := d.Rows([]int{0}); got.Censored != nil {
		t.Errorf("without censored examples: got %v, want nil", got.Censored)
	}
}

// double predicts twice the first feature; batch does so for many rows, and counts.
type double struct{}

func (double) Predict(x []float64) assay.Prediction {
	return assay.Prediction{Mean: 2 * x[0], Std: math.NaN()}
}

type batch struct {
	double
	calls *int
}

func (b batch) PredictBatch(X [][]float64, out []assay.Prediction) {
	*b.calls++
	for i, x := range X {
		out[i] = b.Predict(x)
	}
}

func TestPredictAll(t *testing.T) {
	calls := 0
	for _, p := range []assay.Predictor{double{}, batch{calls: &calls}} {
		out := make([]assay.Prediction, 3)
		assay.PredictAll(p, [][]float64{{1}, {2}, {3}}, out)
		if out[0].Mean != 2 || out[1].Mean != 4 || out[2].Mean != 6 {
			t.Errorf("%T: got %v", p, out)
		}
	}
	if calls != 1 {
		t.Errorf("%d calls of PredictBatch, want 1", calls)
	}
	defer func() {
		if recover() == nil {
			t.Error("3 rows into 2 predictions: no panic")
		}
	}()
	assay.PredictAll(double{}, make([][]float64, 3), make([]assay.Prediction, 2))
}

func TestSummaryTrials(t *testing.T) {
	s := assay.Summary{Counts: map[assay.State]int64{assay.Running: 2, assay.Done: 3, assay.Withdrawn: 1}}
	if got := s.Trials(); got != 6 {
		t.Errorf("got %d, want 6", got)
	}
	if got := (assay.Summary{}).Trials(); got != 0 {
		t.Errorf("of an empty study: got %d, want 0", got)
	}
}

// Every state has a name of its own, which reads back as that state.
func TestStates(t *testing.T) {
	states := assay.States()
	if !slices.Contains(states, assay.Withdrawn) || states[0] != assay.Running {
		t.Errorf("states %v", states)
	}
	seen := map[string]bool{}
	for _, s := range states {
		text, err := s.MarshalText()
		if err != nil || seen[string(text)] {
			t.Errorf("state %d is written %q, %v", s, text, err)
		}
		seen[string(text)] = true
		var back assay.State
		if err := back.UnmarshalText(text); err != nil || back != s {
			t.Errorf("%q is read as %v, %v", text, back, err)
		}
		if s.Final() != (s != assay.Running) {
			t.Errorf("%v is final: %v", s, s.Final())
		}
	}
	beyond := assay.State(len(states))
	if text, err := beyond.MarshalText(); err == nil {
		t.Errorf("a state beyond the last is written %q", text)
	}
	if err := new(assay.State).UnmarshalText([]byte("paused")); err == nil {
		t.Error("a state that does not exist is read")
	}
}
