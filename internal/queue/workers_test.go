package queue

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// A worker that drains takes nothing more; a run of an evicted one begins again elsewhere,
// and uses up no attempt of the study.
func TestOrder(t *testing.T) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "1", Name: "v"})
		b.hello(Worker{ID: "2", Name: "w"})
		u := b.run(s, job(1))
		b.claim("1")
		for _, err := range []error{b.f.Order("v", Order{Drain: true}), b.f.Order("nobody", Order{})} {
			b.want("the class", assay.ClassOf(err), map[bool]assay.Class{true: assay.ClassNotFound}[err != nil])
		}
		if _, err := b.f.Claim(b.Context(), Ticket{ID: "1", App: Commands}, "1"); !errors.Is(err, ErrDraining) {
			b.Errorf("a claim of one that drains: %v", err)
		}
		b.want("what a draining worker runs", b.beat("1", rid(1, 1), time.Second, 0), Go)
		if err := b.f.Order("1", Order{Evict: true}); err != nil {
			b.Error(err)
		}
		b.want("hello", b.hello(Worker{ID: "1", Name: "v"}), Order{Drain: true, Evict: true})
		b.want("what an evicted worker runs", b.beat("1", rid(1, 1), time.Second, 0), Cancel)
		b.tell("1", rid(1, 1), time.Second, "cancel")
		b.want("elsewhere", b.claim("2"), "s 1.2")
		b.tell("2", rid(1, 2), time.Minute, "")
		if m, err := b.ended(u); err != nil || m.Elapsed != time.Minute {
			b.Errorf("got %v, %v", m.Elapsed, err)
		}
		var states []string
		for _, w := range b.f.Workers() {
			states = append(states, fmt.Sprintln(w.Name, w.Drain, w.Evict, w.Running, w.Done))
		}
		b.want("workers", states, []string{"v true true 0 1\n", "w false false 0 1\n"})
	})
}

// An order is on record before it holds, and holds for the server that comes next, also before the
// worker's hello to it. One that cannot be recorded does not hold.
func TestOrderKept(t *testing.T) {
	inBubble(t, func(b *bench) {
		var record map[string]Order
		var fails error
		keep := func(all map[string]Order) error {
			if fails == nil {
				record = all
			}
			return fails
		}
		first := New(b.carrier, Options{Keep: keep})
		hello := func(f *Fleet, id, name string) Order {
			o, err := f.Hello(b.Context(), Worker{ID: id, Name: name})
			if err != nil {
				b.Error(err)
			}
			return o
		}
		order := func(f *Fleet, who string, o Order) {
			if err := f.Order(who, o); err != nil {
				b.Errorf("%s: %v", who, err)
			}
		}
		for _, id := range []string{"1", "2", "3"} {
			hello(first, id, "w"+id)
		}
		order(first, "w1", Order{Drain: true})
		order(first, "w2", Order{Evict: true})
		order(first, "w3", Order{Drain: true})
		order(first, "w3", Order{})
		fails = errors.New("no room")
		if err := first.Order("w3", Order{Drain: true}); !errors.Is(err, fails) {
			b.Error(err)
		}
		b.want("what could not be recorded", hello(first, "3", "w3"), Order{})
		fails = nil
		evicted := Order{Drain: true, Evict: true}
		b.want("on record", record, map[string]Order{"1": {Drain: true}, "2": evicted})
		second := New(b.carrier, Options{Orders: record, Keep: keep})
		order(second, "1", Order{}) // who is not there yet
		b.want("taken back", hello(second, "1", "w1"), Order{})
		b.want("after a restart", hello(second, "2", "w2"), evicted)
		b.want("on record at last", record, map[string]Order{"2": evicted})
	})
}

// A ticket is offered again if the carrier lost it, also if its depth does not show that.
func TestRefill(t *testing.T) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w", Slots: 2})
		take := func(within time.Duration) bool {
			ctx, cancel := context.WithTimeout(b.Context(), within)
			defer cancel()
			_, err := b.carrier.Take(ctx, []string{Commands}, "")
			return err == nil
		}
		b.run(s, job(1))
		if !take(time.Second) { // and never claims
			b.Fatal("no ticket")
		}
		other := NewMemory(time.Hour)
		b.carrier.mu.Lock() // all is gone: the apps and the tickets are those of the other
		b.carrier.apps, b.carrier.ids, b.carrier.lease = other.apps, other.ids, other.lease
		b.carrier.mu.Unlock()
		other = b.carrier
		if !take(refillEvery + time.Second) {
			b.Error("the queue was lost, and nothing was offered again")
		}
		// The ticket is leased for an hour and led to no run. The depth is right.
		if n, _ := other.Depth(b.Context(), Commands); n != 1 || !take(2*lastPause) {
			b.Errorf("with a depth of %d, no ticket for a worker that has room", n)
		}
	})
}

// The time of a worker's attempts that do not count has a reason and a time. It is taken back if an attempt counts
// after all. A worker whose token is over is shut out until it calls
// Hello again; a call that was under way then does not count.
func TestLosses(t *testing.T) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w"})
		losses := func() Losses { return b.f.Workers()[0].Lost }
		b.run(s, job(1))
		b.claim("w")
		b.beat("w", rid(1, 1), 20*time.Second, 0)
		b.want("before", losses(), Losses{})
		time.Sleep(40 * time.Second)
		lost := losses()
		b.want("lost", lost.Elapsed, 20*time.Second)
		b.want("why", lost.Why, "no heartbeat for 30s")
		if since := time.Since(lost.Last); since <= 0 || since > 15*time.Second {
			b.Errorf("lost %v ago", since)
		}
		b.f.ShutOut(func(id string) bool { return id == "v" })
		b.want("another is shut out", b.f.Workers()[0].ShutOut.IsZero(), true)
		b.f.ShutOut(func(id string) bool { return id == "w" })
		b.want("shut out", time.Since(b.f.Workers()[0].ShutOut), time.Duration(0))
		b.want("away", b.f.Workers()[0].Away, true)
		b.hello(Worker{ID: "w"})
		b.want("a call under way lets it in", b.f.Workers()[0].ShutOut.IsZero(), false)
		time.Sleep(HelloEvery)
		b.hello(Worker{ID: "w"})
		b.want("in again", b.f.Workers()[0].ShutOut.IsZero(), true)
		b.want("there", b.f.Workers()[0].Away, false)

		l := losses()
		l.book(assay.AttemptEnd{Why: assay.WhyCancel, Measurement: assay.Measurement{Elapsed: 5 * time.Second}}, lost.Last)
		b.want("another", l, Losses{25 * time.Second, lost.Last, "cancel"})
		l.book(assay.AttemptEnd{Undo: 20 * time.Second}, lost.Last)
		b.want("the first counts after all", l, Losses{5 * time.Second, lost.Last, "cancel"})
		l.book(assay.AttemptEnd{Undo: 5 * time.Second}, lost.Last)
		b.want("both count", l, Losses{})
	})
}
