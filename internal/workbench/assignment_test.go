package workbench

import (
	"maps"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Foreign resources are handed on. Our resources are in range or refused by name.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.SampledFrom([]string{CPU, Memory, RTT, Bandwidth, Disk, "cpus"}), rapid.String())
		in := rapid.MapOf(name, rapid.Float64()).Draw(t, "resources")
		before := maps.Clone(in)
		a, rest, err := split(in)
		if !maps.Equal(in, before) {
			t.Fatal("the argument was changed")
		}
		if err != nil {
			return
		}
		for name, x := range rest {
			if in[name] != x && !math.IsNaN(x) {
				t.Fatalf("%s is %g, was %g", name, x, in[name])
			}
			switch name {
			case CPU, Memory, RTT, Bandwidth, Disk:
				t.Fatalf("%s is handed on", name)
			}
		}
		if a.cpu < 0 || a.memory < 0 || a.rtt < 0 || a.bandwidth < 0 || a.disk < 0 ||
			a.rtt > 10*time.Second || math.IsNaN(a.cpu+a.memory+a.bandwidth+a.disk) {
			t.Fatalf("%v gives %+v", in, a)
		}
	})
	a, rest, err := split(map[string]float64{CPU: 0.5, Memory: 1 << 30, RTT: 0.018, Bandwidth: 20e6, Disk: 4e6, "cpus": 2})
	want := assignment{0.5, 1 << 30, 18 * time.Millisecond, 20e6, 4e6}
	if a != want || !maps.Equal(rest, map[string]float64{"cpus": 2}) || err != nil {
		t.Errorf("got %+v, %v, %v", a, rest, err)
	}
	for _, name := range []string{CPU, Memory, RTT, Bandwidth, Disk} {
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1} {
			if _, _, err := split(map[string]float64{name: x}); err == nil {
				t.Errorf("%s = %g is accepted", name, x)
			}
		}
	}
}
