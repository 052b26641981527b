package api

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/store"
)

// counted is a store that counts the events that are taken from it.
type counted struct {
	*store.Mem
	n int
}

func (c *counted) Events(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error] {
	return func(yield func(assay.Event, error) bool) {
		for e, err := range c.Mem.Events(ctx, study, after) {
			if c.n++; !yield(e, err) {
				return
			}
		}
	}
}

// A look at a trial reads the events that concern it, and not the record again.
func TestAboutReadsLittle(t *testing.T) {
	ctx := t.Context()
	s := &counted{Mem: store.NewMem()}
	spec := []byte(`{"name":"a","command":["true","{x}"],"params":[{"name":"x","type":"real","min":0,"max":1000}],` +
		`"objective":{"minimize":"elapsed"}}`)
	if err := s.Create(ctx, "a", spec); err != nil {
		t.Fatal(err)
	}
	var events []assay.Event
	for id := int64(1); id <= 300; id++ {
		p := assay.Proposal{ID: id, Config: assay.Config{float64(id)}}
		run := assay.RunID{Study: "a", Trial: id, Attempt: 1}
		events = append(
			events, assay.Event{Asked: &p}, assay.Event{Started: &assay.Start{RunID: run, Worker: "w"}},
			assay.Event{Booked: &assay.AttemptEnd{RunID: run}},
			assay.Event{Told: &assay.Trial{
				Proposal: p, State: assay.Done, Value: 1, Measurement: assay.Measurement{Elapsed: time.Second},
			}})
	}
	if _, err := s.Append(ctx, "a", 0, events...); err != nil {
		t.Fatal(err)
	}
	r := &result.Record{Name: "a", Params: result.Params{{Name: "x", Hi: 1000}}}
	r.Summary.Events = int64(len(events))
	ts := tallies{store: s, of: map[string]*tally{}}
	about := func(id int64) (kinds string) {
		t.Helper()
		if _, _, err := ts.about(ctx, r, id, func(e assay.Event) {
			switch {
			case e.Started != nil && e.Started.Trial == id:
				kinds += "started "
			case e.Booked != nil && e.Booked.Trial == id:
				kinds += "booked "
			default:
				kinds += "? "
			}
		}); err != nil {
			t.Fatal(err)
		}
		return kinds
	}
	for _, id := range []int64{1, 150, 300} {
		if got := about(id); got != "started booked " {
			t.Errorf("trial %d: %s", id, got)
		}
	}
	s.n = 0
	if about(77); s.n > 2 {
		t.Errorf("%d events are read for the two that concern a trial", s.n)
	}
}
