package jetstream_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/queue/jetstream"
	"github.com/assay-run/assay/internal/testbed"
)

// open is trials that wait or run, as a fleet has them: whatever becomes of the queue, as many
// tickets as there are trials that wait are offered.
type open struct {
	mu      sync.Mutex
	waiting int
	next    int
}

// refill offers the tickets that are lacking, as the fleet does.
func (o *open) refill(ctx context.Context, c queue.Carrier) {
	depth, err := c.Depth(ctx, "x264")
	if err != nil {
		return
	}
	o.mu.Lock()
	var ts []queue.Ticket
	for range o.waiting - depth {
		o.next++
		ts = append(ts, queue.Ticket{ID: fmt.Sprint("t", o.next), App: "x264"})
	}
	o.mu.Unlock()
	_ = c.Offer(ctx, ts...)
}

// claim makes a ticket one of the trials that wait.
func (o *open) claim() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting == 0 {
		return false
	}
	o.waiting--
	return true
}

func (o *open) left() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waiting
}

// harm runs 50 trials while something happens to the directory of the queue. It fails unless all are taken within a
// time from there on. again is whether open tickets are offered again, as the fleet does.
func harm(t testing.TB, what string, within time.Duration, again bool, do func(dir string)) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "queue")
	said := &warnings{}
	s := serve(t, jetstream.ServerOptions{Dir: dir, Log: testbed.Warnings(said.add)})
	server, worker := dial(t, s), dial(t, s)
	o := &open{waiting: 50}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	harmed := make(chan struct{})
	wg.Go(func() {
		for ctx.Err() == nil {
			if !again {
				select {
				case <-harmed:
					return
				default:
				}
			}
			o.refill(ctx, server.Carrier())
			select {
			case <-time.After(5 * time.Second): // as the fleet
			case <-ctx.Done():
			}
		}
	})
	end := time.Now().Add(time.Minute)
	for n := 0; n < 50 && time.Now().Before(end); n++ {
		if d, _ := server.Carrier().Depth(ctx, "x264"); d == 50 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	run := func() bool {
		d := take(t, worker.Carrier(), time.Second, "", "x264")
		if d == nil {
			return false
		}
		o.claim()
		_ = d.Done(ctx)
		return true
	}
	for range 10 {
		run()
	}
	do(dir)
	close(harmed)
	o.mu.Lock()
	o.waiting += 50
	o.mu.Unlock()
	began := time.Now()
	for o.left() > 0 && time.Since(began) < within {
		run()
	}
	t.Logf("%s: the last of 90 was taken after %v; %q", what, time.Since(began).Round(time.Millisecond), said.said)
	if n := o.left(); n > 0 {
		t.Errorf("%s: %d trials were never offered again", what, n)
	}
}

