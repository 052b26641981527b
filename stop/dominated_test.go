package stop_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/stop"
)

var timeAndEnergy = assay.Goal{Metric: "elapsed", Grows: true, Others: []assay.Objective{{Metric: "energy"}}}

func TestDominatedConformance(t *testing.T) {
	assaytest.TestStopper(t, func() assay.Stopper { return stop.Dominated{Goal: timeAndEnergy} })
}

func measured(id int64, state assay.State, elapsed, energy float64) assay.Trial {
	t := trial(id, state, elapsed)
	t.Measurement.Metrics = map[string]float64{"elapsed": elapsed, "energy": energy}
	return t
}

func TestDominated(t *testing.T) {
	history := []assay.Trial{
		measured(1, assay.Done, 10, 100), measured(2, assay.Done, 20, 50), measured(3, assay.Censored, 1, 1),
		measured(4, assay.Infeasible, 1, 1),
	}
	for _, c := range []struct {
		elapsed, energy, margin float64
		by                      string
	}{
		{9.9, 1000, 0, ""},
		{1000, 49, 0, ""},
		{15, 60, 0, ""},
		{10, 100, 0, "trial 1"},
		{20, 50, 0, "trial 2"},
		{21, 60, 0, "trial 2"},
		{21, 60, 0.1, ""},
		{22.1, 55.1, 0.1, "trial 2"},
	} {
		rule := stop.Dominated{Goal: timeAndEnergy, Margin: c.margin}
		d := rule.Decide(history, measured(9, assay.Running, c.elapsed, c.energy))
		if d.Stop != (c.by != "") || !strings.HasPrefix(d.Reason, c.by) {
			t.Errorf("%v s, %v J, margin %v: %v %q", c.elapsed, c.energy, c.margin, d.Stop, d.Reason)
		}
	}
	// A metric that has not been measured yet does not count.
	running := measured(9, assay.Running, 100, 0)
	delete(running.Measurement.Metrics, "energy")
	if d := (stop.Dominated{Goal: timeAndEnergy}).Decide(history, running); d.Stop {
		t.Errorf("stopped: %s", d.Reason)
	}
}

// No run is stopped, however far it has come, that would not have been beaten at its end.
func TestDominatedStopsNothingOfTheFront(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	stopped := 0
	for range 500 {
		var history []assay.Trial
		for id := range int64(6) {
			history = append(history, measured(id+1, assay.Done, 10*rng.Float64(), 10*rng.Float64()))
		}
		end := []float64{10 * rng.Float64(), 10 * rng.Float64()}
		beaten := false
		for _, h := range history {
			x := []float64{h.Measurement.Metrics["elapsed"], h.Measurement.Metrics["energy"]}
			beaten = beaten || assay.Dominates(x, end)
		}
		for part := range 10 {
			share := float64(part+1) / 10
			now := measured(9, assay.Running, share*end[0], share*end[1])
			if d := (stop.Dominated{Goal: timeAndEnergy}).Decide(history, now); d.Stop {
				if stopped++; !beaten {
					t.Fatalf("%v was stopped at %v of it: %s", end, share, d.Reason)
				}
			}
		}
	}
	if stopped == 0 {
		t.Error("nothing was stopped")
	}
}
