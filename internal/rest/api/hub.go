package api

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/store"
)

// ringSize is the number of events of a study that are kept for its followers. A follower that is farther behind reads
// from the store.
const ringSize = 1024

// A note is an encoded event.
type note struct {
	seq  int64
	sent []byte
}

// An encoder returns some events as they are sent at once; seq is the number of the last of them.
type encoder func(ctx context.Context, seq int64, events []assay.Event) (note, error)

// A followed study is sent as its events, or as the rows of its trials.
type followed struct {
	study string
	rows  bool
}

// hubs are the studies that have followers.
type hubs struct {
	store *setup.Store

	mu     sync.Mutex
	open   map[followed]*hub
	closed bool
	done   chan struct{}
}

func newHubs(s *setup.Store) *hubs {
	return &hubs{store: s, open: map[followed]*hub{}, done: make(chan struct{})}
}

// A hub watches one study for all who follow it. A follower holds nothing in it but its
// place, so that a slow one costs no memory.
type hub struct {
	users  int // guarded by hubs.mu
	stop   context.CancelFunc
	encode encoder

	mu    sync.Mutex
	first int64         // the number of the first note of the ring, or of the next one
	ring  []note        // in order of seq, without gaps
	moved chan struct{} // closed when ring grows or err is set
	err   error         // why there will be no more
}

// join returns the hub of a study and the function that leaves it. The first to join sets the encoding of events.
func (hs *hubs) join(what followed, at assay.Position, encode encoder) (*hub, func(), error) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.closed {
		return nil, nil, assay.Errorf(assay.ClassUnavailable, "the server ends")
	}
	w, ok := hs.store.Store.(assay.Watcher)
	if !ok {
		return nil, nil, assay.Errorf(assay.ClassUsage, "this store does not notify of new events")
	}
	h := hs.open[what]
	if h == nil {
		ctx, cancel := context.WithCancel(context.Background())
		h = &hub{stop: cancel, encode: encode, first: int64(at) + 1, moved: make(chan struct{})}
		hs.open[what] = h
		go h.watch(ctx, w, what.study, at)
	}
	h.users++
	return h, func() {
		hs.mu.Lock()
		defer hs.mu.Unlock()
		if h.users--; h.users == 0 {
			h.stop()
			if hs.open[what] == h {
				delete(hs.open, what)
			}
		}
	}, nil
}

// count returns how many follow a study.
func (hs *hubs) count() (n int) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for _, h := range hs.open {
		n += h.users
	}
	return n
}

// close ends the streams of all followers.
func (hs *hubs) close() {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if !hs.closed {
		hs.closed = true
		close(hs.done)
	}
}

// watch fills the ring with events behind a position.
func (h *hub) watch(ctx context.Context, w assay.Watcher, study string, at assay.Position) {
	seq := int64(at)
	var err error
	for e, werr := range w.Watch(ctx, study, at) {
		var n note
		if err = werr; err == nil {
			seq++
			n, err = h.encode(ctx, seq, []assay.Event{e})
		}
		if err != nil {
			break
		}
		h.mu.Lock()
		if h.ring = append(h.ring, n); len(h.ring) > 2*ringSize {
			h.ring = slices.Clone(h.ring[len(h.ring)-ringSize:])
			h.first = h.ring[0].seq
		}
		close(h.moved)
		h.moved = make(chan struct{})
		h.mu.Unlock()
	}
	if err == nil {
		err = context.Canceled
	}
	h.mu.Lock()
	h.err = err
	close(h.moved)
	h.mu.Unlock()
}

// behind returns the notes behind a position that the ring still has, and a channel that is closed when more may exist.
// gap is true if some are older than the ring or the hub.
func (h *hub) behind(at int64) (notes []note, gap bool, moved <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case at < h.first-1:
		return nil, true, h.moved, nil
	case at < h.first-1+int64(len(h.ring)):
		// Notes are never changed, and the part of the ring that is handed out neither.
		return h.ring[at-h.first+1 : len(h.ring) : len(h.ring)], false, h.moved, nil
	}
	return nil, false, h.moved, h.err
}

// eventNote encodes one event.
func eventNote(_ context.Context, seq int64, events []assay.Event) (note, error) {
	e := events[0]
	b, err := store.EncodeEvent(e)
	return note{seq, fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", seq, kind(e), bytes.TrimRight(b, "\n"))}, err
}

// kind returns the name of the kind of an event.
func kind(e assay.Event) string {
	for _, k := range []struct {
		is   bool
		name string
	}{
		{e.Asked != nil, "asked"},
		{e.Started != nil, "started"},
		{e.Told != nil, "told"},
		{e.Checked != nil, "checked"},
		{e.Pruned != nil, "cut"},
		{e.Ordered != nil, "ordered"},
		{e.Withdrawn != nil, "withdrawn"},
		{e.Booked != nil, "booked"},
		{e.Drifted != nil, "drifted"},
		{e.Given != nil, "given"},
		{e.Steered != nil, "steered"},
		{e.Ended != nil, "ended"},
	} {
		if k.is {
			return k.name
		}
	}
	return "other"
}
