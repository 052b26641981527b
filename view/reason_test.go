package view_test

import (
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/view"
)

// A trial that broke limits has their metrics beside them, as one trial and in the columns of many.
func TestReasonOfBrokenLimits(t *testing.T) {
	def, _, err := spec.Parse("f.yaml", []byte(`command: ['true', '{n}']
parameters: {n: 1..9}
metrics: {fps: 'stdout:/fps ([0-9]+)/', lost: 'stdout:/lost ([0-9]+)/'}
subject_to: ["max_rss <= 48e6", "fps >= 30", "lost < fps"]
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	goal, err := def.Goal()
	if err != nil {
		t.Fatal(err)
	}
	space, err := def.Space()
	if err != nil {
		t.Fatal(err)
	}
	for id, tt := range []struct {
		state          assay.State
		rss, fps, lost float64
		want           string
	}{
		{assay.Infeasible, 50.9e6, 60, 0, "breaks max_rss <= 48e6: 50.9 MB of 48 MB"},
		{assay.Infeasible, 48.02e6, 60, 0, "breaks max_rss <= 48e6: 48.02 MB of 48 MB"},
		{assay.Infeasible, 47e6, 24.5, 0, "breaks fps >= 30: 24.5, at least 30"},
		{assay.Infeasible, 50e6, 60, 61, "breaks max_rss <= 48e6: 50 MB of 48 MB, lost < fps"},
		{assay.Failed, 50.9e6, 60, 0, "recorded"},
		{assay.Infeasible, 1e6, 60, 0, "recorded"}, // by the limits that it had then
	} {
		trial := assay.Trial{
			Proposal: assay.Proposal{ID: int64(id + 1), Config: assay.Config{1}}, State: tt.state, Reason: "recorded",
			Measurement: assay.Measurement{Elapsed: 1, Metrics: map[string]float64{
				"max_rss": tt.rss, "fps": tt.fps, "lost": tt.lost,
			}},
		}
		if got := view.NewTrial(space.Params, goal, trial).Reason; got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
		table := assay.NewTable(space.Params, goal, "s", trial.Started)
		if _, _, err := table.Take(assay.Event{Told: &trial}); err != nil {
			t.Fatal(err)
		}
		if got := view.NewColumns(table, view.Places(0, 1), nil).Reason; len(got) != 1 || got[0] != tt.want {
			t.Errorf("%+v: %q in columns", tt, got)
		}
	}
}
