package costmodel

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
)

// The program computes for 12/cpu s, waits 40·rtt and reads for 4 s: elasticities are -12/cpu/T and 40·rtt/T, and
// an attribute that is 0 has none. Both between the levels and at the ends.
func TestElasticitiesAt(t *testing.T) {
	m := onMachine(t, nil)
	for _, c := range []struct {
		cpu, rtt string
		want     map[string]float64
	}{
		{"1", "0", map[string]float64{"cpu": -12.0 / 16}},
		{"0.5", "0.2", map[string]float64{"cpu": -24.0 / 36, "rtt": 8.0 / 36}},
		{"2", "0.1", map[string]float64{"cpu": -6.0 / 14, "rtt": 4.0 / 14}},
		{"0.7", "0.15", map[string]float64{"cpu": -17.1 / 27.1, "rtt": 6 / 27.1}},
	} {
		got, err := m.ElasticitiesAt(map[string]string{"cpu": c.cpu, "rtt": c.rtt})
		if err != nil || len(got) != len(c.want) {
			t.Fatalf("%v, %v, want %v", got, err, c.want)
		}
		for name, want := range c.want {
			if !(math.Abs(got[name]-want) <= 0.1) {
				t.Errorf("at cpu=%s rtt=%s: %s %+.2f, want %+.2f", c.cpu, c.rtt, name, got[name], want)
			}
		}
	}
	if _, err := m.ElasticitiesAt(map[string]string{"cpu": "1"}); err == nil {
		t.Error("no error for an attribute that is missing")
	}
}

// A category and a switch have no elasticity, whichever of their values it is.
func TestNoElasticityOfACategory(t *testing.T) {
	s := spaceOf(
		t,
		assay.Param{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"1", "2", "4"}},
		assay.Param{Name: "policy", Kind: assay.Categorical, Levels: []string{"a", "b", "c"}},
		assay.Param{Name: "cache", Kind: assay.Switch, Levels: []string{"off", "on"}},
	)
	var runs []Run
	for c := range s.All() {
		x := 12/math.Exp2(c[0]) + c[1] + c[2]
		runs = append(runs, Run{Config: c.Clone(), Seconds: x, DataFlow: 1, Compute: x})
	}
	m, err := Fit(s, runs, nil, Linear)
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"a", "b", "c"} {
		got, err := m.ElasticitiesAt(map[string]string{"cpu": "2", "policy": policy, "cache": "on"})
		if _, ok := got["cpu"]; err != nil || len(got) != 1 || !ok {
			t.Errorf("policy %s: %v, %v, want that of cpu alone", policy, got, err)
		}
	}
}
