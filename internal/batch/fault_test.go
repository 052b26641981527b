package batch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/batch"
	"github.com/assay-run/assay/internal/ledger"
)

// A scenario is a failure of a batch system.
type scenario struct {
	name  string
	lie   func(c *cluster)                        // at the beginning
	chaos func(c *cluster, restart func(), n int) // while runs go on; n grows from 0
	more  bool                                    // runs may be made more than once, since some are lost
	late  bool                                    // jobs are left over that will do nothing
}

// every returns a function that applies a fault to each n-th submission.
func every(n int, f fault) func(*cluster) {
	return func(c *cluster) {
		c.onSubmit = func(i int) fault {
			if i%n == 1%n {
				return f
			}
			return fault{}
		}
	}
}

func scenarios() []scenario {
	timedOut := errors.New("Socket timed out on send/recv operation")
	garbled := func(jobs []batch.Job, err error, of int) func(*cluster) {
		return func(c *cluster) {
			c.onPoll = func(n int) ([]batch.Job, error, bool) { return jobs, err, n%of != 0 }
		}
	}
	stop := func(d time.Duration, often int) func(c *cluster, _ func(), n int) {
		return func(c *cluster, _ func(), n int) {
			if n%often != 0 {
				return
			}
			c.set2(func() { c.down = true })
			time.Sleep(d)
			c.set2(func() { c.down = false })
		}
	}
	says := func(s batch.State, said string) func(*cluster) {
		return func(c *cluster) { c.lies, c.said = s, said }
	}
	return []scenario{
		{name: "nothing is wrong"},
		{name: "submitted, and an error returned", lie: every(1, fault{err: timedOut})},
		{name: "not submitted, and an error returned", lie: every(2, fault{err: timedOut, lost: true})},
		{name: "no more jobs now", lie: every(2, fault{err: batch.ErrFull, lost: true})},
		{name: "controller down for three minutes", chaos: stop(3*time.Minute, 3)},
		{name: "controller down for an hour", chaos: stop(time.Hour, 9)},
		{name: "a job is forgotten", lie: every(2, fault{drop: true}), more: true},
		{name: "its number is used again", lie: every(2, fault{reuse: true})},
		{name: "forgotten, and its number used again", lie: func(c *cluster) {
			c.onSubmit = func(i int) fault { return fault{drop: i%3 == 1, reuse: i%3 == 2} }
		}, more: true},
		{name: "a shim is killed", lie: every(2, fault{kill: 40 * time.Second}), more: true},
		{name: "requeued after its end", lie: every(1, fault{twice: true})},
		{name: "begun twice at once", lie: every(1, fault{both: true})},
		{name: "somebody else ends the job", lie: every(2, fault{term: 40 * time.Second}), more: true},
		{name: "an answer is garbage", lie: garbled(nil, errors.New("cannot be read"), 3)},
		{name: "an answer is empty", lie: garbled(nil, nil, 2), more: true},
		{name: "all answers are empty", lie: garbled(nil, nil, 1<<30), more: true, late: true},
		{name: "a query hangs", lie: garbled(nil, errHang, 2)},
		{name: "ended jobs are said to have failed", lie: says(batch.Over, "FAILED")},
		{name: "ended jobs are said to run", lie: says(batch.Going, "RUNNING")},
		{name: "a state that nobody knows", lie: says(batch.Unsure, "REVOKED_HOLD")},
		{name: "ended jobs are not shown", lie: func(c *cluster) { c.forgets = true }},
		{name: "no accounting", lie: func(c *cluster) { c.noRecord, c.forgets = true, true }},
		{name: "killed again and again", chaos: func(_ *cluster, restart func(), n int) { restart() }},
		{name: "killed while the controller is down", chaos: func(c *cluster, restart func(), n int) {
			if n > 10 { // there must be time to find out what became of a submission
				return
			}
			stop(2*time.Minute, 1)(c, restart, n)
			restart()
		}},
		{name: "a lost job begins after all", lie: func(c *cluster) {
			c.forgets = true
			c.onSubmit = func(i int) fault { return fault{late: time.Duration(i%2) * 20 * time.Minute} }
			c.onPoll = func(n int) ([]batch.Job, error, bool) { return nil, nil, n < 8 }
			c.noRecord = true
		}, more: true, late: true},
	}
}

// set2 changes the cluster.
func (c *cluster) set2(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// Each run has its true outcome, once, whatever is wrong with the batch system; none is lost; none
// succeeds that did not run. The accounting is asked at most once an attempt.
func TestFaults(t *testing.T) {
	rounds := 1
	if os.Getenv("ASSAY_SOAK") != "" {
		rounds = 10
	}
	var all tally
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			for round := range rounds {
				synctest.Test(t, func(t *testing.T) { all.add(t, sc.run(t, round), true) })
			}
		})
	}
	t.Logf("counted: %v", &all)
}

