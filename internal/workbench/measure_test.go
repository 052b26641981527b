package workbench

import (
	"maps"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// The time and the use of the start do not count, and nothing becomes negative. A run without a program has no
// measurement.
func TestCorrectSubtractsTheStart(t *testing.T) {
	started := entered{PID: 7, Before: 2 * time.Second, User: time.Second, System: 3 * time.Second, RSS: 1000}
	for name, c := range map[string]struct {
		entered entered
		elapsed time.Duration
		metrics map[string]float64
		want    map[string]float64
		rest    time.Duration
		missing bool
	}{
		"use": {
			started, 5 * time.Second,
			map[string]float64{"user": 4, "system": 5, "cpu": 9, "max_rss": 1001},
			map[string]float64{"user": 3, "system": 2, "cpu": 5, "max_rss": 1001},
			3 * time.Second, false,
		},
		"less than the start": {
			started, time.Second,
			map[string]float64{"user": 0.5, "system": 0.5, "cpu": 1, "max_rss": 1000},
			map[string]float64{"user": 0, "system": 0, "cpu": 0},
			1, true,
		},
		"no metrics": {started, 5 * time.Second, nil, map[string]float64{}, 3 * time.Second, false},
	} {
		m := assay.Measurement{Elapsed: c.elapsed, Metrics: c.metrics}
		if !(&benchRun{entered: c.entered}).correct(&m) {
			t.Errorf("%s: the program has not started", name)
		}
		if _, missing := m.Missing["max_rss"]; m.Elapsed != c.rest || !maps.Equal(m.Metrics, c.want) || missing != c.missing {
			t.Errorf("%s: %+v, want %v and %v", name, m, c.rest, c.want)
		}
	}
	m := assay.Measurement{Elapsed: time.Second}
	if (&benchRun{}).correct(&m) || m.Elapsed != time.Second || m.Metrics != nil {
		t.Errorf("without a program: %+v", m)
	}
}
