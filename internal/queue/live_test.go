package queue

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// A run is seen as its worker last reported it, and never once it has ended.
func TestLive(t *testing.T) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w", Name: "rack", Slots: 2})
		u := b.run(s, job(1))
		if l, ok := b.f.Live("s", 1); !ok || l.State != "open" || l.Worker != "" {
			t.Errorf("before it is claimed: %+v, %v", l, ok)
		}
		b.claim("w")
		beat := func(id assay.RunID, elapsed time.Duration, out, err string) {
			t.Helper()
			_, e := b.f.Beat(t.Context(), Beat{
				ID: id, Worker: "w", So: assay.Measurement{Elapsed: elapsed}, Tail: []byte(out), ErrTail: []byte(err),
			})
			if e != nil {
				t.Fatal(e)
			}
		}
		beat(rid(1, 1), 2*time.Second, "out", "err")
		beat(rid(1, 1), time.Second, "earlier", "") // overtaken
		l, ok := b.f.Live("s", 1)
		if !ok || l.State != "placed" || l.Worker != "rack" || string(l.Stdout) != "out" || string(l.Stderr) != "err" ||
			l.So.Elapsed != 2*time.Second || l.ID.Attempt != 1 {
			t.Errorf("%+v, %v", l, ok)
		}
		// A worker that sends more has only the end kept.
		beat(rid(1, 1), 3*time.Second, strings.Repeat("x", 1<<20)+"end", "")
		if l, _ := b.f.Live("s", 1); len(l.Stdout) != MaxTail || !strings.HasSuffix(string(l.Stdout), "xend") {
			t.Errorf("%d bytes are kept", len(l.Stdout))
		}
		// Lost, and begun anew elsewhere: the one that runs.
		time.Sleep(40 * time.Second)
		b.run(s, job(2))
		if l, ok := b.f.Live("s", 1); ok && l.ID.Attempt == 1 {
			t.Errorf("of one that was lost: %+v", l)
		}
		b.tell("w", rid(1, 1), 4*time.Second, "")
		if l, ok := b.f.Live("s", 1); ok {
			t.Errorf("after its end: %+v", l)
		}
		for _, tt := range []struct {
			study string
			trial int64
		}{{"s", 9}, {"other", 1}} {
			if l, ok := b.f.Live(tt.study, tt.trial); ok {
				t.Errorf("%+v", l)
			}
		}
		<-u.done
	})
}

// A worker needs the inputs of its current runs, and no others.
func TestNeeds(t *testing.T) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w", Name: "rack"})
		b.hello(Worker{ID: "v", Name: "rack"})
		j := job(1)
		j.Inputs = []assay.Input{{Name: "in", SHA256: "aa"}, {Name: "in2", SHA256: "bb"}}
		needs := func(hash, worker string) string {
			if err := b.f.Needs(hash, func(id string) bool { return id == worker }); err != nil {
				return assay.ClassOf(err).String()
			}
			return "yes"
		}
		b.run(s, j)
		b.want("before the claim", needs("aa", "w"), "not-found")
		b.claim("w")
		b.want("an input", needs("aa", "w")+" "+needs("bb", "w"), "yes yes")
		b.want("no input", needs("cc", "w"), "not-found")
		b.want("another worker", needs("aa", "v"), "not-found")
		// After a restart the needs are unknown until the study has asked again and the worker has reported.
		b.start()
		s = b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w", Name: "rack"})
		b.want("after a restart", needs("aa", "w"), "unavailable")
		b.run(s, j)
		b.want("not heard of", needs("aa", "w"), "unavailable")
		b.beat("w", rid(1, 1), time.Second, 0)
		b.want("heard of", needs("aa", "w")+" "+needs("aa", "v"), "yes not-found")
		b.tell("w", rid(1, 1), time.Second, "")
		b.want("after the end", needs("aa", "w"), "not-found")
	})
}

// The time to bring the inputs and the hash of the kept files are booked; a text that is no hash is not.
func TestBookedFiles(t *testing.T) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w", Slots: 2})
		hash := strings.Repeat("ab", 32)
		for trial, files := range map[int64]string{1: hash, 2: "../../etc"} {
			b.run(s, job(trial))
			b.claim("w")
			o := Outcome{
				ID: rid(trial, 1), Worker: "w", Staged: 3 * time.Second, Files: files,
				Measurement: assay.Measurement{Elapsed: time.Second},
			}
			if err := b.f.Tell(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range b.records["s"].events {
			if k := e.Booked; k != nil && (k.Staged != 3*time.Second || k.Measurement.Elapsed != time.Second || k.Lost() != 0 ||
				k.Files != map[int64]string{1: hash}[k.Trial]) {
				t.Errorf("%+v", k)
			}
		}
	})
}

// A run that could not be set up is tried again when its study goes on: a person may have repaired the setup.
func TestSetupIsTriedAgain(t *testing.T) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w"})
		u := b.run(s, job(1))
		b.claim("w")
		b.tell("w", rid(1, 1), 0, "setup")
		if _, err := b.ended(u); !errors.Is(err, assay.ErrSetup) {
			t.Errorf("%v", err)
		}
		s.Close()
		s = b.join(Study{Name: "s"})
		u = b.run(s, job(1))
		b.want("the next attempt", b.claim("w"), "s 1.2")
		b.tell("w", rid(1, 2), time.Second, "")
		if m, err := b.ended(u); err != nil || m.Elapsed != time.Second {
			t.Errorf("%v, %v", m, err)
		}
	})
}
