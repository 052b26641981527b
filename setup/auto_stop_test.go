package setup

import (
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/stop"
)

// The rule of --stop auto depends on the limit of the budget, and on whether the study begins
// with a configuration that the user knows.
func TestAutoStopRule(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9}})
	if err != nil {
		t.Fatal(err)
	}
	five := "5"
	known := spec.Param{Name: "n", Type: "int", Min: 1, Max: 9, Default: &five}
	unknown := spec.Param{Name: "n", Type: "int", Min: 1, Max: 9}
	noisy := stop.Incumbent{Margin: noiseMargin}
	for _, c := range []struct {
		name   string
		param  spec.Param
		argv   []string
		budget spec.Budget
		search string
		want   assay.Stopper
	}{
		{
			"recorded", unknown, nil,
			spec.Budget{Time: time.Hour},
			"",
			stop.Opening{Rule: stop.Incumbent{}, Limit: 3 * time.Minute},
		},
		{
			"command", unknown,
			[]string{"sleep"},
			spec.Budget{Time: time.Hour},
			"bayes",
			stop.Opening{Rule: noisy, Limit: 3 * time.Minute},
		},
		{"default", known, []string{"sleep"}, spec.Budget{Time: time.Hour, Trials: 9}, "", noisy},
		{"no budget", unknown, nil, spec.Budget{}, "", stop.Opening{Rule: stop.Incumbent{}}},
		{"trials", unknown, nil, spec.Budget{Trials: 9}, "", nil},
		{"a searcher that drops stopped runs", unknown, nil, spec.Budget{Time: time.Hour}, "random", nil},
	} {
		st := &spec.Study{
			Params: []spec.Param{c.param}, Command: c.argv, Budget: c.budget,
			Search: spec.Method{Name: c.search},
		}
		makes, err := readStopper(st)
		if err != nil {
			t.Fatal(err)
		}
		if got := makes(st, space); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}
