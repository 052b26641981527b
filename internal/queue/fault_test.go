package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// The rigs of this file freeze a worker or cut it off in the middle of a run, at the level of
// calls. The controls are defects that make them fail:
// see TestSimulatorFindsFlaws.

// A rig is the fate of a run whose first worker was away for a while.
type rig struct {
	booked  []string
	result  time.Duration // that of the run
	verdict [2]Verdict    // what the first and the second worker were told when the first was back
}

func (r rig) String() string { return fmt.Sprintf("{%v %v %v}", r.booked, r.result, r.verdict) }

// away has a worker begin a run of 10 minutes and, after a minute, be away for a time, in
// which another one begins the run again. gap is the gap that the worker reports when it is
// back. Both end the run if they may.
func away(t *testing.T, silence, gap time.Duration) (r rig) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "first"})
		b.hello(Worker{ID: "second"})
		u := b.run(s, job(1))
		b.claim("first")
		time.Sleep(time.Minute / 3)
		b.beat("first", rid(1, 1), time.Minute/3, 0)
		time.Sleep(silence)
		if _, err := b.loopOf(u); errors.Is(err, assay.ErrLost) {
			again := job(1)
			again.ID.Attempt = 2
			u = b.run(s, again)
		}
		second := b.claim("second") != ""
		if second {
			time.Sleep(time.Second)
			b.beat("second", rid(1, 2), time.Second, 0)
		}
		ran := time.Minute/3 + silence - gap
		r.verdict[0] = b.beat("first", rid(1, 1), ran, gap)
		if second {
			time.Sleep(time.Second)
			r.verdict[1] = b.beat("second", rid(1, 2), 2*time.Second, 0)
		}
		why := map[Verdict]string{Go: "", Cancel: assay.WhyCancel, Duplicate: assay.WhyDuplicate}
		b.tell("first", rid(1, 1), ran+time.Second, why[r.verdict[0]])
		if second {
			b.tell("second", rid(1, 2), 3*time.Second, why[r.verdict[1]])
		}
		if m, err := b.loopOf(u); err == nil {
			r.result = m.Elapsed
		}
		r.booked = slices.Clone(b.records["s"].booked())
		u.end(context.Canceled)
	})
	return r
}

// loopOf returns the measurement and error of a run by now; both are zero if it goes on.
func (b *bench) loopOf(u *future) (assay.Measurement, error) {
	synctest.Wait()
	select {
	case <-u.done:
		return u.m, u.err
	default:
		return assay.Measurement{}, nil
	}
}

// A worker that was cut off goes on with its run, which is further than the one that was
// begun in its place; a short silence changes nothing.
func TestPartition(t *testing.T) {
	const lease = 30 * time.Second
	for _, c := range []struct {
		silence time.Duration
		want    string
	}{
		{lease / 2, "{[1.1] 36s [go ]}"},
		{lease * 3 / 2, "{[1.1 lost 1.1 1.2 duplicate extra] 1m6s [go duplicate]}"},
		{lease * 3, "{[1.1 lost 1.1 1.2 duplicate extra] 1m51s [go duplicate]}"},
	} {
		if got := fmt.Sprint(away(t, c.silence, 0)); got != c.want {
			t.Errorf("cut off for %v: got %s, want %s", c.silence, got, c.want)
		}
	}
}

// A worker that stood still has a tainted measurement, which never counts.
func TestFrozen(t *testing.T) {
	const lease = 30 * time.Second
	for _, c := range []struct {
		silence time.Duration
		want    string
	}{
		{lease / 2, "{[1.1] 21s [go ]}"},
		{lease * 3 / 2, "{[1.1 lost 1.1 duplicate 1.2] 3s [duplicate go]}"},
		{lease * 3, "{[1.1 lost 1.1 duplicate 1.2] 3s [duplicate go]}"},
	} {
		if got := fmt.Sprint(away(t, c.silence, c.silence)); got != c.want {
			t.Errorf("frozen for %v: got %s, want %s", c.silence, got, c.want)
		}
	}
}

// again returns a study "s" whose first run is lost on the worker "first", and the call that makes it again. The worker
// "second" is there.
func (b *bench) again() (*Runner, *future) {
	b.Helper()
	s := b.join(Study{Name: "s"})
	b.hello(Worker{ID: "first"})
	b.hello(Worker{ID: "second"})
	u := b.run(s, job(1))
	b.claim("first")
	time.Sleep(40 * time.Second)
	if _, err := b.ended(u); !errors.Is(err, assay.ErrLost) {
		b.Errorf("the first attempt: %v", err)
	}
	again := job(1)
	again.ID.Attempt = 2
	return s, b.run(s, again)
}

// A worker that stood still while the run ended sends a tainted outcome, and the run is
// made again. The outcome of an earlier attempt never counts for a later one.
func TestStaleOutcome(t *testing.T) {
	inBubble(t, func(b *bench) {
		_, u := b.again()
		b.claim("second")
		b.tell("first", rid(1, 1), time.Second, assay.WhyTainted)
		b.tell("second", rid(1, 2), time.Minute, "")
		b.tell("first", rid(1, 1), time.Second, assay.WhyTainted)
		if m, err := b.ended(u); err != nil || m.Elapsed != time.Minute {
			b.Errorf("the second attempt: %v, %v", m.Elapsed, err)
		}
		b.want("booked", b.records["s"].booked(), []string{"1.1 lost", "1.1 tainted", "1.2"})
	})
}

