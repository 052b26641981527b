package study

import (
	"runtime"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// The memory of a study for its trials, with all that it knows by configuration and for the race, is at most 3/5
// of the memory of the trials as values: a server has hundreds of studies.
func TestHeld(t *testing.T) {
	const n = 20_000
	trial := func(i int) assay.Trial {
		at := time.Unix(1e9, int64(i)*1e6).UTC()
		return assay.Trial{
			Proposal: assay.Proposal{ID: int64(i + 1), Config: assay.Config{float64(i)}},
			State:    assay.Done, Value: 1 + float64(i),
			Measurement: assay.Measurement{
				Elapsed: time.Duration(i) * time.Millisecond, Metrics: map[string]float64{"elapsed": float64(i)},
			},
			Attempts: 1, Started: at, Ended: at.Add(time.Second),
		}
	}
	held := func(keep func(i int)) float64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range n {
			keep(i)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		return float64(after.HeapAlloc-before.HeapAlloc) / n
	}
	var values []assay.Trial
	loose := held(func(i int) { values = append(values, trial(i)) })
	l := newLoop(&Study{Name: "s", Race: true})
	study := held(func(i int) { l.run.tally.began(trial(i).Config); l.judge.remember(trial(i)) })
	t.Logf("%.0f bytes a trial in a study, %.0f as values", study, loose)
	if study > loose*3/5 {
		t.Errorf("a study holds %.0f bytes of a trial, which takes %.0f as a value", study, loose)
	}
	runtime.KeepAlive(values)
	runtime.KeepAlive(l)
}
