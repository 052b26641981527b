package jetstream_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/queue/jetstream"
	"github.com/assay-run/assay/internal/worker"
)

// noted is a record that forgets: the cost of a store is not measured here.
type noted struct{}

func (noted) Append(context.Context, ...assay.Event) error { return nil }

// idle is the Runner of one worker with one slot: its runs do nothing for a while. It notes how long
// the slot was free before each run, and when the run began.
type idle struct {
	takes time.Duration // at least; at most as much again
	began *sync.Map     // when, by trial
	ended time.Time
	free  []time.Duration
}

func (r *idle) Run(ctx context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	now := time.Now()
	r.began.Store(job.ID.Trial, now)
	if !r.ended.IsZero() {
		r.free = append(r.free, now.Sub(r.ended))
	}
	if r.takes > 0 {
		select {
		case <-time.After(r.takes + rand.N(r.takes)):
		case <-ctx.Done():
		}
	}
	r.ended = time.Now()
	return assay.Measurement{Elapsed: time.Microsecond}, nil
}

// cpu returns the processor time of this process.
func cpu() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFleet measures the cost of a fleet: empty runs through Fleet, queue and workers, each with a
// connection and a spool of its own, as many at once as there are workers. Dispatch is the time from when
// the loop wants a run to when a worker begins it; with empty runs all workers wait for the processors,
// and cpu_ms, the processor time of a run in server and workers, is the better measure.
func BenchmarkFleet(b *testing.B) {
	for _, n := range []int{1, 8, 64} {
		// Workers are on machines of their own, with disks of their own: on this one their spools would wait
		// for each other's.
		b.Run(fmt.Sprint("memory/", n), func(b *testing.B) {
			dir, err := os.MkdirTemp(testbed.Memory(), "bench-")
			if err != nil {
				b.Skip(err)
			}
			defer os.RemoveAll(dir)
			benchmarkFleet(b, n, dir, 0)
		})
		b.Run(fmt.Sprint("disk/", n), func(b *testing.B) { benchmarkFleet(b, n, b.TempDir(), 0) })
	}
}

// BenchmarkDispatch measures how long a slot is free: from the end of a run to the beginning of the next one
// there, by way of outcome, loop, ticket and claim. There are 64 workers, whose runs take a second or two.
func BenchmarkDispatch(b *testing.B) { benchmarkFleet(b, 64, b.TempDir(), time.Second) }

func benchmarkFleet(b *testing.B, n int, spools string, takes time.Duration) {
	s, err := jetstream.Start(jetstream.ServerOptions{Dir: filepath.Join(b.TempDir(), "queue")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	sock := filepath.Join(b.TempDir(), "s")
	if err := s.ServeUnix(sock); err != nil {
		b.Fatal(err)
	}
	server, err := s.Dial(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	fleet := queue.New(server.Carrier(), queue.Options{})
	ctx, cancel := context.WithCancel(b.Context())
	var serving sync.WaitGroup
	defer serving.Wait()
	defer cancel()
	serving.Go(func() { _ = fleet.Serve(ctx) })
	fleet.Ready()
	stop, err := server.Answer(fleet, s.May)
	if err != nil {
		b.Fatal(err)
	}
	defer stop()
	var began sync.Map
	runs := make([]*idle, n)
	var workers sync.WaitGroup
	drain := make(chan struct{})
	for i := range n {
		id := fmt.Sprint("w-", i)
		bus, err := jetstream.Dial(ctx, jetstream.Options{
			URL: "unix:" + sock, Worker: id,
			Class: worker.ThisMachine().Class(),
		})
		if err != nil {
			b.Fatal(err)
		}
		defer bus.Close()
		dir := filepath.Join(spools, id)
		runs[i] = &idle{takes: takes, began: &began}
		workers.Go(func() {
			err := worker.Run(ctx, worker.Options{
				Control: bus.Control(), Carrier: bus.Carrier(), Runner: runs[i], Accept: true, Dir: dir, ID: id, Name: id,
				Drain: drain,
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
	for len(fleet.Workers()) < n {
		time.Sleep(10 * time.Millisecond)
	}
	runner, err := fleet.Join(queue.Study{Name: "bench", MachineClass: queue.ClassAny, Parallel: n, Record: noted{}})
	if err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	var mu sync.Mutex
	var waits []time.Duration
	used := cpu()
	b.ResetTimer()
	var loops sync.WaitGroup
	for range n {
		loops.Go(func() {
			for {
				trial := next.Add(1)
				if trial > int64(b.N) {
					return
				}
				job := assay.Job{ID: assay.RunID{Study: "bench", Trial: trial, Attempt: 1}, Argv: []string{"true"}}
				wanted := time.Now()
				if _, err := runner.Run(ctx, job, nil); err != nil {
					b.Error(err)
					return
				}
				begun, _ := began.Load(trial)
				mu.Lock()
				waits = append(waits, begun.(time.Time).Sub(wanted))
				mu.Unlock()
			}
		})
	}
	loops.Wait()
	b.StopTimer()
	used = cpu() - used
	close(drain)
	workers.Wait()
	runner.Close()
	b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu_ms")
	if takes > 0 {
		waits = nil
		for _, r := range runs {
			waits = append(waits, r.free...)
		}
	}
	if len(waits) == 0 { // too few runs for that
		return
	}
	slices.Sort(waits)
	ms := func(q float64) float64 { return float64(waits[int(q*float64(len(waits)-1))].Microseconds()) / 1000 }
	b.ReportMetric(ms(0.5), "p50_ms")
	b.ReportMetric(ms(0.99), "p99_ms")
	if takes > 0 {
		b.ReportMetric(ms(0.5)/15, "p50-of-goal")
		b.ReportMetric(ms(0.99)/100, "p99-of-goal")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "trials/s")
}
