package search_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// counter proposes 1, 2, 3, ... and computes for each, unless it recalls.
type counter struct {
	last     int64
	computed int
	script   [][]byte
	fresh    int
	told     []int64
	refuses  error
}

func (c *counter) Ask(n int) ([]assay.Proposal, error) {
	var ps []assay.Proposal
	for range n {
		if len(c.script) > 0 {
			c.script = c.script[1:]
		} else {
			c.computed++
		}
		c.last++
		c.fresh++
		ps = append(ps, assay.Proposal{ID: c.last, Config: assay.Config{float64(c.last)}})
	}
	return ps, nil
}

func (c *counter) Tell(ts ...assay.Trial) error {
	for _, t := range ts {
		c.told = append(c.told, t.ID)
	}
	return c.refuses
}

func (c *counter) Memo() []byte {
	defer func() { c.fresh = 0 }()
	return slices.Repeat([]byte{'m'}, c.fresh)
}

func (c *counter) Recall(memos [][]byte) error {
	for _, m := range memos {
		for range m {
			c.script = append(c.script, m)
		}
	}
	return nil
}

// plain is a counter without memos.
type plain struct{ c *counter }

func (p plain) Ask(n int) ([]assay.Proposal, error) { return p.c.Ask(n) }
func (p plain) Tell(ts ...assay.Trial) error        { return p.c.Tell(ts...) }

func told(id int64) assay.Event {
	t := assay.Trial{Proposal: assay.Proposal{ID: id, Config: assay.Config{float64(id)}}, State: assay.Done}
	return assay.Event{Told: &t}
}

// recorded returns the events of asks for 2, 1 and 3 proposals.
func recorded(t *testing.T, s assay.Searcher) (events []assay.Event) {
	t.Helper()
	for _, n := range []int{2, 1, 3} {
		ps, err := s.Ask(n)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, search.Asked(s, n, ps)...)
		events = append(events, told(ps[0].ID))
	}
	return append(events, assay.Event{Ended: &assay.End{By: "trials"}})
}

func TestPlayRepeatsTheCalls(t *testing.T) {
	events := recorded(t, plain{&counter{}})
	again := &counter{}
	if err := (&search.Player{Searcher: plain{again}}).Play(events); err != nil {
		t.Fatal(err)
	}
	if again.last != 6 || again.computed != 6 || !slices.Equal(again.told, []int64{1, 3, 4}) {
		t.Errorf("after the record: %+v", again)
	}
}

func TestMemosSpareTheComputing(t *testing.T) {
	events := recorded(t, &counter{})
	again := &counter{}
	if err := (&search.Player{Searcher: again}).Play(events); err != nil {
		t.Fatal(err)
	}
	if again.last != 6 || again.computed != 0 {
		t.Errorf("after the record: %+v; nothing had to be computed", again)
	}
}

// A record of an earlier version has neither batches nor memos: it was asked one
// at a time.
func TestOldRecord(t *testing.T) {
	events := recorded(t, plain{&counter{}})
	for i := range events {
		events[i].Batch = 0
	}
	again := &counter{}
	if err := (&search.Player{Searcher: again}).Play(events); err != nil || again.last != 6 {
		t.Errorf("%v, %+v", err, again)
	}
}

func TestOffset(t *testing.T) {
	events := recorded(t, plain{&counter{}})
	for _, e := range events {
		switch {
		case e.Asked != nil:
			e.Asked.ID += 100
		case e.Told != nil:
			e.Told.ID += 100
		}
	}
	again := &counter{}
	player := &search.Player{Searcher: again, Offset: 100}
	if err := player.Play(events); err != nil || !slices.Equal(again.told, []int64{1, 3, 4}) {
		t.Errorf("%v, %+v", err, again)
	}
}

func TestDepartures(t *testing.T) {
	tests := []struct {
		name   string
		change func(events []assay.Event, again *counter)
		says   string
	}{
		{"another configuration", func(es []assay.Event, _ *counter) { es[1].Asked.Config = assay.Config{7} }, "proposal 2"},
		{"another number", func(_ []assay.Event, c *counter) { c.last = 5 }, "proposal 1"},
		{"a batch of more", func(es []assay.Event, _ *counter) { es[0].Batch = 3 }, "proposal 3: stored nothing"},
		{"a batch of less", func(es []assay.Event, _ *counter) { es[0].Batch = 1 }, "no proposal"},
		{"a trial refused", func(_ []assay.Event, c *counter) { c.refuses = errors.New("not asked") }, "not asked"},
	}
	for _, tt := range tests {
		events := recorded(t, plain{&counter{}})
		again := &counter{}
		tt.change(events, again)
		err := (&search.Player{Study: "s", Searcher: plain{again}}).Play(events)
		if _, ok := errors.AsType[*search.Error](err); !ok || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.says)
		}
	}
}
