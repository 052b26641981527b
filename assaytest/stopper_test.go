package assaytest

import (
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

type decide func(history []assay.Trial, running assay.Trial) assay.Decision

func (d decide) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	return d(history, running)
}

func correctRule(history []assay.Trial, running assay.Trial) assay.Decision {
	d := assay.Decision{Predicted: math.NaN()}
	if best, ok := assay.Best(history); ok && running.Value >= best.Value {
		d.Stop, d.Reason = true, "worse than the best"
	}
	return d
}

func TestStopperAcceptsACorrectOne(t *testing.T) {
	TestStopper(t, func() assay.Stopper { return decide(correctRule) })
}

func TestStopperFindsFaults(t *testing.T) {
	calls := 0
	for _, c := range []struct {
		fault string
		rule  decide
		want  string
	}{
		{"stops at once", func(_ []assay.Trial, r assay.Trial) assay.Decision {
			return assay.Decision{Stop: r.Value > 20, Reason: "20"}
		}, "EmptyHistory"},
		{"compares with any trial", func(h []assay.Trial, r assay.Trial) assay.Decision {
			return assay.Decision{Stop: len(h) > 0 && r.Value > h[0].Value, Reason: "first"}
		}, "NoFinished"},
		{"remembers", func(h []assay.Trial, r assay.Trial) assay.Decision {
			calls++
			return assay.Decision{Predicted: float64(calls)}
		}, "Pure"},
		{"sorts the history", func(h []assay.Trial, r assay.Trial) assay.Decision {
			d := correctRule(h, r)
			slices.SortStableFunc(h, func(a, b assay.Trial) int { return int(a.Value - b.Value) })
			return d
		}, "Unchanged"},
		{"writes to a map", func(h []assay.Trial, r assay.Trial) assay.Decision {
			r.Measurement.Metrics["seen"] = 1
			return correctRule(h, r)
		}, "Unchanged"},
		{"no reason", func(h []assay.Trial, r assay.Trial) assay.Decision {
			d := correctRule(h, r)
			d.Reason = ""
			return d
		}, "Reason"},
		{"trusts NaN", func(h []assay.Trial, r assay.Trial) assay.Decision {
			d := correctRule(h, r)
			if best, ok := assay.Best(h); ok && !(r.Value < best.Value) {
				d.Stop, d.Reason = true, "not better"
			}
			return d
		}, "OddValues"},
		{"needs a history", func(h []assay.Trial, r assay.Trial) assay.Decision {
			return assay.Decision{Predicted: h[0].Value}
		}, "EmptyHistory"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			var got []string
			for _, s := range stopperCases {
				if s.name == "Concurrent" && c.want != "Concurrent" {
					continue // the faults are races, too
				}
				if tryStopper(s.run, func() assay.Stopper { return c.rule }) != nil {
					got = append(got, s.name)
				}
			}
			if !slices.Contains(got, c.want) {
				t.Errorf("found by %v, want %s among them", got, c.want)
			}
		})
	}
}
