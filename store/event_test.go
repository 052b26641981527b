package store

import (
	"math"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"pgregory.net/rapid"
)

// drawEvent draws events of few trials in any order: asked twice, told before
// they are asked, told after the end.
func drawEvent(t *rapid.T) assay.Event {
	at := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "at"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
	p := assay.Proposal{
		ID:     rapid.Int64Range(1, 8).Draw(t, "id"),
		Config: assay.Config{rapid.Float64Range(-1e9, 1e9).Draw(t, "x")},
	}
	e := assay.Event{At: at, Spent: time.Duration(rapid.Int64().Draw(t, "spent"))}
	kind := rapid.IntRange(0, 8).Draw(t, "kind")
	switch kind {
	case 0, 1:
		e.Asked = &p
		e.Batch = rapid.IntRange(-1, 3).Draw(t, "n")
		e.Memo = rapid.SliceOf(rapid.Byte()).Draw(t, "memo")
		return e
	case 6:
		id := assay.RunID{Study: "a", Trial: p.ID, Repeat: kind, Attempt: 1}
		e.Started = &assay.Start{RunID: id, Worker: rapid.String().Draw(t, "where")}
		return e
	case 7:
		e.Ordered = &assay.Order{Trial: p.ID, Priority: rapid.Int().Draw(t, "priority"), By: "somebody"}
		return e
	case 8:
		e.Withdrawn = &assay.Withdrawal{Trial: p.ID, By: "somebody", Reason: rapid.String().Draw(t, "why")}
		return e
	case 2:
		e.Ended = &assay.End{By: rapid.SampledFrom([]string{"budget", "search", ""}).Draw(t, "by")}
		return e
	}
	number := rapid.OneOf(rapid.Float64(),
		rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}))
	e.Told = &assay.Trial{
		Proposal: p,
		State:    assay.State(rapid.IntRange(0, len(assay.States())-1).Draw(t, "state")),
		Value:    number.Draw(t, "value"),
		Measurement: assay.Measurement{
			Elapsed:  time.Duration(rapid.Int64().Draw(t, "elapsed")),
			ExitCode: rapid.IntRange(-1, 255).Draw(t, "exit"),
			Metrics:  rapid.MapOfN(rapid.String(), number, 0, 3).Draw(t, "metrics"),
		},
		Reason:   rapid.String().Draw(t, "reason"),
		Attempts: rapid.IntRange(0, 3).Draw(t, "attempts"),
		Started:  at,
	}
	if rapid.Bool().Draw(t, "decided") {
		e.Told.Decision = &assay.Decision{Stop: rapid.Bool().Draw(t, "stop"), Predicted: number.Draw(t, "predicted")}
	}
	if kind == 3 {
		e.Checked, e.Told = e.Told, nil
	}
	return e
}

// Encoding an event and decoding it gives the same event.
func TestEventRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		b, err := EncodeEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeEvent(b)
		if err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if !assaytest.SameEvent(got, e) {
			t.Errorf("got %+v, want %+v: %s", got, e, b)
		}
	})
}

// An event that can be decoded is encoded to the same event again.
func FuzzDecodeEvent(f *testing.F) {
	for seed := range 20 {
		b, err := EncodeEvent(rapid.Custom(drawEvent).Example(seed))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"at":"2026-01-01T00:00:00Z","spent_ns":1,"told":{"id":1,"config":[1],"state":"failed",` +
		`"measurement":{"elapsed_ns":1,"exit_code":1},"started":"0001-01-01T00:00:00Z","ended":"0001-01-01T00:00:00Z"},` +
		`"nonfinite":{"value":"NaN","metrics/a":"-Inf"}}`))
	f.Add([]byte(`{"at":"2026-01-01T00:00:00Z","spent_ns":1,"ended":{"by":"budget"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEvent(b)
		if err != nil {
			return
		}
		again, err := EncodeEvent(e)
		if err != nil {
			t.Fatalf("cannot be encoded again: %v: %s", err, b)
		}
		e2, err := DecodeEvent(again)
		if err != nil || !assaytest.SameEvent(e, e2) {
			t.Errorf("got %+v, %v, want %+v", e2, err, e)
		}
	})
}
