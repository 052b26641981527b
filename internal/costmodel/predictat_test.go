package costmodel

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// latencyBound is a program that computes for 12 s and waits for 4,000 round trips.
func latencyBound(t *testing.T) (*assay.Space, func(cpu, rtt float64) float64) {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"0.5", "1", "2"}},
		{Name: "rtt", Kind: assay.Ordinal, Levels: []string{"0ms", "2ms", "10ms", "20ms"}},
		{Name: "policy", Kind: assay.Categorical, Levels: []string{"a", "b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return space, func(cpu, rtt float64) float64 { return 12/cpu + 4000*rtt }
}

func TestPredictAt(t *testing.T) {
	space, truth := latencyBound(t)
	var runs []Run
	for c := range space.All() {
		cpu, rtt := [...]float64{0.5, 1, 2}[int(c[0])], [...]float64{0, 0.002, 0.01, 0.02}[int(c[1])]
		x := truth(cpu, rtt)
		m := assay.Measurement{Elapsed: time.Duration(x * 1e9), Metrics: map[string]float64{
			"cpu": 12, "data_flow": 30e6, "network_time": 4000 * rtt, "disk_time": 0.01,
		}}
		r, err := Profile(c, m, cpu)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	m, err := Fit(space, runs, nil, Best)
	if err != nil {
		t.Fatal(err)
	}
	at := func(cpu, rtt, policy string) (Prediction, error) {
		return m.PredictAt(map[string]string{"cpu": cpu, "rtt": rtt, "policy": policy})
	}
	// On a level it is Predict, however the level is written.
	c, err := space.Parse(map[string]string{"cpu": "1", "rtt": "10ms", "policy": "a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range []string{"1", "1.0"} {
		if p, err := at(cpu, "10ms", "a"); err != nil || p != m.Predict(c) {
			t.Errorf("at level %s: %v, %v, want %v", cpu, p, err, m.Predict(c))
		}
	}
	// Between the levels and beyond them.
	for _, x := range []struct {
		cpu, rtt string
		want     float64
	}{{"1.5", "5ms", truth(1.5, 0.005)}, {"0.75", "0.015", truth(0.75, 0.015)}, {"3", "10ms", truth(3, 0.01)}} {
		p, err := at(x.cpu, x.rtt, "b")
		if err != nil || !(math.Abs(p.Seconds-x.want) <= 0.15*x.want) {
			t.Errorf("at cpu=%s rtt=%s: %v s, %v, want %v", x.cpu, x.rtt, p.Seconds, err, x.want)
		}
	}
	for want, bad := range map[string]map[string]string{
		`no value for attribute "policy"`: {"cpu": "1", "rtt": "0ms"},
		`no attribute "disk"`:             {"cpu": "1", "rtt": "0ms", "policy": "a", "disk": "1"},
		`no value "c"`:                    {"cpu": "1", "rtt": "0ms", "policy": "c"},
		`no value "fast"`:                 {"cpu": "fast", "rtt": "0ms", "policy": "a"},
	} {
		if _, err := m.PredictAt(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", bad, err, want)
		}
	}
}

// A learner whose short runs it can predict, but not the long ones that it has
// avoided, is not done.
func TestStopNeedsTheWholeSpace(t *testing.T) {
	space, truth := latencyBound(t)
	l := NewActiveLearner(space, Options{Target: 10, Cores: "cpu"})
	for {
		ps, err := l.Ask(1)
		if err != nil {
			break
		}
		c := ps[0].Config
		cpu, rtt := [...]float64{0.5, 1, 2}[int(c[0])], [...]float64{0, 0.002, 0.01, 0.02}[int(c[1])]
		x := truth(cpu, rtt)
		m := assay.Measurement{Elapsed: time.Duration(x * 1e9), Metrics: map[string]float64{
			"cpu": 12, "data_flow": 30e6, "network_time": 4000 * rtt, "disk_time": 0.01,
		}}
		if err := l.Tell(assay.Trial{Proposal: ps[0], State: assay.Done, Value: x, Measurement: m}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := l.Model()
	if err != nil || !l.Converged() || len(m.Runs()) == int(space.Size().N) {
		t.Fatalf("%d runs, converged %v, %v", len(m.Runs()), l.Converged(), err)
	}
	var sum float64
	for c := range space.All() {
		want := truth([...]float64{0.5, 1, 2}[int(c[0])], [...]float64{0, 0.002, 0.01, 0.02}[int(c[1])])
		sum += math.Abs(m.Predict(c).Seconds-want) / want
	}
	if mape := 100 * sum / float64(space.Size().N); mape > 10 {
		t.Errorf("stopped after %d runs with an error of %.1f %% over the space, the target was 10 %%", len(m.Runs()), mape)
	}
}

// A prediction names each value outside the runs, with its distance: 24 MB after runs of 0.5 to 1 MB is 46 of
// their ranges away. It does not name a value between the runs, nor one that a run has.
func TestBeyondRuns(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{
		{Name: "bytes", Kind: assay.Ordinal, Levels: []string{"0.5M", "1M", "4M"}},
		{Name: "level", Kind: assay.Integer, Lo: 0, Hi: 9},
		{Name: "kind", Kind: assay.Categorical, Levels: []string{"a", "b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	runs := []Run{
		{Config: assay.Config{0, 3, 0}, Seconds: 1, DataFlow: 1, Compute: 1},
		{Config: assay.Config{1, 3, 1}, Seconds: 2, DataFlow: 1, Compute: 2},
	}
	m, err := Fit(space, runs, nil, Best)
	if err != nil {
		t.Fatal(err)
	}
	unit, _ := assay.Number("1M")
	got := m.BeyondRuns(map[string]string{"bytes": "24M", "level": "2", "kind": "a"})
	want := []Beyond{{"bytes", 24 * unit, unit, 46}, {"level", 2, 3, math.Inf(1)}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := m.BeyondRuns(map[string]string{"bytes": "0.7M", "level": "3", "kind": "b"}); got != nil {
		t.Errorf("%v between the runs", got)
	}
}
