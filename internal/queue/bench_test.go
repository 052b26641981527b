package queue

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// noRecord writes nothing: the benchmarks are of the Fleet itself.
type noRecord struct{}

func (noRecord) Append(context.Context, ...assay.Event) error { return nil }

// noCarrier brings nothing: the benchmarks make their own tickets.
type noCarrier struct{ Carrier }

func (noCarrier) Offer(context.Context, ...Ticket) error { return nil }

// A crowd is a Fleet as large as one is to be.
type crowd struct {
	f       *Fleet
	workers []string
	runners []*Runner
	next    []int64 // the number of the next trial of each study
	placed  []Task
	by      []string // the worker of each
	ticket  int
}

const (
	crowdWorkers, crowdSlots   = 1000, 10_000
	crowdStudies, crowdOpen    = 1000, 100_000
	crowdBytes                 = 2048 // an open run may cost, by and large
	crowdClasses, crowdApplied = 10, 5
)

// newCrowd has 1,000 workers with 10,000 slots, all taken, and 100,000 runs open in 1,000
// studies.
func newCrowd(tb testing.TB) *crowd {
	c := &crowd{f: New(noCarrier{}, Options{}), next: make([]int64, crowdStudies)}
	for i := range crowdWorkers {
		w := Worker{
			ID: fmt.Sprint("w", i), Slots: crowdSlots / crowdWorkers, MachineClass: fmt.Sprint("c", i%crowdClasses),
			Apps: []string{"a0", "a1", "a2", "a3", "a4"},
		}
		if _, err := c.f.Hello(tb.Context(), w); err != nil {
			tb.Fatal(err)
		}
		c.workers = append(c.workers, w.ID)
	}
	for i := range crowdStudies {
		r, err := c.f.Join(Study{
			Name: fmt.Sprint("study", i), App: fmt.Sprint("a", i%crowdApplied), MachineClass: ClassAny, Record: noRecord{},
			Priority: i % 2,
		})
		if err != nil {
			tb.Fatal(err)
		}
		c.runners = append(c.runners, r)
	}
	for i := range crowdOpen + crowdSlots {
		c.open(tb, i%crowdStudies)
	}
	for i := range crowdSlots {
		c.claim(tb, i)
	}
	return c
}

// open opens a run of a study. No goroutine waits for it: that is the loop's.
func (c *crowd) open(tb testing.TB, study int) {
	c.next[study]++
	id := assay.RunID{Study: c.runners[study].m.Name, Trial: c.next[study], Attempt: 1}
	if _, _, err := c.runners[study].begin(assay.Job{ID: id, Config: assay.Config{1, 2}}, false); err != nil {
		tb.Fatal(err)
	}
}

// claim has a worker claim a run.
func (c *crowd) claim(tb testing.TB, i int) {
	c.ticket++
	w := c.workers[i%len(c.workers)]
	app := fmt.Sprint("a", i%crowdApplied)
	t, err := c.f.Claim(tb.Context(), Ticket{ID: fmt.Sprint(c.ticket), App: app}, w)
	if err != nil || t.Verdict != Go {
		tb.Fatal(t.Verdict, err)
	}
	c.placed, c.by = append(c.placed, t.Task), append(c.by, w)
}

// inUse returns how much memory is in use.
func inUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkClaim is a claim where 100,000 runs of 1,000 studies are open, the outcome of
// another run, and a run that opens.
func BenchmarkClaim(b *testing.B) {
	before := inUse()
	c := newCrowd(b)
	used := inUse() - before
	claims := time.Duration(0)
	b.ResetTimer()
	n := 0
	for b.Loop() {
		task, w := c.placed[n], c.by[n]
		n++
		o := Outcome{ID: task.ID, Worker: w, Measurement: assay.Measurement{Elapsed: time.Second}}
		if err := c.f.Tell(b.Context(), o); err != nil {
			b.Fatal(err)
		}
		c.open(b, n%crowdStudies)
		began := time.Now()
		c.claim(b, n)
		claims += time.Since(began)
	}
	b.ReportMetric(used/1e6, "MB")
	b.ReportMetric(float64(n)/claims.Seconds(), "claims/s")
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkBeat is a beat of one of 10,000 attempts, from 8 connections at once.
func BenchmarkBeat(b *testing.B) {
	c := newCrowd(b)
	var mu sync.Mutex
	n := 0
	b.SetParallelism(4)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			mu.Lock()
			n++
			i := n % len(c.placed)
			mu.Unlock()
			so := assay.Measurement{Elapsed: time.Duration(n)}
			v, err := c.f.Beat(context.Background(), Beat{ID: c.placed[i].ID, Worker: c.by[i], So: so})
			if err != nil || v != Go {
				b.Error(v, err)
				return
			}
		}
	})
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "beats/s")
}

// BenchmarkLook is a look at the leases of 10,000 attempts.
func BenchmarkLook(b *testing.B) {
	c := newCrowd(b)
	c.f.looked = c.f.o.Now()
	var losing sync.WaitGroup
	for b.Loop() {
		c.f.expire(b.Context(), &losing)
	}
	losing.Wait()
}

// BenchmarkList is the list of all that is open.
func BenchmarkList(b *testing.B) {
	c := newCrowd(b)
	for b.Loop() {
		if n := len(c.f.Queue()); n != crowdOpen+crowdSlots {
			b.Fatal(n)
		}
	}
}

// An open run among 100,000 of 1,000 studies costs little memory.
func TestLargeFleet(t *testing.T) {
	before := inUse()
	c := newCrowd(t)
	if per := (inUse() - before) / (crowdOpen + crowdSlots); per > crowdBytes {
		t.Errorf("an open run costs %.0f bytes, want at most %d", per, crowdBytes)
	}
	runtime.KeepAlive(c)
}
