package setup

import (
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/stop"
)

// What --stop auto is depends on what is limited, and on whether the study begins
// with a configuration that the user knows.
func TestAutoStopRule(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9}})
	if err != nil {
		t.Fatal(err)
	}
	five := "5"
	known := config.Param{Name: "n", Type: "int", Min: 1, Max: 9, Default: &five}
	unknown := config.Param{Name: "n", Type: "int", Min: 1, Max: 9}
	noisy := stop.Incumbent{Margin: noiseMargin}
	for _, c := range []struct {
		name   string
		param  config.Param
		argv   []string
		budget config.Budget
		search string
		want   assay.Stopper
	}{
		{
			"recorded", unknown, nil,
			config.Budget{Time: time.Hour},
			"",
			stop.Opening{Rule: stop.Incumbent{}, Limit: 3 * time.Minute},
		},
		{
			"command", unknown,
			[]string{"sleep"},
			config.Budget{Time: time.Hour},
			"bayes",
			stop.Opening{Rule: noisy, Limit: 3 * time.Minute},
		},
		{"default", known, []string{"sleep"}, config.Budget{Time: time.Hour, Trials: 9}, "", noisy},
		{"no budget", unknown, nil, config.Budget{}, "", stop.Opening{Rule: stop.Incumbent{}}},
		{"trials", unknown, nil, config.Budget{Trials: 9}, "", nil},
		{"a searcher that drops stopped runs", unknown, nil, config.Budget{Time: time.Hour}, "random", nil},
	} {
		st := &config.Study{
			Params: []config.Param{c.param}, Command: c.argv, Budget: c.budget,
			Search: config.Method{Name: c.search},
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
