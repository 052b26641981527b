package queue

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// leases has a worker that beats every 10 s for 20 minutes, and then no more, with a server whose clock is set
// all the while. It returns how many attempts were taken from the worker while it beat, and how long after the last
// beat its lease ended, which is an hour if it did not.
func leases(t *testing.T, clock *testbed.SetClock) (wrong int, ended time.Duration) {
	inBubble(t, func(b *bench) {
		b.stop()
		b.f = New(b.carrier, Options{Now: clock.Now})
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		go b.f.Serve(ctx)
		b.f.Ready()
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w"})
		u := b.run(s, job(1))
		b.claim("w")
		for at := time.Duration(0); at < 20*time.Minute; at += 10 * time.Second {
			time.Sleep(10 * time.Second)
			v, err := b.f.Beat(b.Context(), Beat{ID: rid(1, 1), Worker: "w", So: assay.Measurement{Elapsed: at}})
			if err != nil || v != Go {
				wrong++
				break
			}
		}
		wrong += len(b.records["s"].booked())
		for ended = 0; ended < time.Hour; ended += time.Second {
			if _, err := b.loopOf(u); errors.Is(err, assay.ErrLost) {
				break
			}
			time.Sleep(time.Second)
		}
		u.end(context.Canceled)
		s.Close()
	})
	return wrong, ended
}

// A server's clock that is set, by an hour or a year, forward or back, ends no lease too early and none too late. The
// control goes by the time that the clock shows.
func TestClockJumps(t *testing.T) {
	const lease = 30 * time.Second
	steps, control := 0, 0
	for every := range 9 {
		clock := &testbed.SetClock{Every: 1 + 3*every}
		wrong, ended := leases(t, clock)
		if wrong > 0 || ended < lease-10*time.Second || ended > 2*lease {
			t.Errorf("set at every %dth reading: %d attempts were taken from a worker that was heard, and the lease ended %v "+
				"after the last word, want about %v", clock.Every, wrong, ended, lease)
		}
		steps += clock.Set()
		wrong, ended = leases(t, &testbed.SetClock{Every: clock.Every, Wall: true})
		if wrong > 0 || ended < lease-10*time.Second || ended > 2*lease {
			control++
		}
	}
	if control < 3 { // a clock that goes ahead looks like a server that stood still, which ends no lease
		t.Errorf("the control was harmed %d times of 9", control)
	}
	t.Logf("counted: the clock was set %d times under 9 leases: 0 ended wrongly; the control did in %d of 9", steps,
		control)
}

// A worker's message has no time of its clock, which may be a day off, but for when a run began: that is shown, and
// nothing is computed from it. A record is the same whatever the worker's clock shows.
func TestWorkersClocks(t *testing.T) {
	var found []string
	var look func(at string, of reflect.Type)
	look = func(at string, of reflect.Type) {
		switch {
		case of == reflect.TypeFor[time.Time]():
			found = append(found, at)
		case of.Kind() == reflect.Pointer, of.Kind() == reflect.Slice, of.Kind() == reflect.Map:
			look(at, of.Elem())
		case of.Kind() == reflect.Struct:
			for i := range of.NumField() {
				look(at+"."+of.Field(i).Name, of.Field(i).Type)
			}
		}
	}
	for _, v := range []any{Worker{}, Ticket{}, Beat{}, Outcome{}} {
		look(reflect.TypeOf(v).Name(), reflect.TypeOf(v))
	}
	if want := []string{"Beat.So.Began", "Outcome.Measurement.Began"}; !slices.Equal(found, want) {
		t.Errorf("times of workers' clocks: %v, want %v", found, want)
	}
	record := func(skew time.Duration) (text string) {
		inBubble(t, func(b *bench) {
			s := b.join(Study{Name: "s"})
			b.hello(Worker{ID: "w"})
			u := b.run(s, job(1))
			b.claim("w")
			began := time.Now().Add(skew)
			time.Sleep(10 * time.Second)
			b.beat("w", rid(1, 1), 10*time.Second, 0)
			time.Sleep(10 * time.Second)
			err := b.f.Tell(b.Context(), Outcome{ID: rid(1, 1), Worker: "w", Measurement: assay.Measurement{
				Began: began, Elapsed: 20 * time.Second,
			}})
			if err != nil {
				b.Error(err)
			}
			m, err := b.ended(u)
			m.Began = time.Time{}
			text = fmt.Sprintf("%+v %v", m, err)
			for _, e := range b.records["s"].events {
				if e.Booked != nil {
					e.Booked.Measurement.Began = time.Time{}
					text += fmt.Sprintf("\n%v %v %+v", e.At, e.Spent, *e.Booked)
				}
			}
		})
		return text
	}
	want := record(0)
	for _, skew := range []time.Duration{-24 * time.Hour, 24 * time.Hour, -365 * 24 * time.Hour} {
		if got := record(skew); got != want {
			t.Errorf("with a clock %v ahead:\n%s\nwant\n%s", skew, got, want)
		}
	}
	t.Log("counted: 3 clocks of workers that were off by a day or a year: 0 records differ")
}
