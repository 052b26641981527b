package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/worker"
)

// start runs a worker until the function that it returns is called, which returns its error.
func start(ctx context.Context, o worker.Options) (wait func() error) {
	over := make(chan error, 1)
	go func() { over <- worker.Run(ctx, o) }()
	return func() error { return <-over }
}

// Every task is run once, at most as many at once as there are slots, and its outcome sent.
func TestRunsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tasks []queue.Task
		for i := range 20 {
			tasks = append(tasks, task(i+1))
		}
		s, p, out := newServer(tasks...), &program{takes: 25 * time.Second}, &output{}
		o := options(t, s, p, out)
		o.Slots = 4
		drain := make(chan struct{})
		o.Drain = drain
		began := time.Now()
		wait := start(t.Context(), o)
		time.Sleep(20*25*time.Second/4 + time.Second)
		close(drain)
		if err := wait(); err != nil {
			t.Fatal(err)
		}
		seen := map[int64]int{}
		for _, o := range s.outcomes() {
			seen[o.ID.Trial]++
			if o.Why != "" || o.Measurement.Elapsed != 25*time.Second || o.Worker != s.workers[0].ID {
				t.Errorf("told %+v", o)
			}
		}
		for i := range 20 {
			if seen[int64(i+1)] != 1 {
				t.Errorf("trial %d was told %d times", i+1, seen[int64(i+1)])
			}
		}
		if p.most != 4 {
			t.Errorf("%d runs at once, not 4", p.most)
		}
		if s.done != 20 {
			t.Errorf("%d tickets given back", s.done)
		}
		if took := time.Since(began); took > 130*time.Second {
			t.Errorf("took %v", took)
		}
		// 2 beats in 25 s, and each renews the ticket.
		if len(s.beats) != 40 || s.renewed != 40 {
			t.Errorf("%d beats, %d renewals", len(s.beats), s.renewed)
		}
		for _, b := range s.beats {
			if len(b.Tail) != 4<<10 || b.Gap != 0 || b.So.Elapsed == 0 {
				t.Fatalf("beat: tail of %d, gap %v, elapsed %v", len(b.Tail), b.Gap, b.So.Elapsed)
			}
		}
		for _, want := range []string{
			"worker w  4 slots  class ", "(Xeon 6338, 2x32, 256 GB, linux 6.1)  any command",
			"s/7.1                run       n=7", "s/7.1                done      0:25",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the output lacks %q:\n%s", want, out)
			}
		}
		empty(t, o.Dir)
	})
}

// empty fails unless nothing waits in the directory of a worker.
func empty(t *testing.T, dir string) {
	t.Helper()
	for _, sub := range []string{"spool", "running"} {
		entries, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil || len(entries) > 0 {
			t.Errorf("%s: %v, %v", sub, entries, err)
		}
	}
}

// A beat comes at the interval of the job if that is shorter than the server's, but at most once a
// second.
func TestBeatInterval(t *testing.T) {
	for _, c := range []struct{ interval, want time.Duration }{
		{0, 10 * time.Second},
		{5 * time.Second, 5 * time.Second},
		{time.Minute, 10 * time.Second},
		{10 * time.Millisecond, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			one := task(1)
			one.Job.Interval = c.interval
			s, p := newServer(one), &program{takes: 61 * time.Second}
			ctx, cancel := context.WithCancel(t.Context())
			wait := start(ctx, options(t, s, p, &output{}))
			time.Sleep(65 * time.Second)
			cancel()
			wait()
			if n := int(61 * time.Second / c.want); len(s.beats) < n-1 || len(s.beats) > n+1 {
				t.Errorf("interval %v: %d beats in 61 s, want %d", c.interval, len(s.beats), n)
			}
		})
	}
}

// A verdict ends the run, and the outcome names it.
func TestVerdicts(t *testing.T) {
	for verdict, why := range map[queue.Verdict]string{
		queue.Stop: "stop", queue.Cancel: "cancel", queue.Duplicate: "duplicate", queue.Go: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, p := newServer(task(1)), &program{takes: time.Hour}
			s.verdict = verdict
			ctx, cancel := context.WithCancel(t.Context())
			wait := start(ctx, options(t, s, p, &output{}))
			time.Sleep(2 * time.Hour)
			cancel()
			wait()
			told := s.outcomes()
			if len(told) != 1 || told[0].Why != why {
				t.Fatalf("%s: told %+v", verdict, told)
			}
			if took := told[0].Measurement.Elapsed; why != "" && took > 15*time.Second {
				t.Errorf("%s: ended after %v", verdict, took)
			}
		})
	}
}