// A tally counts the faults in the outcomes of trials, and the false reports about them.
type tally struct {
	mu                 sync.Mutex
	trials             int
	lost, twice, wrong int // without an outcome, made or counted more than once, with an outcome that they did not have
	other              int // questions to the accounting beyond one, jobs that are left
	misled             int // outcomes that would be wrong for who believes what the system says
	text               []string
}

// add takes in another tally, which is to be without a fault if strict.
func (y *tally) add(t *testing.T, o *tally, strict bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.trials, y.lost, y.twice = y.trials+o.trials, y.lost+o.lost, y.twice+o.twice
	y.wrong, y.other = y.wrong+o.wrong, y.other+o.other
	for _, text := range o.text {
		if strict {
			t.Error(text)
		}
	}
}

// note takes note of a fault.
func (y *tally) note(n *int, format string, args ...any) {
	y.mu.Lock()
	defer y.mu.Unlock()
	*n++
	y.text = append(y.text, fmt.Sprintf(format, args...))
}

func (y *tally) String() string {
	return fmt.Sprintf("%d trials, false outcomes %d, lost %d, twice %d", y.trials, y.wrong, y.lost, y.twice)
}

// run makes eight trials on a cluster with the faults of the scenario.
func (sc scenario) run(t *testing.T, round int) *tally {
	const trials = 8
	s := newSleeper()
	c := newCluster(s)
	if sc.lie != nil {
		sc.lie(c)
	}
	y := &tally{trials: trials}
	l := &records{booked: map[assay.RunID][]assay.AttemptEnd{}}
	dir := t.TempDir()
	var mu sync.Mutex
	var counted []int64
	var wg sync.WaitGroup
	begin := func() (*batch.Runner, context.CancelCauseFunc) {
		r, err := open(c, dir, l.options)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		for trial := int64(1); trial <= trials; trial++ {
			mu.Lock()
			done := slices.Contains(counted, trial)
			mu.Unlock()
			if done {
				continue
			}
			wg.Go(func() {
				if y.one(ctx, r, s, trial, round) {
					mu.Lock()
					counted = append(counted, trial)
					mu.Unlock()
				}
			})
		}
		return r, cancel
	}
	r, cancel := begin()
	over := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(counted) == trials
	}
	restart := func() { // what is on disk is all that the next one has
		cancel(assay.ErrDetached)
		r.Close()
		wg.Wait()
		r, cancel = begin()
	}
	for n := 0; !over() && n < 2000; n++ {
		if sc.chaos != nil && n%3 == 0 {
			sc.chaos(c, restart, n/3)
		}
		time.Sleep(time.Duration(17+round) * time.Second)
	}
	cancel(context.Canceled)
	wg.Wait()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Hour) // for what is left over to begin
	c.wg.Wait()
	for trial := int64(1); trial <= trials; trial++ {
		n := 0
		for _, k := range counted {
			if k == trial {
				n++
			}
		}
		switch b := s.began[trial]; {
		case n == 0:
			y.note(&y.lost, "trial %d has no outcome", trial)
		case n > 1:
			y.note(&y.twice, "trial %d counts %d times", trial, n)
		case b == 0:
			y.note(&y.wrong, "trial %d was never begun", trial)
		case b > 1 && !sc.more:
			y.note(&y.twice, "trial %d was begun %d times", trial, b)
		}
	}
	if err := ledger.Record(l.events); err != nil {
		y.note(&y.wrong, "%v", err)
	}
	y.misled = c.misled(trials)
	for name, n := range c.finds {
		if n > 1 {
			y.note(&y.other, "the accounting was asked %d times for %s", n, name)
		}
	}
	if n := c.alive(); n > 0 && !sc.late && c.said == "" {
		y.note(&y.other, "%d jobs are left", n)
	}
	return y
}

// one makes the run of a trial as the loop does, with more attempts, and reports whether it counts.
func (y *tally) one(ctx context.Context, r *batch.Runner, s *sleeper, trial int64, round int) bool {
	code := int(trial) % 8
	lasts := time.Duration(trial)*20*time.Second + time.Duration(round)*7*time.Second
	job := work(trial, lasts, code)
	for attempt := 1; attempt <= 12; attempt++ {
		job.ID.Attempt = attempt
		m, err := r.Run(ctx, job, nil)
		switch {
		case ctx.Err() != nil:
			return false
		case errors.Is(err, assay.ErrLost):
			continue
		case err != nil:
			y.note(&y.wrong, "trial %d: %v", trial, err)
			return false
		}
		s.mu.Lock()
		ran := s.ended[trial]
		s.mu.Unlock()
		if m.ExitCode != code || m.Elapsed != lasts || ran == 0 {
			y.note(&y.wrong, "trial %d: code %d after %v, want %d after %v; it came to its end %d times", trial, m.ExitCode,
				m.Elapsed, code, lasts, ran)
		}
		return true
	}
	return false // it was lost every time
}

