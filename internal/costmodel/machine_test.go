package costmodel

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// onMachine is a model of a program that computes for 12/cpu s, waits 40 requests of rtt and
// reads its disk for 4 s.
func onMachine(t *testing.T, here Machine) *Model {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"0.5", "1", "2"}},
		{Name: "rtt", Kind: assay.Ordinal, Levels: []string{"0", "0.1", "0.2"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var runs []Run
	for c := range space.All() {
		cpu, rtt := []float64{0.5, 1, 2}[int(c[0])], []float64{0, 0.1, 0.2}[int(c[1])]
		r := Run{Config: c, DataFlow: 1, Split: SplitFull, Compute: 12 / cpu, Network: 40 * rtt, Disk: 4}
		r.Seconds = r.Of(Whole)
		runs = append(runs, r)
	}
	m, err := Fit(space, runs, nil, Best)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.LearnedOn(here); err != nil {
		t.Fatal(err)
	}
	return m
}

// M(G, I, R) of Eq. 2 on another machine: attributes come from its profile by either name, computing
// scales by the speeds, waiting for the disk by the disks, and waiting for the network by nothing.
func TestPredictOn(t *testing.T) {
	here := Machine{"integer_speed": 1e8, "float_speed": 4e8, "disk": 100e6, "cpus": 4}
	m := onMachine(t, here)
	for name, c := range map[string]struct {
		there                  Machine
		at                     map[string]string
		compute, network, disk float64
	}{
		"the same":             {here, map[string]string{"cpu": "1", "rtt": "0.1"}, 12, 4, 4},
		"by cpus":              {Machine{"cpus": 2}, map[string]string{"rtt": "0.1"}, 6, 4, 4},
		"rtt of the profile":   {Machine{"cpus": 2, "rtt": 0.2}, nil, 6, 8, 4},
		"given before profile": {Machine{"cpus": 2, "rtt": 0.2}, map[string]string{"rtt": "0"}, 6, 0, 4},
		"speeds, geometric mean": {
			Machine{"integer_speed": 4e8, "float_speed": 4e8, "cpus": 1},
			map[string]string{"rtt": "0"},
			6, 0, 4,
		},
		"one speed in common":   {Machine{"integer_speed": 2e8, "cpus": 1}, map[string]string{"rtt": "0"}, 6, 0, 4},
		"disk":                  {Machine{"disk": 200e6, "cpus": 1}, map[string]string{"rtt": "0"}, 12, 0, 2},
		"half a processor once": {Machine{"integer_speed": 0.5e8, "cpus": 0.5}, map[string]string{"rtt": "0"}, 24, 0, 4},
	} {
		p, err := m.PredictOn(c.at, c.there)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		near := func(got, want float64) bool { return math.Abs(got-want) <= 0.05*want+0.1 }
		if !near(p.Compute, c.compute) || !near(p.Network, c.network) || !near(p.Disk, c.disk) ||
			!near(p.Seconds, c.compute+c.network+c.disk) || !(p.Low < p.Seconds && p.Seconds < p.High) {
			t.Errorf("%s: %+v, want %g, %g, %g", name, p, c.compute, c.network, c.disk)
		}
	}
	if _, err := m.PredictOn(nil, Machine{"cpus": 2}); err == nil {
		t.Error("no error for an attribute that nobody tells")
	}
	// A prediction on another machine is less sure, and nothing scales without the machine of the runs.
	at := map[string]string{"cpu": "1", "rtt": "0"}
	fast := Machine{"integer_speed": 4e8, "float_speed": 16e8}
	a, _ := m.PredictOn(at, here)
	b, _ := m.PredictOn(at, fast)
	if b.High/b.Low < 2*a.High/a.Low || b.Deviation <= a.Deviation {
		t.Errorf("from %g to %g here, from %g to %g there", a.Low, a.High, b.Low, b.High)
	}
	if c, _ := onMachine(t, nil).PredictOn(at, fast); c.Seconds != a.Seconds {
		t.Errorf("%g s on a machine that is compared with none, want %g", c.Seconds, a.Seconds)
	}
}

// The machine of the runs is in the file of a model, and one of nonsense is refused.
func TestMachineIsSaved(t *testing.T) {
	here := Machine{"integer_speed": 1e8}
	b, err := json.Marshal(onMachine(t, here))
	if err != nil {
		t.Fatal(err)
	}
	var m Model
	if err := json.Unmarshal(b, &m); err != nil || m.Machine()["integer_speed"] != 1e8 {
		t.Errorf("%v, %v", m.Machine(), err)
	}
	bad := strings.Replace(string(b), `"integer_speed":100000000`, `"integer_speed":-1`, 1)
	if err := json.Unmarshal([]byte(bad), &m); err == nil || !strings.Contains(err.Error(), "integer_speed is -1") {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]string{
		`{"version":1,"attributes":{"rtt":-1}}`: "rtt is -1",
		`{"version":2,"attributes":{"rtt":1}}`:  "not a profile",
		`{"version":1}`:                         "not a profile",
		`cpu,rtt`:                               "not a profile",
	} {
		if _, err := ReadMachine([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
