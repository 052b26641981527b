package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/study"
)

// Thirty stops in a row that nothing has proved right are said once, whatever comes then;
// stops at the best value, each of which is right, are not.
func TestLiveWarnsOfUnprovenStops(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   float64 // the value at which runs are stopped
		want int
	}{{3, 1}, {10, 0}} {
		var out bytes.Buffer
		l := newLive(&out, &setup.Problem{Space: space, Definition: &config.Study{}, Goal: assay.Goal{Metric: "elapsed"}})
		var trials []assay.Trial
		tell := func(tr assay.Trial) {
			tr.ID, tr.Config = int64(len(trials)+1), assay.Config{float64(len(trials) + 1)}
			trials = append(trials, tr)
			l.notify(study.Progress{Trials: trials})
		}
		stopped := assay.Trial{State: assay.Censored, Value: c.at, Decision: &assay.Decision{Stop: true}}
		tell(assay.Trial{State: assay.Done, Value: 10})
		for range unprovenMost - 1 {
			tell(stopped)
		}
		if strings.Contains(out.String(), "warning") {
			t.Errorf("stopped at %v: too early:\n%s", c.at, out.String())
		}
		tell(stopped)
		tell(stopped)
		tell(assay.Trial{State: assay.Done, Value: 9})
		for range 2 * unprovenMost {
			tell(stopped)
		}
		l.close()
		if n := strings.Count(out.String(), "warning: the last 30 runs were stopped on predictions"); n != c.want {
			t.Errorf("stopped at %v: said %d times, want %d:\n%s", c.at, n, c.want, out.String())
		}
	}
}
