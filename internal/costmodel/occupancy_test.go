package costmodel

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"pgregory.net/rapid"
)

func measured(seconds float64, metrics map[string]float64) assay.Measurement {
	return assay.Measurement{Elapsed: time.Duration(seconds * 1e9), Metrics: metrics}
}

// o_a = U·T/D; network and disk have the time of their requests, as they are to each other,
// if that much is left of T; the rest is neither.
// Reference: Algorithm 3
func TestProfile(t *testing.T) {
	for _, tt := range []struct {
		name    string
		m       assay.Measurement
		cores   float64
		want    Run
		isError bool
	}{
		{
			"all", measured(100, map[string]float64{"cpu": 40, "data_flow": 50, "network_time": 90, "disk_time": 30}), 0,
			Run{Seconds: 100, DataFlow: 50, Split: SplitFull, Compute: 0.8, Network: 0.9, Disk: 0.3},
			false,
		},
		{
			"at the doors", measured(100, map[string]float64{
				"cpu": 40, "data_flow": 50, "network_time": 30, "disk_time": 10, "stall_time": 20,
			}), 0,
			Run{Seconds: 100, DataFlow: 50, Split: SplitFull, Compute: 0.8, Network: 0.3, Disk: 0.1, Other: 0.8},
			false,
		},
		{ // the same loop of a shell as below, beside a burning process
			"no I/O on a busy machine", measured(11.2, map[string]float64{
				"cpu": 0.78, "data_flow": 0, "network_time": 0, "disk_time": 0, "stall_time": 0,
			}), 1,
			Run{Seconds: 11.2, DataFlow: 1, NoIO: true, Split: SplitFull, Compute: 0.78, Other: 10.42},
			false,
		},
		{
			"gzip without a link", measured(2.83, map[string]float64{
				"cpu": 2.1, "data_flow": 1, "network_time": 0, "disk_time": 0.15, "stall_time": 0.14,
			}), 1,
			Run{Seconds: 2.83, DataFlow: 1, Split: SplitFull, Compute: 2.1, Disk: 0.14, Other: 0.59},
			false,
		},
		{
			"one thread of four cores", measured(10, map[string]float64{
				"cpu": 10, "data_flow": 1, "network_time": 0.001, "disk_time": 0.001, "stall_time": 0.002,
			}), 4,
			Run{Seconds: 10, DataFlow: 1, Split: SplitFull, Compute: 2.5, Network: 0.001, Disk: 0.001, Other: 7.498},
			false,
		},
		{
			"user and system", measured(100, map[string]float64{"user": 30, "system": 10, "data_flow": 50}), 0,
			Run{Seconds: 100, DataFlow: 50, Split: SplitStall, Compute: 0.8, Disk: 1.2},
			false,
		},
		{
			"no data flow: D is one run", measured(100, map[string]float64{"cpu": 40, "data_flow": 0}), 0,
			Run{Seconds: 100, DataFlow: 1, NoIO: true, Split: SplitStall, Compute: 40, Disk: 60},
			false,
		},
		{"time only", measured(100, nil), 0, Run{Seconds: 100, DataFlow: 1, Compute: 100}, false},
		{
			"four cores", measured(100, map[string]float64{"cpu": 200}), 4,
			Run{Seconds: 100, DataFlow: 1, Split: SplitStall, Compute: 50, Disk: 50},
			false,
		},
		{
			"half a core", measured(100, map[string]float64{"cpu": 40}), 0.5,
			Run{Seconds: 100, DataFlow: 1, Split: SplitStall, Compute: 80, Disk: 20},
			false,
		},
		{
			"cores measured", measured(100, map[string]float64{"cpu": 200, "cores": 4}), 0,
			Run{Seconds: 100, DataFlow: 1, Split: SplitStall, Compute: 50, Disk: 50},
			false,
		},
		{
			"U above 1", measured(100, map[string]float64{"cpu": 103}), 0,
			Run{Seconds: 100, DataFlow: 1, Split: SplitStall, Compute: 100},
			false,
		},
		{
			"no request", measured(100, map[string]float64{"cpu": 50, "network_time": 0, "disk_time": 0}), 0,
			Run{Seconds: 100, DataFlow: 1, Split: SplitFull, Compute: 50, Other: 50},
			false,
		},
		{"no time", measured(0, nil), 0, Run{}, true},
		{"negative", measured(1, map[string]float64{"cpu": -1}), 0, Run{}, true},
		{"NaN", measured(1, map[string]float64{"data_flow": math.NaN()}), 0, Run{}, true},
	} {
		got, err := Profile(nil, tt.m, tt.cores)
		if (err != nil) != tt.isError {
			t.Errorf("%s: error %v", tt.name, err)
		}
		same := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b)+1e-12 }
		if !same(got.Compute, tt.want.Compute) || !same(got.Network, tt.want.Network) || !same(got.Disk, tt.want.Disk) ||
			!same(got.Other, tt.want.Other) || got.NoIO != tt.want.NoIO ||
			got.Seconds != tt.want.Seconds || got.DataFlow != tt.want.DataFlow || got.Split != tt.want.Split {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// A data flow so small that the time of a unit is infinite is no data flow, and not an occupancy.
func TestProfileTinyFlow(t *testing.T) {
	_, err := Profile(nil, measured(16384, map[string]float64{"data_flow": 9e-305}), 0)
	if err == nil || !strings.Contains(err.Error(), "data flow of 9e-305") {
		t.Errorf("got %v", err)
	}
}

// Whatever is measured, T = D·(o_a + o_n + o_d).
// Reference: equation 1
func TestProfileAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := measured(rapid.Float64Range(1e-3, 1e6).Draw(t, "T"), map[string]float64{})
		for _, name := range []string{"cpu", "user", "system", "data_flow", "network_time", "disk_time", "stall_time"} {
			if rapid.Bool().Draw(t, "has "+name) {
				m.Metrics[name] = rapid.Float64Range(0, 1e6).Draw(t, name)
			}
		}
		if d := m.Metrics["data_flow"]; d < 1e-300 { // see TestProfileTinyFlow
			delete(m.Metrics, "data_flow")
		}
		r, err := Profile(nil, m, rapid.SampledFrom([]float64{0, 0.25, 1, 8}).Draw(t, "cores"))
		if err != nil {
			t.Fatal(err)
		}
		negative := r.Compute < 0 || r.Network < 0 || r.Disk < 0 || r.Other < 0
		if got := r.DataFlow * r.Of(Whole); !(math.Abs(got-r.Seconds) <= 1e-9*r.Seconds) || negative {
			t.Fatalf("%+v adds up to %v", r, got)
		}
	})
}

