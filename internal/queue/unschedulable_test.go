package queue

import (
	"strings"
	"testing"
	"time"
)

// A study that no worker can run is reported after a minute, with the abilities of the workers, and no longer once
// one can run it.
func TestUnschedulable(t *testing.T) {
	inBubble(t, func(b *bench) {
		said := func(study string, parts ...string) {
			t.Helper()
			got := b.f.Unschedulable(study)
			if (got == "") != (len(parts) == 0) {
				t.Errorf("%s: %q", study, got)
			}
			for _, p := range parts {
				if !strings.Contains(got, p) {
					t.Errorf("%s: %q lacks %q", study, got, p)
				}
			}
			for _, e := range b.f.Queue() {
				if e.Study == study && e.State == "open" && e.Unschedulable != got {
					t.Errorf("%s: its runs say %q, not %q", study, e.Unschedulable, got)
				}
			}
		}
		// w sends a hello as long as it lives: a worker that is there stays there.
		alive := func(d time.Duration, workers ...Worker) {
			for range d / (10 * time.Second) {
				for _, w := range workers {
					b.hello(w)
				}
				time.Sleep(10 * time.Second)
			}
		}
		s := b.join(Study{Name: "s", App: "x264"})
		b.run(s, job(1))
		alive(50 * time.Second)
		said("s")
		alive(20 * time.Second)
		said("s", "there is no worker")

		nap := Worker{ID: "1", Name: "one", Apps: []string{"nap", "sort"}, MachineClass: "c1", Machine: "2 cores"}
		b.hello(nap)
		said("s", "no worker has the application x264: there is nap, sort")
		s.Close()

		// A class: no worker is of it, or its workers have another application.
		v := b.join(Study{Name: "t", App: "nap", MachineClass: "c9"})
		b.run(v, job(1))
		alive(50*time.Second, nap)
		said("t")
		alive(20*time.Second, nap)
		said("t", "no worker of the class c9 is there: the workers that have the application nap are of c1 (2 cores)")
		other := Worker{ID: "2", Name: "two", Apps: []string{"sort"}, MachineClass: "c9", Machine: "8 cores"}
		b.hello(other)
		said("t", "no worker of the class c9 has the application nap: those that do are of c1 (2 cores)")

		// One that can, though it drains, is no worker that takes it.
		other.Apps = []string{"nap"}
		b.hello(other)
		said("t")
		alive(10*time.Second, nap, other)
		if err := b.f.Order("two", Order{Drain: true}); err != nil {
			t.Fatal(err)
		}
		alive(50*time.Second, nap, other)
		said("t")
		alive(20*time.Second, nap, other)
		said("t", "class c9", "draining, set aside or away: 1 that could")

		// One that waits for its turn lacks nothing, and neither does one that is held.
		v.Hold(true)
		alive(10*time.Second, nap, other)
		said("t")
		v.Close()
		alive(10*time.Second, nap)
		u := b.join(Study{Name: "s", App: "nap"})
		b.run(u, job(1))
		alive(3*time.Minute, nap)
		said("s")
		said("nothing")
	})
}

// With a lease that is shorter than the time between two hellos, a worker that has nothing to do is
// there all the same.
func TestShortLease(t *testing.T) {
	now := time.Unix(0, 0)
	f := New(NewMemory(0), Options{Lease: time.Second, Now: func() time.Time { return now }})
	if _, err := f.Hello(t.Context(), Worker{ID: "w", Slots: 1}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(HelloEvery)
	if f.Workers()[0].Away {
		t.Error("away between two hellos")
	}
	if now = now.Add(HelloEvery + time.Second); !f.Workers()[0].Away {
		t.Error("there after two hellos that did not come")
	}
}
