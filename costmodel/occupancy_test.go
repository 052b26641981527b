package costmodel

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"pgregory.net/rapid"
)

func measured(seconds float64, metrics map[string]float64) assay.Measurement {
	return assay.Measurement{Elapsed: time.Duration(seconds * 1e9), Metrics: metrics}
}

// o_a = U·T/D and o_s = (1-U)·T/D, o_s split as network is to disk.
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
			"all", measured(100, map[string]float64{"cpu": 40, "data_flow": 50, "network_time": 3, "disk_time": 1}), 0,
			Run{Seconds: 100, DataFlow: 50, Split: SplitFull, Compute: 0.8, Network: 0.9, Disk: 0.3},
			false,
		},
		{
			"user and system", measured(100, map[string]float64{"user": 30, "system": 10, "data_flow": 50}), 0,
			Run{Seconds: 100, DataFlow: 50, Split: SplitStall, Compute: 0.8, Disk: 1.2},
			false,
		},
		{
			"no data flow: D is one run", measured(100, map[string]float64{"cpu": 40, "data_flow": 0}), 0,
			Run{Seconds: 100, DataFlow: 1, Split: SplitStall, Compute: 40, Disk: 60},
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
			Run{Seconds: 100, DataFlow: 1, Split: SplitFull, Compute: 50, Disk: 50},
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
		same := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }
		if !same(got.Compute, tt.want.Compute) || !same(got.Network, tt.want.Network) || !same(got.Disk, tt.want.Disk) ||
			got.Seconds != tt.want.Seconds || got.DataFlow != tt.want.DataFlow || got.Split != tt.want.Split {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// Whatever is measured, T = D·(o_a + o_n + o_d).
// Reference: equation 1
func TestProfileAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := measured(rapid.Float64Range(1e-3, 1e6).Draw(t, "T"), map[string]float64{})
		for _, name := range []string{"cpu", "user", "system", "data_flow", "network_time", "disk_time"} {
			if rapid.Bool().Draw(t, "has "+name) {
				m.Metrics[name] = rapid.Float64Range(0, 1e6).Draw(t, name)
			}
		}
		r, err := Profile(nil, m, rapid.SampledFrom([]float64{0, 0.25, 1, 8}).Draw(t, "cores"))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.DataFlow * r.Of(Whole); math.Abs(got-r.Seconds) > 1e-9*r.Seconds || r.Compute < 0 ||
			r.Network < 0 || r.Disk < 0 {
			t.Fatalf("%+v adds up to %v", r, got)
		}
	})
}

// Where nothing fails there is no risk; where only little memory does, that is
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