// A run goes on while the server is away, up to the limit of its job, and its outcome is sent when
// the server is back.
func TestServerAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := task(1), task(2)
		one.Job.Limit = 5 * time.Minute
		s, p, out := newServer(one, two), &program{takes: 20 * time.Minute}, &output{}
		o := options(t, s, p, out)
		o.Slots = 2
		ctx, cancel := context.WithCancel(t.Context())
		wait := start(ctx, o)
		time.Sleep(time.Minute)
		s.set(func() { s.away = true })
		time.Sleep(30 * time.Minute)
		if n := len(s.outcomes()); n != 0 {
			t.Fatalf("%d outcomes told to nobody", n)
		}
		s.set(func() { s.away = false })
		time.Sleep(11 * time.Second)
		told := map[int64]queue.Outcome{}
		for _, o := range s.outcomes() {
			told[o.ID.Trial] = o
		}
		if o := told[1]; o.Why != "limit" || o.Measurement.Elapsed != 5*time.Minute {
			t.Errorf("the limit did not hold: %+v", o)
		}
		if o := told[2]; o.Why != "" || o.Measurement.Elapsed != 20*time.Minute || o.ID.Trial != 2 {
			t.Errorf("the run was disturbed: %+v", o)
		}
		cancel()
		wait()
		if a, b := strings.Count(out.String(), "does not answer"), strings.Count(out.String(), "is back"); a != 1 || b != 1 {
			t.Errorf("said away %d times, back %d times:\n%s", a, b, out)
		}
		empty(t, o.Dir)
	})
}

// An outcome is in the spool before it is sent, and a worker that starts sends the outcomes there.
func TestSpoolSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, out := newServer(task(1), task(2)), &program{takes: time.Second}, &output{}
		o := options(t, s, p, out)
		inSpool := 0
		s.telling = func(queue.Outcome) {
			files, _ := filepath.Glob(filepath.Join(o.Dir, "spool", "*.json"))
			inSpool += len(files)
		}
		s.refuse = assay.Errorf(assay.ClassIO, "disk full")
		ctx, cancel := context.WithCancel(t.Context())
		wait := start(ctx, o)
		time.Sleep(time.Minute)
		cancel()
		wait()
		if inSpool == 0 {
			t.Fatal("the outcome was told before it was in the spool")
		}
		if len(s.outcomes()) != 0 {
			t.Fatal("told though the server refused")
		}
		s.refuse, s.telling = nil, nil
		ctx, cancel = context.WithCancel(t.Context())
		wait = start(ctx, o)
		time.Sleep(time.Minute)
		cancel()
		wait()
		told := s.outcomes()
		if len(told) != 2 || told[0].ID.Trial != 1 || told[1].ID.Trial != 2 {
			t.Fatalf("told %+v", told)
		}
		if len(p.jobs) != 2 {
			t.Errorf("%d runs for 2 tasks", len(p.jobs))
		}
		empty(t, o.Dir)
		if !strings.Contains(out.String(), "1 outcome of an earlier session") {
			t.Errorf("output:\n%s", out)
		}
	})
}

// An outcome that will never be wanted is set aside, and the worker goes on.
func TestRefusedOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newServer(task(1)), &program{takes: time.Second}
		s.refuse = assay.Errorf(assay.ClassNotFound, "no study s")
		o := options(t, s, p, &output{})
		ctx, cancel := context.WithCancel(t.Context())
		wait := start(ctx, o)
		time.Sleep(time.Minute)
		s.set(func() { s.refuse = nil; s.tasks = append(s.tasks, task(2)) })
		s.tickets <- queue.Ticket{ID: "more", App: queue.Commands}
		time.Sleep(time.Minute)
		cancel()
		wait()
		if told := s.outcomes(); len(told) != 1 || told[0].ID.Trial != 2 {
			t.Errorf("told %+v", told)
		}
		if aside, _ := filepath.Glob(filepath.Join(o.Dir, "spool", "*.refused")); len(aside) != 1 {
			t.Errorf("set aside: %v", aside)
		}
	})
}

// A ticket that is delivered again while, or after, its run is made starts nothing.
func TestTicketAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newServer(task(1)), &program{takes: time.Minute}
		o := options(t, s, p, &output{})
		o.Slots = 3
		ctx, cancel := context.WithCancel(t.Context())
		wait := start(ctx, o)
		for range 4 {
			time.Sleep(25 * time.Second)
			s.tickets <- queue.Ticket{ID: "t0", App: queue.Commands}
		}
		time.Sleep(3 * time.Minute)
		cancel()
		wait()
		if len(p.jobs) != 1 || len(s.outcomes()) != 1 || s.claims != 5 {
			t.Errorf("%d runs, %d outcomes, %d claims", len(p.jobs), len(s.outcomes()), s.claims)
		}
	})
}

