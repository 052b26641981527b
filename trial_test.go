package assay_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// JSON has no infinity and no NaN; a trial survives the store all the same.
func TestTrialJSON(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)
	for _, want := range []assay.Trial{
		{
			Proposal: assay.Proposal{ID: 1, Config: assay.Config{1, 0.1}}, State: assay.Done, Value: 1.25, Attempts: 1,
			Measurement: assay.Measurement{Elapsed: 1250 * time.Millisecond, Metrics: map[string]float64{"user": 1}},
			Started:     at, Ended: at,
		},
		{
			Proposal: assay.Proposal{ID: 2, Config: assay.Config{}}, State: assay.Failed, Value: math.Inf(1),
			Reason:      "exit code 3",
			Measurement: assay.Measurement{ExitCode: 3, Signal: "SIGSEGV"},
		},
		{
			Proposal: assay.Proposal{ID: 3, Config: assay.Config{-0.5}}, State: assay.Censored, Value: 0,
			Decision: &assay.Decision{Stop: true, Reason: "slow", Predicted: math.NaN(), At: time.Second},
		},
	} {
		b, err := json.Marshal(assay.Event{At: at, Told: &want})
		if err != nil {
			t.Fatal(err)
		}
		var e assay.Event
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, *e.Told, cmpopts.EquateNaNs()); d != "" {
			t.Errorf("%s\n%s", b, d)
		}
	}
}

func TestBest(t *testing.T) {
	tr := func(id int64, s assay.State, v float64) assay.Trial {
		return assay.Trial{Proposal: assay.Proposal{ID: id}, State: s, Value: v}
	}
	best, ok := assay.Best([]assay.Trial{
		tr(1, assay.Done, 3), tr(2, assay.Censored, 1), tr(3, assay.Infeasible, 0), tr(4, assay.Done, 2),
		tr(5, assay.Done, 2), tr(6, assay.Failed, math.Inf(1)),
	})
	if !ok || best.ID != 4 {
		t.Errorf("best is trial %d (%v), want 4: the earliest of equals that ran to the end", best.ID, ok)
	}
	if _, ok := assay.Best([]assay.Trial{tr(1, assay.Failed, math.Inf(1)), tr(2, assay.Done, math.NaN())}); ok {
		t.Error("a failed or NaN trial is the best")
	}
}

func TestGoal(t *testing.T) {
	m := assay.Measurement{Elapsed: 2 * time.Second, Metrics: map[string]float64{"fps": 30, "bad": math.NaN()}}
	for _, tt := range []struct {
		goal assay.Goal
		want float64
		err  bool
	}{
		{assay.Goal{Metric: "elapsed"}, 2, false},
		{assay.Goal{Metric: "fps", Maximize: true}, -30, false},
		{assay.Goal{Metric: "bad"}, math.Inf(1), true},
		{assay.Goal{Metric: "none"}, math.Inf(1), true},
	} {
		got, err := tt.goal.Value(m)
		if got != tt.want || (err != nil) != tt.err {
			t.Errorf("%+v: got %v, %v", tt.goal, got, err)
		}
	}
}

// The first limit that does not hold is the one that is named; one that needs a metric
// that was not measured is an error, not a broken limit.
func TestGoalBroken(t *testing.T) {
	most := func(name string, x float64) assay.Limit {
		return assay.Limit{
			Text: name,
			Holds: func(metric func(string) (float64, bool)) (bool, error) {
				v, ok := metric(name)
				if !ok {
					return false, errors.New(name + " was not measured")
				}
				return v <= x, nil
			},
		}
	}
	m := assay.Measurement{Elapsed: 2 * time.Second, ExitCode: 3, Metrics: map[string]float64{"max_rss": 100}}
	for _, tt := range []struct {
		limits []assay.Limit
		want   string
		err    bool
	}{
		{nil, "", false},
		{[]assay.Limit{most("elapsed", 2), most("max_rss", 100), most("exit_code", 3)}, "", false},
		{[]assay.Limit{most("elapsed", 2), most("max_rss", 99), most("exit_code", 0)}, "max_rss", false},
		{[]assay.Limit{most("energy", 9), most("max_rss", 99)}, "", true},
		{[]assay.Limit{most("max_rss", 99), most("energy", 9)}, "max_rss", false},
	} {
		got, err := assay.Goal{Limits: tt.limits}.Broken(m)
		if got != tt.want || (err != nil) != tt.err {
			t.Errorf("%d limits: got %q, %v, want %q", len(tt.limits), got, err, tt.want)
		}
	}
	m.Missing = map[string]string{"energy": "no counters"}
	if _, err := (assay.Goal{Metric: "energy"}).Value(m); err == nil || !strings.Contains(err.Error(), "no counters") {
		t.Errorf("got %v, want why it was not measured", err)
	}
}
