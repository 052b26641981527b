package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// pair returns the events that a study appends for one trial, of an ordinary size.
func pair(id int64) []assay.Event {
	at := time.Unix(1_770_000_000+id, 123456789).UTC()
	p := assay.Proposal{ID: id, Config: assay.Config{float64(id % 9), 0.25, 1024, 3}}
	return []assay.Event{
		{At: at, Spent: time.Duration(id) * time.Second, Asked: &p},
		{At: at.Add(time.Second), Spent: time.Duration(id+1) * time.Second, Told: &assay.Trial{
			Proposal: p,
			State:    assay.Done,
			Value:    1 + 1/float64(id+1),
			Measurement: assay.Measurement{Elapsed: 987654321, Metrics: map[string]float64{
				"cpu_s": 0.9, "rss_B": 12345678, "read_B": 4096, "write_B": 8192, "user_s": 0.7, "sys_s": 0.2,
			}},
			Attempts: 1,
			Started:  at,
			Ended:    at.Add(time.Second),
		}},
	}
}

// put appends the trial of that ID to a study that has those before it.
func put(ctx context.Context, s assay.Store, study string, id int64) error {
	_, err := s.Append(ctx, study, assay.Position(2*(id-1)), pair(id)...)
	return err
}

// grow appends n trials from the ID on, some at a time.
func grow(t testing.TB, s assay.Store, study string, from, n int64) {
	t.Helper()
	for id := from; id < from+n; {
		at := assay.Position(2 * (id - 1))
		var events []assay.Event
		for end := min(id+100, from+n); id < end; id++ {
			events = append(events, pair(id)...)
		}
		if _, err := s.Append(t.Context(), study, at, events...); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkAppend appends one trial, asked and told at once, to a study that
// has n trials already. The time must not depend on n.
func BenchmarkAppend(b *testing.B) {
	for name, open := range map[string]func(b *testing.B) assay.Store{
		"Mem":    func(*testing.B) assay.Store { return store.NewMem() },
		"SQLite": func(b *testing.B) assay.Store { return openTest(b, filepath.Join(b.TempDir(), "a.db")) },
	} {
		for _, n := range []int64{0, 1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				s := open(b)
				if err := s.Create(b.Context(), "a", []byte("spec")); err != nil {
					b.Fatal(err)
				}
				grow(b, s, "a", 1, n)
				b.ReportAllocs()
				for id := n + 1; b.Loop(); id++ {
					if err := put(b.Context(), s, "a", id); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkEvents reads a study of 10,000 trials, 20,000 events, with a memo for
// each proposal, as a resume does. The goal is at most 0.5 s of processor time.
func BenchmarkEvents(b *testing.B) {
	s := openTest(b, filepath.Join(b.TempDir(), "a.db"))
	if err := s.Create(b.Context(), "a", nil); err != nil {
		b.Fatal(err)
	}
	memo := bytes.Repeat([]byte("0123456789abcdef"), 12)
	for id := int64(1); id <= 10000; {
		at := assay.Position(2 * (id - 1))
		var events []assay.Event
		for range 100 {
			two := pair(id)
			two[0].Memo = memo
			events = append(events, two...)
			id++
		}
		if _, err := s.Append(b.Context(), "a", at, events...); err != nil {
			b.Fatal(err)
		}
	}
	before := processorTime(b)
	for b.Loop() {
		n := 0
		for _, err := range s.Events(b.Context(), "a", 0) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 20000 {
			b.Fatalf("got %d events, want 20000", n)
		}
	}
	b.ReportMetric((processorTime(b)-before).Seconds()/float64(b.N), "cpu-s/op")
}

// processorTime returns the processor time of this process.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSummaries lists 1,000 studies of 1,000 trials each.
func BenchmarkSummaries(b *testing.B) {
	s := openTest(b, filepath.Join(b.TempDir(), "a.db"))
	for i := range 1000 {
		name := fmt.Sprint("study ", i)
		if err := s.Create(b.Context(), name, nil); err != nil {
			b.Fatal(err)
		}
		grow(b, s, name, 1, 1000)
	}
	for b.Loop() {
		n := int64(0)
		for sum, err := range s.Summaries(b.Context(), "", 0) {
			if err != nil {
				b.Fatal(err)
			}
			n += sum.Counts[assay.Done]
		}
		if n != 1_000_000 {
			b.Fatalf("got %d trials, want 1000000", n)
		}
	}
}