// A drained worker finishes its runs; one that is evicted, or whose context ends, ends them and reports that.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		how string
		end func(s *server, cancel func(), drain chan struct{})
		why string
	}{
		{"drain", func(_ *server, _ func(), drain chan struct{}) { close(drain) }, ""},
		{"order drain", func(s *server, _ func(), _ chan struct{}) { s.set(func() { s.order.Drain = true }) }, ""},
		{"order evict", func(s *server, _ func(), _ chan struct{}) { s.set(func() { s.order.Evict = true }) }, "error"},
		{"cancel", func(_ *server, cancel func(), _ chan struct{}) { cancel() }, "error"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, p := newServer(task(1), task(2)), &program{takes: time.Minute}
			o := options(t, s, p, &output{})
			drain := make(chan struct{})
			o.Drain = drain
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			wait := start(ctx, o)
			time.Sleep(15 * time.Second)
			c.end(s, cancel, drain)
			if err := wait(); err != nil {
				t.Errorf("%s: %v", c.how, err)
			}
			told := s.outcomes()
			if len(told) != 1 || told[0].Why != c.why || len(p.jobs) != 1 {
				t.Errorf("%s: told %+v, %d runs", c.how, told, len(p.jobs))
			}
			empty(t, o.Dir)
		})
	}
}

// A worker whose time is nearly over takes nothing that is expected to take longer, and ends its
// runs in time.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long, fits, overrun := task(1), task(2), task(3)
		long.Expected, fits.Expected = time.Hour, time.Minute
		s, p := newServer(long, fits, overrun), &program{takes: 8 * time.Minute}
		o := options(t, s, p, &output{})
		o.Until = time.Now().Add(10 * time.Minute)
		if err := start(t.Context(), o)(); err != nil {
			t.Fatal(err)
		}
		if left := time.Until(o.Until); left <= 0 {
			t.Errorf("it ended %v too late", -left)
		}
		told := s.outcomes()
		if len(told) != 3 || told[0].Why != "error" || told[0].Measurement.Elapsed != 0 || told[1].Why != "" ||
			told[2].Why != "error" || told[2].Measurement.Elapsed == 0 {
			t.Errorf("told %+v", told)
		}
		if u := s.workers[0].Until; u <= 0 || u > 10*time.Minute {
			t.Errorf("said that it lives %v", u)
		}
	})
}

// A run that a signal ends a moment before the worker is ended was ended with it, and is no failed one; long before, it
// has failed. A run that has ended by itself is never held to be.
func TestEndedTogether(t *testing.T) {
	for _, c := range []struct {
		code  int
		later time.Duration // when the worker is ended
		why   string
	}{{143, 200 * time.Millisecond, "error"}, {143, 5 * time.Second, ""}, {3, 200 * time.Millisecond, ""}} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(task(1))
			o := options(t, s, &program{}, &output{})
			o.Runner = ends{time.Minute, c.code}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(time.Minute+c.later, cancel)
			if err := start(ctx, o)(); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if told := s.outcomes(); len(told) != 1 || told[0].Why != c.why || told[0].Measurement.ExitCode != c.code {
				t.Errorf("code %d, ended %v later: told %+v", c.code, c.later, told)
			}
		})
	}
}

// ends is a Runner whose runs end by themselves with a code after a while.
type ends struct {
	after time.Duration
	code  int
}

func (e ends) Run(context.Context, assay.Job, func(assay.Measurement)) (assay.Measurement, error) {
	time.Sleep(e.after)
	return assay.Measurement{Elapsed: e.after, ExitCode: e.code}, nil
}

// A worker of a server that is gone for good ends once nothing runs.
func TestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newServer(task(1)), &program{takes: 10 * time.Minute}
		o := options(t, s, p, &output{})
		o.Alone = time.Minute
		began := time.Now()
		wait := start(t.Context(), o)
		time.Sleep(5 * time.Second)
		s.set(func() { s.away = true })
		if err := wait(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 10*time.Minute || took > 11*time.Minute {
			t.Errorf("ended after %v", took)
		}
		if kept, _ := filepath.Glob(filepath.Join(o.Dir, "spool", "*.json")); len(kept) != 1 {
			t.Errorf("kept %v", kept)
		}
	})
}