// A run that is stopped keeps its measurement; one that is cancelled before it began never begins, whatever the
// system does later; one that is let go of goes on.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSleeper()
		c := newCluster(s)
		c.onSubmit = func(n int) fault {
			if n == 2 {
				return fault{late: 10 * time.Minute}
			}
			return fault{}
		}
		dir := t.TempDir()
		r, err := open(c, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		run := func(ctx context.Context, trial int64) (m assay.Measurement, err error) {
			return r.Run(ctx, work(trial, time.Hour, 3), nil)
		}
		var wg sync.WaitGroup
		stopped, stop := context.WithCancelCause(t.Context())
		wg.Go(func() {
			m, err := run(stopped, 1)
			if !errors.Is(err, errStopped) || m.Elapsed < time.Minute || m.Elapsed > 3*time.Minute {
				t.Errorf("stopped: %v after %v", err, m.Elapsed)
			}
		})
		waits, cancel := context.WithCancelCause(t.Context())
		wg.Go(func() {
			time.Sleep(2 * time.Second)
			if m, err := run(waits, 2); !errors.Is(err, context.Canceled) || m.Elapsed > 0 {
				t.Errorf("cancelled while it waits: %v, %v", m, err)
			}
		})
		alone, letGo := context.WithCancelCause(t.Context())
		wg.Go(func() {
			time.Sleep(4 * time.Second)
			if _, err := run(alone, 3); !errors.Is(err, assay.ErrDetached) {
				t.Errorf("let go: %v", err)
			}
		})
		time.Sleep(2 * time.Minute)
		stop(errStopped)
		cancel(context.Canceled)
		letGo(assay.ErrDetached)
		wg.Wait()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(30 * time.Minute)
		if s.began[2] != 0 {
			t.Error("what was cancelled has begun")
		}
		if r, err = open(c, dir, nil); err != nil {
			t.Fatal(err)
		}
		if m, err := run(t.Context(), 3); err != nil || m.ExitCode != 3 || s.began[3] != 1 {
			t.Errorf("found again: code %d, %v, begun %d times", m.ExitCode, err, s.began[3])
		}
		again, err := run(t.Context(), 1)
		if !errors.Is(err, assay.ErrLimit) || s.began[1] != 1 {
			t.Errorf("what was stopped: %v, %v", again, err)
		}
		r.Close()
		c.wg.Wait()
	})
}

// A job that is reported to run for ever though its run has ended is cancelled after a while, since it keeps others
// from its machine.
func TestStray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newSleeper())
		c.lies, c.said = batch.Going, "RUNNING"
		r, err := open(c, t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Run(t.Context(), work(1, time.Second, 0), nil); err != nil {
			t.Error(err)
		}
		c.set2(func() { c.lies, c.said = 0, "" })
		if _, err := r.Run(t.Context(), work(2, 5*time.Minute, 0), nil); err != nil {
			t.Error(err)
		}
		r.Close()
		if c.cancels != 1 {
			t.Errorf("%d jobs were cancelled, want that of the first trial", c.cancels)
		}
		c.wg.Wait()
	})
}

// A job that the system refuses ends the study, unless another configuration may be taken.
func TestRefused(t *testing.T) {
	for _, varies := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(newSleeper())
			c.onSubmit = func(int) fault {
				return fault{err: fmt.Errorf("%w: invalid partition", batch.ErrRefused), lost: true}
			}
			r, err := open(c, t.TempDir(), func(o *batch.Options) {
				o.Request = func(assay.Job) (batch.Request, error) { return batch.Request{Varies: varies}, nil }
			})
			if err != nil {
				t.Fatal(err)
			}
			m, err := r.Run(t.Context(), work(1, time.Second, 0), nil)
			if varies && (err != nil || m.Failure == nil) || !varies && !errors.Is(err, assay.ErrSetup) {
				t.Errorf("varies %v: %+v, %v", varies, m, err)
			}
			r.Close()
		})
	}
}

// A job that fails without having begun its run, without a report before, is a sign of a spool that the machines do
// not share.
func TestNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newSleeper())
		c.lies, c.said = batch.Over, "FAILED"
		dir := t.TempDir()
		c.onSubmit = func(int) fault { // what the job does is hidden from it
			return fault{drop: false, never: true}
		}
		r, err := open(c, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(5 * time.Second)
			c.set2(func() {
				for _, j := range c.jobs {
					j.State, j.Said = batch.Over, "FAILED"
				}
			})
		}()
		_, err = r.Run(t.Context(), work(1, time.Second, 0), nil)
		if !errors.Is(err, assay.ErrSetup) || assay.HintOf(err) == "" {
			t.Errorf("%v (%s)", err, assay.HintOf(err))
		}
		r.Close()
	})
	if code, err := (batch.Shim{}).Run(t.Context(), filepath.Join(t.TempDir(), "none")); code != batch.ExitNoSpool ||
		err == nil {
		t.Errorf("a shim without a spool: code %d, %v", code, err)
	}
}
