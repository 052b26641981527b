package store

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"pgregory.net/rapid"
)

// drawEvent draws events of few trials in any order: asked twice, told before
// they are asked, told after the end.
func drawEvent(t *rapid.T) assay.Event {
	at := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "at"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
	p := assay.Proposal{ID: rapid.Int64Range(1, 8).Draw(t, "id"), Config: assay.Config{rapid.Float64Range(-1e9, 1e9).Draw(t, "x")}}
	e := assay.Event{At: at, Spent: time.Duration(rapid.Int64().Draw(t, "spent"))}
	kind := rapid.IntRange(0, 8).Draw(t, "kind")
	switch kind {
	case 0, 1:
		e.Asked = &p
		e.Batch = rapid.IntRange(-1, 3).Draw(t, "n")
		e.Memo = rapid.SliceOf(rapid.Byte()).Draw(t, "memo")
		return e
	case 6:
		e.Started = &assay.Start{RunID: assay.RunID{Study: "a", Trial: p.ID, Repeat: kind, Attempt: 1}, Where: rapid.String().Draw(t, "where")}
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
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}))
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
		if !sameEvent(got, e) {
			t.Errorf("got %+v, want %+v: %s", got, e, b)
		}
	})
}

// The projection that SQLite keeps is the one that is made from all events.
func TestProjection(t *testing.T) {
	dir := fastDir(t)
	n := 0
	s := openTest(t, dir+"/a.db")
	m := NewMem()
	rapid.Check(t, func(rt *rapid.T) {
		n++
		study := time.Duration(n).String()
		stores := []interface {
			assay.Store
			Projector
		}{m, s}
		for range 2 {
			for _, st := range stores {
				st.Create(t.Context(), study, nil)
			}
		}
		var all []assay.Trial
		var at assay.Position
		for range rapid.IntRange(0, 4).Draw(rt, "appends") {
			batch := rapid.SliceOfN(rapid.Custom(drawEvent), 1, 8).Draw(rt, "batch")
			for _, st := range stores {
				if end, err := st.Append(t.Context(), study, at, batch...); err != nil || end != at+assay.Position(len(batch)) {
					rt.Fatal(end, err)
				}
			}
			at += assay.Position(len(batch))
		}
		got, want := rowsOf(rt, t, s, study), rowsOf(rt, t, m, study)
		if len(got) != len(want) {
			rt.Fatalf("got %d trials, want %d", len(got), len(want))
		}
		for i := range got {
			a, b := got[i], want[i]
			if a.Seq != b.Seq || !sameEvent(assay.Event{Told: &a.Trial}, assay.Event{Told: &b.Trial}) {
				rt.Errorf("trial %d: got %+v, want %+v", i, a, b)
			}
			all = append(all, b.Trial)
		}
		gotSum, err1 := s.Summary(t.Context(), study)
		wantSum, err2 := m.Summary(t.Context(), study)
		if err1 != nil || err2 != nil {
			rt.Fatal(err1, err2)
		}
		checkSummary(rt, gotSum, wantSum)
		// What the root package says about the same trials. Of equal values the
		// earlier told counts here, the earlier in the list there.
		best, ok := assay.Best(all)
		if ok != (gotSum.Best != 0) || ok && gotSum.Value != best.Value {
			rt.Errorf("best: got %d with %v, want %d with %v", gotSum.Best, gotSum.Value, best.ID, best.Value)
		}
		if gotSum.Trials() != int64(len(all)) {
			rt.Errorf("got %d trials in the summary, want %d", gotSum.Trials(), len(all))
		}
	})
	checkFsck(t, s)
}

func rowsOf(rt *rapid.T, t *testing.T, p Projector, study string) (rows []TrialRow) {
	for row, err := range p.Trials(t.Context(), study) {
		if err != nil {
			rt.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func checkSummary(t *rapid.T, got, want Summary) {
	if !got.First.Equal(want.First) || !got.Last.Equal(want.Last) {
		t.Errorf("times: got %v to %v, want %v to %v", got.First, got.Last, want.First, want.Last)
	}
	for _, s := range []*Summary{&got, &want} {
		s.First, s.Last, s.Created = time.Time{}, time.Time{}, time.Time{}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
