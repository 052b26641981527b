package stop_test

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/stop"
)

func TestConformance(t *testing.T) {
	for name, s := range map[string]assay.Stopper{
		"none": stop.None{}, "static": stop.Static{}, "incumbent": stop.Incumbent{},
	} {
		t.Run(name, func(t *testing.T) { assaytest.TestStopper(t, func() assay.Stopper { return s }) })
	}
}

func trial(id int64, state assay.State, value float64) assay.Trial {
	return assay.Trial{Proposal: assay.Proposal{ID: id, Config: assay.Config{1}}, State: state, Value: value}
}

func TestDecide(t *testing.T) {
	history := []assay.Trial{
		trial(3, assay.Failed, math.Inf(1)),
		trial(1, assay.Censored, 2),
		trial(2, assay.Infeasible, 1),
		trial(5, assay.Done, 20),
		trial(4, assay.Done, 10.1),
		trial(6, assay.Done, 10.1),
	}
	for _, c := range []struct {
		name    string
		rule    assay.Stopper
		history []assay.Trial
		value   float64
		reason  string // "" means go on
	}{
		{"none", stop.None{}, history, 1e9, ""},
		{"static below", stop.Static{}, history, 19.99, ""},
		{"static at", stop.Static{}, history, 20, "20 so far, first was 20 (trial 5)"},
		{"static above", stop.Static{}, history, 20.00001, "20 so far, first was 20 (trial 5)"},
		{"static, none finished", stop.Static{}, history[:3], 1e9, ""},
		{"static, empty", stop.Static{}, nil, 1e9, ""},
		{"incumbent below", stop.Incumbent{}, history, 10.09999, ""},
		{"incumbent at", stop.Incumbent{}, history, 10.1, "10.1 so far, best is 10.1 (trial 4)"},
		{"incumbent above", stop.Incumbent{}, history, 12.3456, "12.35 so far, best is 10.1 (trial 4)"},
		{"incumbent, none finished", stop.Incumbent{}, history[:3], 1e9, ""},
		{"incumbent, empty", stop.Incumbent{}, nil, 1e9, ""},
		{"incumbent, value unknown", stop.Incumbent{}, history, math.NaN(), ""},
		{"large", stop.Incumbent{}, history, 3e18, "3e+18 so far, best is 10.1 (trial 4)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.rule.Decide(c.history, trial(9, assay.Running, c.value))
			if d.Stop != (c.reason != "") || d.Reason != c.reason || !math.IsNaN(d.Predicted) {
				t.Errorf("got %+v, want reason %q and no prediction", d, c.reason)
			}
		})
	}
}

// "terminate the experiment when the measured latency or energy is observed to
// reach the static termination threshold ... the latency or energy of the
// initial sample". "BO-TC ... the best found so far".
// Reference: Ding et al. 2022, section 4.3
func TestThresholdsOverTime(t *testing.T) {
	var history []assay.Trial
	for i, v := range []float64{30, 50, 20, 25} {
		history = append(history, trial(int64(i+1), assay.Done, v))
		if !(stop.Static{}).Decide(history, trial(9, assay.Running, 30)).Stop ||
			(stop.Static{}).Decide(history, trial(9, assay.Running, 29.9)).Stop {
			t.Errorf("after %d trials the static threshold is not 30", i+1)
		}
		best := []float64{30, 30, 20, 20}[i]
		if !(stop.Incumbent{}).Decide(history, trial(9, assay.Running, best)).Stop ||
			(stop.Incumbent{}).Decide(history, trial(9, assay.Running, best-0.1)).Stop {
			t.Errorf("after %d trials the threshold is not %v", i+1, best)
		}
	}
}

// A margin lets runs go on that are about as good as a lucky best.
func TestIncumbentMargin(t *testing.T) {
	best := assay.Trial{Proposal: assay.Proposal{ID: 1}, State: assay.Done, Value: 10}
	for value, want := range map[float64]bool{9: false, 10: false, 10.9: false, 11: true, 12: true} {
		running := assay.Trial{Proposal: assay.Proposal{ID: 2}, Value: value}
		if got := (stop.Incumbent{Margin: 0.1}).Decide([]assay.Trial{best}, running); got.Stop != want {
			t.Errorf("at %v: stop %v, want %v", value, got.Stop, want)
		}
	}
}
