package spec

import (
	"testing"
)

func TestUnits(t *testing.T) {
	s := &Study{Metrics: []Metric{
		{Name: "out", Source: "size:out.bin"},
		{Name: "lines", Source: "size:lines", Unit: "lines"},
		{Name: "rate", Source: "stdout:/rate ([0-9]+)/"},
	}}
	for name, want := range map[string]string{"out": "B", "lines": "lines", "rate": "", "elapsed": "s", "max_rss": "B"} {
		if got := s.Unit(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
