package setup

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/stop"
)

// predictions returns the predictions of a rule for a run after each of some histories, of
// which the later ones have stopped trials.
func predictions(space *assay.Space, rule assay.Stopper) (out []float64) {
	var history []assay.Trial
	for i := range int64(24) {
		tr := assay.Trial{
			Proposal: assay.Proposal{ID: i + 1, Config: assay.Config{float64(i*5%9 + 1)}},
			State:    assay.Done,
		}
		tr.Value = 10 * math.Exp(tr.Config[0]/3+0.1*math.Sin(float64(7*i)))
		if i > 8 && i%4 == 0 {
			tr.State, tr.Value, tr.Decision = assay.Censored, 9, &assay.Decision{Stop: true, Predicted: 4 * tr.Value}
		}
		history = append(history, tr)
	}
	for _, n := range []int{3, 8, 16, 24} {
		for _, value := range []float64{1, 12} {
			running := assay.Trial{
				Proposal: assay.Proposal{ID: 99, Config: assay.Config{6}}, State: assay.Running,
				Value: value,
			}
			out = append(out, rule.Decide(history[:n], running).Predicted)
		}
	}
	return out
}

// Every option of a study file reaches the rule: its predictions equal the library rule's
// with that option, and with no other.
func TestPredictiveOptions(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9}})
	if err != nil {
		t.Fatal(err)
	}
	var seen [][]float64
	for _, c := range []struct {
		options map[string]any
		want    stop.PredictiveOptions
	}{
		{nil, stop.PredictiveOptions{}},
		{map[string]any{"base": 0.5}, stop.PredictiveOptions{AFT: model.AFT{Base: 0.5}}},
		{map[string]any{"distribution": "normal"}, stop.PredictiveOptions{AFT: model.AFT{Distribution: model.Normal}}},
		{
			map[string]any{"distribution": "logistic"},
			stop.PredictiveOptions{AFT: model.AFT{Distribution: model.Logistic}},
		},
		{map[string]any{"stopped": "keep"}, stop.PredictiveOptions{Stopped: stop.KeepStopped}},
		{map[string]any{"stopped": "impute"}, stop.PredictiveOptions{Stopped: stop.ImputeStopped}},
		{map[string]any{"model": "boost"}, stop.PredictiveOptions{Learner: model.Boost{}, Standard: true}},
		{map[string]any{"rounds": 3.0}, stop.PredictiveOptions{AFT: model.AFT{Boost: model.Boost{Rounds: 3}}}},
		{map[string]any{"rounds": "auto"}, stop.PredictiveOptions{AutoRounds: true}},
		{map[string]any{"after": 2.0}, stop.PredictiveOptions{After: 2}},
	} {
		makes, err := readStopper(&spec.Study{Stop: spec.Stop{Rule: "predictive", Options: c.options}})
		if err != nil {
			t.Fatal(err)
		}
		got := predictions(space, makes(&spec.Study{}, space))
		want := predictions(space, stop.NewPredictive(space, c.want))
		same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("%v: predicted %v, want %v", c.options, got, want)
		}
		if slices.ContainsFunc(seen, func(s []float64) bool { return slices.EqualFunc(s, got, same) }) {
			t.Errorf("%v changes no prediction: %v", c.options, got)
		}
		seen = append(seen, got)
	}
	for _, o := range []map[string]any{
		{"distribution": "gumbel"}, {"stopped": "forget"}, {"base": 0.0}, {"rounds": "many"}, {"rounds": 0.0},
	} {
		if _, err := readStopper(&spec.Study{Stop: spec.Stop{Rule: "predictive", Options: o}}); err == nil {
			t.Errorf("%v is accepted", o)
		}
	}
}

// The rules posterior and predict bound the first runs as auto does, and the searcher takes their stops
// for runs that reached the best.
func TestPosteriorIsWired(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9}})
	if err != nil {
		t.Fatal(err)
	}
	for rule, words := range map[string]string{posteriorStop: "posterior", predictStop: "predict (posterior)"} {
		p := &Problem{Space: space, Goal: assay.Goal{Grows: true}, Definition: &spec.Study{
			Search: spec.Method{Name: "bayes"}, Stop: spec.Stop{Rule: rule},
			Budget: spec.Budget{Time: time.Hour},
		}}
		if err := p.readMethod(); err != nil {
			t.Fatal(err)
		}
		if o, ok := p.stopper.(stop.Opening); !ok || o.Limit != 3*time.Minute {
			t.Errorf("%s: the rule is %+v, want the first runs to have three minutes", rule, p.stopper)
		} else if _, ok := o.Rule.(*stop.Posterior); !ok {
			t.Errorf("%s: the rule is a %T", rule, o.Rule)
		}
		s, err := p.searcher(nil)
		if err != nil {
			t.Fatal(err)
		}
		presumes := false
		kind := reflect.TypeOf(search.ImputeStopped(nil))
		for u, ok := s.(assay.Unwrapper); ok; u, ok = s.(assay.Unwrapper) {
			presumes = presumes || reflect.TypeOf(s) == kind
			s = u.Unwrap()
		}
		if !presumes {
			t.Errorf("%s: the searcher takes early stops for what they measured", rule)
		}
		if got := p.Stopping(); got != words {
			t.Errorf("%s: early stopping is described as %q, want %q", rule, got, words)
		}
	}
}

// A study that stops runs as published is warned of it, and no other study is.
func TestRiskOfPredictiveIsSaid(t *testing.T) {
	store := memory(t)
	for _, rule := range []string{autoStop, noStop, "static", "incumbent", predictStop, predictiveStop, posteriorStop} {
		var said []string
		def := recorded(t, rule, 1, "budget: {trials: 3}\n")
		def.Stop.Rule = rule
		p, err := New(def, Options{Warn: func(text string) { said = append(said, text) }})
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Study(t.Context(), store, "")
		if err != nil {
			t.Fatalf("%s: %v", rule, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		warned := len(said) == 1 && strings.Contains(said[0], "stop: "+predictStop)
		if warned != (rule == predictiveStop) || len(said) > 1 {
			t.Errorf("%s: warnings %q", rule, said)
		}
	}
}