// An error that would recur on any attempt fails the run; a lack of the machine is an error of setup.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		err         error
		why, failed string
	}{
		{fmt.Errorf("x264: %w", fs.ErrNotExist), "", "x264: file does not exist"},
		{fmt.Errorf("%w: cgroup", assay.ErrSetup), "setup", ""},
		{errors.New("fork: no memory"), "error", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, p := newServer(task(1)), &program{err: c.err}
			ctx, cancel := context.WithCancel(t.Context())
			wait := start(ctx, options(t, s, p, &output{}))
			time.Sleep(time.Minute)
			cancel()
			wait()
			told := s.outcomes()
			if len(told) != 1 || told[0].Why != c.why {
				t.Fatalf("%v: told %+v", c.err, told)
			}
			if f := told[0].Measurement.Failure; (f != nil) != (c.failed != "") || f != nil && f.Reason != c.failed {
				t.Errorf("%v: failure %+v", c.err, f)
			}
		})
	}
}

// A worker that a new server does not know sends a hello, and goes on.
func TestStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newServer(), &program{takes: time.Second}
		ctx, cancel := context.WithCancel(t.Context())
		wait := start(ctx, options(t, s, p, &output{}))
		time.Sleep(time.Second)
		s.set(func() { s.stranger, s.tasks = true, []queue.Task{task(1)} })
		s.tickets <- queue.Ticket{ID: "t", App: queue.Commands}
		time.Sleep(2 * time.Second)
		if told := s.outcomes(); len(told) != 1 {
			t.Errorf("told %+v", told)
		}
		cancel()
		wait()
	})
}

// The slots of a worker in quarantine leave tickets to other workers, also those that waited for one before.
func TestQuarantineTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		o := options(t, s, &program{takes: time.Second}, &output{})
		o.Slots = 3
		ctx, cancel := context.WithCancel(t.Context())
		wait := start(ctx, o)
		synctest.Wait()
		s.set(func() { s.order.Quarantine = true })
		time.Sleep(time.Minute)
		s.tickets <- queue.Ticket{ID: "t", App: queue.Commands}
		time.Sleep(time.Minute)
		if len(s.tickets) != 1 {
			t.Error("a worker in quarantine took a ticket")
		}
		s.set(func() { s.order.Quarantine = false })
		time.Sleep(time.Minute)
		if len(s.tickets) != 0 {
			t.Error("a worker after its quarantine took no ticket")
		}
		cancel()
		if err := wait(); err != nil {
			t.Error(err)
		}
	})
}

// A measurement while the machine slept is tainted, and the next beat reports the gap.
func TestTainted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newServer(task(1), task(2)), &program{takes: 25 * time.Second}
		o := options(t, s, p, &output{})
		var slept atomic.Int64
		o.Slept = func() time.Duration { return time.Duration(slept.Load()) }
		ctx, cancel := context.WithCancel(t.Context())
		wait := start(ctx, o)
		time.Sleep(5 * time.Second)
		slept.Add(int64(8 * time.Hour))
		time.Sleep(time.Minute)
		cancel()
		wait()
		told := s.outcomes()
		if len(told) != 2 || told[0].Why != "tainted" || !strings.Contains(told[0].Reason, "suspended for 8h") ||
			told[1].Why != "" {
			t.Errorf("told %+v", told)
		}
		var gaps []time.Duration
		for _, b := range s.beats {
			gaps = append(gaps, b.Gap)
		}
		if len(gaps) != 4 || gaps[0] != 8*time.Hour || gaps[1] != 0 || gaps[2] != 0 {
			t.Errorf("gaps %v", gaps)
		}
	})
}

// Two workers do not share a directory, and one with nothing to run does not begin.
func TestCannotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newServer(), &program{}
		o := options(t, s, p, &output{})
		ctx, cancel := context.WithCancel(t.Context())
		wait := start(ctx, o)
		time.Sleep(time.Second)
		if err := worker.Run(ctx, o); assay.ClassOf(err) != assay.ClassLocked {
			t.Errorf("second worker: %v", err)
		}
		cancel()
		wait()
		o.Accept = false
		if err := worker.Run(t.Context(), o); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("nothing to run: %v", err)
		}
	})
}

// A worker has the ID of its directory.
func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	a, err := worker.Identity(dir, "rack2")
	if err != nil || !worker.IDHasPrefix(a, "rack2") {
		t.Fatal(a, err)
	}
	if b, _ := worker.Identity(dir, "rack2"); b != a {
		t.Errorf("%s, then %s", a, b)
	}
	if c, _ := worker.Identity(dir, "rack"); c == a || !worker.IDHasPrefix(c, "rack") {
		t.Errorf("of another token: %s", c)
	}
	if worker.IDHasPrefix("rack2-07-0123456789abcdef", "rack2") || worker.IDHasPrefix("rack2-", "rack2") {
		t.Error("an ID of another prefix is taken")
	}
}
