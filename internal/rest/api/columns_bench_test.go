package api

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// benched puts n trials of the study tuned on record, each asked and told.
func (r *rig) benched(b *testing.B, n int) {
	b.Helper()
	sum, err := r.store.Summary(b.Context(), "tuned")
	if err != nil {
		b.Fatal(err)
	}
	at := assay.Position(sum.Events)
	var events []assay.Event
	for i := range n {
		began := time.Unix(1700001000+int64(i), 0).UTC()
		p := assay.Proposal{ID: int64(100 + i), Config: assay.Config{float64(1 + i%100)}}
		end := &assay.Trial{
			Proposal: p, State: assay.Done, Value: 1 + math.Sin(float64(i)), Started: began, Ended: began.Add(time.Second),
			Reason: fmt.Sprint("reason ", i%50), Measurement: assay.Measurement{
				Elapsed: time.Second, Metrics: map[string]float64{"max_rss": 1e6 + float64(i), "cpu": 0.9, "user": 0.5},
			},
		}
		events = append(events, assay.Event{At: began, Asked: &p},
			assay.Event{At: end.Ended, Spent: time.Duration(i) * time.Second, Told: end})
	}
	if _, err := r.store.Append(b.Context(), "tuned", at, events...); err != nil {
		b.Fatal(err)
	}
}

// The first request for the columns of 100,000 trials reads the whole record; B-held/op is the memory that is kept.
func BenchmarkColumnsFirst(b *testing.B) {
	r := newRig(b)
	r.benched(b, 100_000)
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for b.Loop() {
		r.tallies.of = map[string]*tally{}
		before := held()
		if _, err := r.Server.trials(b.Context(), "tuned", 0, 1, true, nil); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(held()-before), "B-held/op")
	}
}

// A later request for all of them is answered from memory.
func BenchmarkColumnsAgain(b *testing.B) {
	r := newRig(b)
	r.benched(b, 100_000)
	for b.Loop() {
		out, err := r.Server.trials(b.Context(), "tuned", 0, 1_000_000, true, nil)
		if err != nil {
			b.Fatal(err)
		}
		text, err := json.Marshal(out)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(text)))
	}
}