// A study may end while a worker is at an attempt whose run another one has decided. The attempt is booked with its
// cost.
func TestEndOfAStudyBooksDuplicates(t *testing.T) {
	inBubble(t, func(b *bench) {
		s, u := b.again()
		b.claim("second")
		b.beat("second", rid(1, 2), 3*time.Second, 0)
		b.tell("first", rid(1, 1), time.Minute, "")
		if m, err := b.ended(u); err != nil || m.Elapsed != time.Minute {
			b.Errorf("the run: %v, %v", m.Elapsed, err)
		}
		if err := s.End(b.Context()); err != nil {
			b.Error(err)
		}
		s.Close()
		b.want("booked", b.records["s"].booked(), []string{"1.1 lost", "1.1", "1.2 duplicate extra"})
		if err := ledger.Record(b.records["s"].events); err != nil {
			b.Error(err)
		}
		last := b.records["s"].events[len(b.records["s"].events)-1].Booked
		b.want("cost of the duplicate", last.Measurement.Elapsed, 3*time.Second)
	})
}

// So is an attempt that is being placed when the study ends.
func TestEndOfAStudyWaitsForAPlacement(t *testing.T) {
	inBubble(t, func(b *bench) {
		s, u := b.again()
		record := b.records["s"]
		record.slow.Store(int64(time.Second))
		claimed := make(chan Verdict, 1)
		go func() {
			c, _ := b.f.Claim(b.Context(), Ticket{ID: "slow", App: Commands}, "second")
			claimed <- c.Verdict
		}()
		synctest.Wait()
		record.slow.Store(0)
		b.tell("first", rid(1, 1), time.Minute, "")
		if _, err := b.ended(u); err != nil {
			b.Error(err)
		}
		if err := s.End(b.Context()); err != nil {
			b.Error(err)
		}
		s.Close()
		b.want("verdict", <-claimed, Drop)
		b.want("booked", record.booked(), []string{"1.1 lost", "1.1", "1.2 duplicate extra"})
		if err := ledger.Record(record.events); err != nil {
			b.Error(err)
		}
	})
}

// A server that stood still itself takes nothing for lost: no message could reach it.
func TestServerFrozen(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.stop()
		stood := time.Duration(0)
		b.f = New(b.carrier, Options{Now: func() time.Time { return time.Now().Add(stood) }})
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		go b.f.Serve(ctx)
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w"})
		u := b.run(s, job(1))
		b.claim("w")
		b.f.mu.Lock()
		stood = time.Hour
		b.f.mu.Unlock()
		time.Sleep(20 * time.Second)
		b.want("after an hour", b.beat("w", rid(1, 1), time.Hour, 0), Go)
		time.Sleep(40 * time.Second)
		if _, err := b.ended(u); !errors.Is(err, assay.ErrLost) {
			b.Errorf("a silence after that: %v", err)
		}
		b.want("booked", b.records["s"].booked(), []string{"1.1 lost"})
	})
}

// An attempt whose worker reports while the loss of another one is being written is not lost.
func TestHeardOfWhileAnotherIsLost(t *testing.T) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w", Slots: 2})
		first, second := b.run(s, job(1)), b.run(s, job(2))
		b.want("claims", []string{b.claim("w"), b.claim("w")}, "[s 1.1 s 2.1]")
		b.records["s"].slow.Store(int64(20 * time.Second))
		time.Sleep(40 * time.Second) // both are silent for too long: the first is being written
		b.want("beat", b.beat("w", rid(2, 1), 40*time.Second, 0), Go)
		time.Sleep(15 * time.Second)
		if _, err := b.ended(first); !errors.Is(err, assay.ErrLost) {
			b.Errorf("the first: %v", err)
		}
		b.records["s"].slow.Store(0)
		b.tell("w", rid(2, 1), time.Minute, "")
		if m, err := b.ended(second); err != nil || m.Elapsed != time.Minute {
			b.Errorf("the second: %v, %v", m.Elapsed, err)
		}
		b.want("booked", b.records["s"].booked(), "[1.1 lost 2.1]")
	})
}

// A run whose record fails is not begun, and not ended, until it is recorded.
func TestRecordFails(t *testing.T) {
	inBubble(t, func(b *bench) {
		log := &broken{memo: &memo{}}
		s, err := b.f.Join(Study{Name: "s", Record: log})
		if err != nil {
			b.Fatal(err)
		}
		b.hello(Worker{ID: "w"})
		u := b.run(s, job(1))
		log.fails = true
		ticket := Ticket{ID: "1", App: Commands}
		if _, err := b.f.Claim(b.Context(), ticket, "w"); assay.ClassOf(err) != assay.ClassUnavailable {
			b.Errorf("a claim that cannot be recorded: %v", err)
		}
		log.fails = false
		c, err := b.f.Claim(b.Context(), ticket, "w")
		if err != nil || c.Task.ID != rid(1, 1) {
			b.Errorf("the claim again: %+v, %v", c, err)
		}
		log.fails = true
		o := Outcome{ID: rid(1, 1), Worker: "w", Measurement: assay.Measurement{Elapsed: time.Second}}
		if err := b.f.Tell(b.Context(), o); assay.ClassOf(err) != assay.ClassUnavailable {
			b.Errorf("an outcome that cannot be recorded: %v", err)
		}
		log.fails = false
		if err := b.f.Tell(b.Context(), o); err != nil {
			b.Error(err)
		}
		if m, err := b.ended(u); err != nil || m.Elapsed != time.Second {
			b.Errorf("got %v, %v", m.Elapsed, err)
		}
		b.want("booked", log.booked(), []string{"1.1"})
	})
}

type broken struct {
	*memo
	fails bool
}

func (r *broken) Append(ctx context.Context, events ...assay.Event) error {
	if r.fails {
		return errors.New("no space")
	}
	return r.memo.Append(ctx, events...)
}