// There is no risk if nothing fails. If only runs with little memory fail, little memory is
// believed before all other explanations of the same failures.
func TestFeasibility(t *testing.T) {
	b := prefetcher(t)
	attrs := attributesOf(b.space, nil)
	f := newFeasibility(b.space, attrs, nil, []assay.Config{{0, 0}})
	if f.risk(assay.Config{4, 5}) != 0 {
		t.Error("a risk without a failure")
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for range 200 { // no threshold explains this: the nearest run counts
		c, _ := b.space.Draw(rng)
		f := newFeasibility(b.space, attrs, []assay.Config{{2, 2}}, []assay.Config{{0, 0}, {4, 5}, {0, 5}, {4, 0}})
		if r := f.risk(c); !(r >= 0 && r <= 1) || c.Equal(assay.Config{2, 2}) != (r == 1) {
			t.Fatalf("risk %v at %v", r, c)
		}
	}
}

// A program of one thread has the share "other" on more cores, as much as it grows, and no
// I/O on any; the model file keeps it.
func TestOtherIsPredicted(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "cpu", Kind: assay.Integer, Lo: 1, Hi: 8}})
	if err != nil {
		t.Fatal(err)
	}
	var runs []Run
	for _, cpu := range []float64{1, 2, 3, 4, 6, 8} {
		r, err := Profile(assay.Config{cpu}, measured(10, map[string]float64{
			"cpu": 10, "data_flow": 0, "network_time": 0, "disk_time": 0, "stall_time": 0,
		}), cpu)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	m, err := Fit(space, runs, nil, Best)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var again Model
	if err := again.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Model{m, &again} {
		p := m.Predict(assay.Config{5})
		if p.Network != 0 || p.Disk != 0 || !(math.Abs(p.Other-8) <= 0.8) || !(math.Abs(p.Seconds-10) <= 0.5) ||
			!m.Runs()[0].NoIO {
			t.Errorf("%+v, want 8 s of other and no I/O in 10 s", p)
		}
	}
	if e := m.Explain(assay.Config{5}); e.Limit != Other {
		t.Errorf("the limit is %v", e.Limit)
	}
}
