package study_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/study"
)

// ended returns a trial that took as many seconds as its value.
func ended(state assay.State, value float64) assay.Trial {
	t := assay.Trial{
		State: state, Value: value,
		Measurement: assay.Measurement{Elapsed: time.Duration(value * float64(time.Second))},
	}
	if state == assay.Censored {
		t.Decision = &assay.Decision{Stop: true, Predicted: math.NaN()}
	}
	return t
}

func predicted(value, final float64) assay.Trial {
	t := ended(assay.Censored, value)
	t.Decision.Predicted = final
	return t
}

func TestSaved(t *testing.T) {
	cut := ended(assay.Censored, 9) // by the time budget: no decision
	cut.Decision = nil
	for _, tt := range []struct {
		name   string
		trials []assay.Trial
		want   time.Duration
	}{
		{"nothing ran", nil, 0},
		{"nothing finished", []assay.Trial{ended(assay.Censored, 5)}, 0},
		{"at the best, the median of 10, 12 and 30 was to come", []assay.Trial{
			ended(assay.Done, 30), ended(assay.Done, 12), ended(assay.Done, 10), ended(assay.Done, 4),
			ended(assay.Censored, 4),
		}, 8 * time.Second},
		{
			"of two that lasted longer, the shorter", []assay.Trial{
				ended(assay.Done, 30), ended(assay.Infeasible, 7),
				ended(assay.Done, 4), ended(assay.Censored, 5),
			}, 2 * time.Second,
		},
		{"none lasted longer", []assay.Trial{ended(assay.Done, 4), ended(assay.Censored, 5)}, 0},
		{
			"one that lasted as long did not last longer", []assay.Trial{
				ended(assay.Done, 4), ended(assay.Done, 5),
				ended(assay.Censored, 5),
			}, 0,
		},
		{
			"by a prediction, however far", []assay.Trial{
				ended(assay.Done, 30), ended(assay.Done, 20),
				predicted(3, 1e9),
			}, 0,
		},
		{
			"by a prediction, but the best came down to it",
			[]assay.Trial{ended(assay.Done, 30), predicted(8, 1e9), ended(assay.Done, 5)},
			22 * time.Second,
		},
		{"by the budget", []assay.Trial{ended(assay.Done, 30), ended(assay.Done, 4), cut}, 0},
	} {
		if got := study.Saved(tt.trials); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// The prediction of a rule is worth nothing: the estimate is the same whatever it was, and
// never more than if each stopped run had been the longest of all.
func TestSavedBelievesNoPrediction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var trials, others []assay.Trial
		var most time.Duration
		longest := 0.0
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			v := float64(rapid.IntRange(1, 100).Draw(t, "value"))
			state := rapid.SampledFrom([]assay.State{
				assay.Done, assay.Infeasible, assay.Censored,
				assay.Failed,
			}).Draw(t, "state")
			trials, others = append(trials, ended(state, v)), append(others, ended(state, v))
			if state == assay.Censored {
				others[len(others)-1] = predicted(v, rapid.Float64Range(0, 1e12).Draw(t, "predicted"))
			} else if state != assay.Failed {
				longest = max(longest, v)
			}
		}
		for _, tr := range trials {
			if tr.State == assay.Censored {
				most += max(0, time.Duration(longest*float64(time.Second))-tr.Measurement.Elapsed)
			}
		}
		a, b := study.Saved(trials), study.Saved(others)
		if a != b || a < 0 || a > most {
			t.Fatalf("%v without predictions and %v with, %v at most", a, b, most)
		}
	})
}

func TestUnproven(t *testing.T) {
	run := func(states ...assay.Trial) []assay.Trial { return states }
	done, failed := ended(assay.Done, 10), ended(assay.Failed, math.Inf(1))
	for _, tt := range []struct {
		name   string
		trials []assay.Trial
		want   int
	}{
		{"nothing", nil, 0},
		{"before anything finished, nothing was predicted", run(predicted(3, 20), predicted(3, 20)), 0},
		{"two", run(done, predicted(3, 20), predicted(4, 20)), 2},
		{"a failed one between", run(done, predicted(3, 20), failed, predicted(4, 20)), 2},
		{
			"one that came to the best ends the row", run(done, predicted(3, 20), ended(assay.Censored, 10),
				predicted(4, 20)), 1,
		},
		{"so does one that finished", run(done, predicted(3, 20), ended(assay.Done, 12)), 0},
		{"and one outside the limits", run(done, predicted(3, 20), ended(assay.Infeasible, 2)), 0},
		{"the best is that of the time", run(done, predicted(7, 20), ended(assay.Done, 5), predicted(4, 20)), 1},
	} {
		if got := study.Unproven(tt.trials); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