// The directory of the queue is deleted, or damaged, while 50 trials wait: all of them are offered
// again.
func TestHarm(t *testing.T) {
	t.Parallel() // most of the time it waits
	t.Run("delete", func(t *testing.T) {
		t.Parallel()
		harm(t, "deleted", 2*time.Minute, true, func(dir string) { os.RemoveAll(dir) })
	})
	t.Run("streams", func(t *testing.T) {
		t.Parallel()
		harm(t, "streams deleted", 2*time.Minute, true,
			func(dir string) { os.RemoveAll(filepath.Join(dir, "jetstream", "$G", "streams")) })
	})
	for _, left := range []string{"ASSAY_JOBS", "ASSAY_JOBS/msgs", "ASSAY_JOBS/obs"} {
		t.Run(left, func(t *testing.T) { // as where the server writes while files are deleted
			t.Parallel()
			harm(t, "streams deleted but for an empty "+left, 2*time.Minute, true, func(dir string) {
				at := filepath.Join(dir, "jetstream", "$G", "streams")
				os.RemoveAll(at)
				if err := os.MkdirAll(filepath.Join(at, left), 0o700); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
	t.Run("flip", func(t *testing.T) {
		t.Parallel()
		harm(t, "bits flipped", 2*time.Minute, true, func(dir string) {
			if flip(t, dir, 200) == 0 {
				t.Fatal("no file to flip bits of")
			}
		})
	})
}

// Tickets that a queue forgot are missed if nothing is offered again.
func TestHarmControl(t *testing.T) {
	t.Parallel() // most of the time it waits
	testbed.Fails(t, "nothing is offered again", func(t testing.TB) {
		harm(t, "deleted", 8*time.Second, false, func(dir string) { os.RemoveAll(dir) })
	})
}

// flip flips bits in all files below a directory.
func flip(t *testing.T, dir string, bits int) (files int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || info.Size() == 0 {
			return nil
		}
		files++
		for range bits {
			var b [1]byte
			at := random.Int64N(info.Size())
			f.ReadAt(b[:], at)
			b[0] ^= 1 << random.IntN(8)
			f.WriteAt(b[:], at)
		}
		return nil
	})
	return files
}

// A server begins whatever its directory has: with the whole part of it, or empty.
func TestStartDamaged(t *testing.T) {
	t.Parallel() // most of the time it waits
	dir := filepath.Join(t.TempDir(), "queue")
	s, err := jetstream.Start(jetstream.ServerOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := dial(t, s).Carrier().Offer(t.Context(), tickets("a", "", 20)...); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if s, err = jetstream.Start(jetstream.ServerOptions{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	depth(t, dial(t, s).Carrier(), "a", 20) // what is whole is still there
	s.Close()
	for i := range 3 {
		flip(t, dir, 50)
		said, began := &warnings{}, time.Now()
		s, err := jetstream.Start(jetstream.ServerOptions{Dir: dir, Log: testbed.Warnings(said.add)})
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		c := dial(t, s).Carrier()
		for end := time.Now().Add(soon); ; time.Sleep(time.Second) { // as the fleet, which offers again
			if err = c.Offer(t.Context(), tickets("b", "", 3)...); err == nil || time.Now().After(end) {
				break
			}
		}
		if err != nil {
			t.Fatalf("%d: %v; %q", i, err, said.said)
		}
		offered := time.Since(began)
		defer func() { t.Logf("%d: offered %v, all %v; %q", i, offered, time.Since(began), said.said) }()
		for range 3 {
			if d := take(t, c, soon, "", "b"); d == nil {
				t.Fatalf("%d: nothing is delivered", i)
			} else if err := d.Done(t.Context()); err != nil {
				t.Error(err)
			}
		}
		s.Close()
	}
	os.RemoveAll(dir)
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := jetstream.Start(jetstream.ServerOptions{Dir: filepath.Join(dir, "x")}); err == nil {
		s.Close()
		t.Error("started where no directory can be")
	}
}

// The queue at rest has no command, no value and no secret.
func TestNothingAtRest(t *testing.T) {
	const canary = "CANARY-71c6a2"
	dir := filepath.Join(t.TempDir(), "queue")
	s, err := jetstream.Start(jetstream.ServerOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{verdict: queue.Go}
	f.task = queue.Task{
		ID: runID(1), App: queue.Commands, Values: map[string]string{"v": canary},
		Job: assay.Job{Argv: []string{canary}, Env: []string{"TOKEN=" + canary}, Files: []assay.File{{
			Name: canary,
			Text: canary,
		}}},
	}
	server := dial(t, s)
	answer(t, server, f, nil)
	sock := filepath.Join(t.TempDir(), "s")
	if err := s.ServeUnix(sock); err != nil {
		t.Fatal(err)
	}
	b := connect(t, jetstream.Options{URL: "unix:" + sock, Worker: "w"})
	if _, err := b.Control().Hello(t.Context(), queue.Worker{
		ID: "w", Name: canary,
		Apps: []string{queue.Commands},
	}); err != nil {
		t.Fatal(err)
	}
	if err := server.Carrier().Offer(t.Context(), tickets(queue.Commands, "", 10)...); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		d := take(t, b.Carrier(), soon, "", queue.Commands)
		c, err := b.Control().Claim(t.Context(), d.Ticket(), "w")
		if err != nil || c.Task.Job.Argv[0] != canary {
			t.Fatal(err)
		}
		if _, err := b.Control().Beat(t.Context(), queue.Beat{ID: runID(1), Worker: "w", Tail: []byte(canary)}); err != nil {
			t.Fatal(err)
		}
		if err := b.Control().Tell(t.Context(), queue.Outcome{
			ID: runID(1), Worker: "w", Stdout: []byte(canary),
			Reason: canary,
		}); err != nil {
			t.Fatal(err)
		}
		if err := d.Done(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look := func() (hits, ids int) {
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			if bytes.Contains(data, []byte(canary)) || strings.Contains(path, canary) {
				hits++
			}
			if bytes.Contains(data, []byte("command--9")) { // a ticket is where we look
				ids++
			}
			return nil
		})
		return hits, ids
	}
	s.Close()
	hits, ids := look()
	if hits != 0 || ids == 0 {
		t.Errorf("%d files have the canary, %d have a ticket", hits, ids)
	}
	t.Logf("counted: the canary is in %d files, a ticket in %d", hits, ids)
}
