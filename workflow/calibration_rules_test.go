package workflow

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
)

// Everything that a prediction relies on is checked when a calibration is read, at the very bounds of the allowed
// values.
func TestReadCalibrationRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Calibration)
		want   string // "" if it is allowed
	}{
		{"as it was written", func(*Calibration) {}, ""},
		{"no spread", func(c *Calibration) { c.Sigma = 0 }, ""},
		{"a term of 0", func(c *Calibration) { c.Models[0].Terms[0].Value = 0 }, ""},
		{"a way to count slots", func(c *Calibration) { c.Models[0].Compute = ComputeModel{Cap: 8} }, ""},
		{"another version", func(c *Calibration) { c.Version = 2 }, "version 2"},
		{"no model", func(c *Calibration) { c.Models = nil }, "without models"},
		{"a negative spread", func(c *Calibration) { c.Sigma = -0.1 }, "sigma -0.1"},
		{"no cores", func(c *Calibration) { c.NodeCores = 0 }, "node_cores 0"},
		{"no weight", func(c *Calibration) { c.Models[0].Weight = 0 }, "weight 0"},
		{"no term", func(c *Calibration) { c.Models[0].Terms = nil }, "0 terms"},
		{"a way that is not tried", func(c *Calibration) { c.Models[0].Compute = ComputeModel{Cap: 12345} }, "compute model"},
		{"a negative term", func(c *Calibration) { c.Models[0].Terms[0].Value = -1 }, "-1"},
	} {
		c := &Calibration{
			Version: 1, NodeCores: 8, Sigma: 0.2, Models: []WeightedModel{{Weight: 1, Terms: []Coefficient{{Start, 5}}}},
		}
		tt.change(c)
		var b bytes.Buffer
		if err := c.Write(&b); err != nil {
			t.Fatal(err)
		}
		_, err := ReadCalibration("site.json", &b)
		var input *InputError
		switch {
		case tt.want == "":
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		case !errors.As(err, &input) || !strings.Contains(err.Error(), tt.want) || input.File != "site.json":
			t.Errorf("%s: %v, want an error that says %q", tt.name, err, tt.want)
		}
	}
}

// On the recorded slots of a run that has ended a calibration predicts that run, whatever bounds the run times have. On
// the same number of slots for a run without a makespan, as on any other number, no prediction beats the bounds.
func TestPredictWithoutMakespan(t *testing.T) {
	c := &Calibration{NodeCores: 1, Models: []WeightedModel{{Weight: 1, Terms: []Coefficient{{WorkPerNode, 0.5}}}}}
	for _, tt := range []struct {
		makespan Seconds
		slots    int
		want     Seconds
	}{{90, 1, 50}, {0, 1, 100}, {90, 0, 50}, {0, 0, 50}, {90, 2, 100}} {
		w := tasks(t, "a:100")
		w.Machines, w.Tasks[0].Machine, w.Makespan = []Machine{{Cores: 1}}, 0, tt.makespan
		p, err := c.Predict(w, TopDown{}, tt.slots)
		if err != nil || !(math.Abs(p.Makespan-tt.want) <= 1e-9) {
			t.Errorf("makespan %v, %d slots: %v, %v, want %v", tt.makespan, tt.slots, p.Makespan, err, tt.want)
		}
	}
}

// One term that is 1 in four executions with residual 2 has the coefficient 8/4, a little less by the ridge of 3 %:
// 8/4.12. With a single configuration its size has a prior, 0.05/300 for the start, 0.05/3 for a task; Scale has none.
func TestSolveHasPriors(t *testing.T) {
	for _, tt := range []struct {
		term   Term
		single bool
		prior  float64
	}{
		{Start, false, 0},
		{Start, true, 0.05 / 300},
		{PerTask, false, 0},
		{PerTask, true, 0.05 / 3},
		{Scale, false, 0},
		{Scale, true, 0},
	} {
		// Rows are as small as for a makespan of 1000 s.
		var m gram
		for range 4 {
			m.add([]float64{0.001}, 0.002, 1)
		}
		want := 8e-6 / (4e-6*1.03 + tt.prior*tt.prior)
		if got := (&candidate{terms: []Term{tt.term}}).solve(m, tt.single)[0]; !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("%v, single %v: %v, want %v", tt.term, tt.single, got, want)
		}
	}
}
