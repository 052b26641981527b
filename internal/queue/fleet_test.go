package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
)

// A bench is a Fleet in simulated time, with a record for each study and workers that the
// test drives.
type bench struct {
	*testing.T
	f       *Fleet
	carrier *Memory
	records map[string]*memo
	tickets int
	stop    func()
}

// memo is a record that keeps all.
type memo struct {
	mu     sync.Mutex
	events []assay.Event
	slow   atomic.Int64 // how long an Append takes, in ns
}

func (m *memo) Append(_ context.Context, events ...assay.Event) error {
	time.Sleep(time.Duration(m.slow.Load()))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, events...)
	return nil
}

// booked returns why each attempt was booked, in order.
func (m *memo) booked() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.events {
		if b := e.Booked; b != nil {
			text := fmt.Sprintf("%d.%d %s", b.Trial, b.Attempt, b.Why)
			if b.Extra {
				text += " extra"
			}
			all = append(all, strings.TrimSpace(text))
		}
	}
	return all
}

// inBubble runs a test in simulated time, with a Fleet that serves.
func inBubble(t *testing.T, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, carrier: NewMemory(30 * time.Second), records: map[string]*memo{}}
		b.start()
		defer func() { b.stop() }()
		test(b)
	})
}

// start starts a server in place of the one that runs.
func (b *bench) start() {
	if b.stop != nil {
		b.stop()
	}
	b.f = New(b.carrier, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func(f *Fleet) {
		defer close(done)
		_ = f.Serve(ctx)
	}(b.f)
	f := b.f
	b.stop = sync.OnceFunc(func() {
		for _, name := range []string{"s", "t"} {
			if m := f.studies[name]; m != nil {
				(&Runner{f, m}).Close()
			}
		}
		cancel()
		<-done
		synctest.Wait()
	})
}

func (b *bench) join(s Study) *Runner {
	b.Helper()
	if b.records[s.Name] == nil {
		b.records[s.Name] = &memo{}
	}
	s.Record, s.Past = b.records[s.Name], slices.Clone(b.records[s.Name].events)
	r, err := b.f.Join(s)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// A future is a call of Run.
type future struct {
	m    assay.Measurement
	err  error
	done chan struct{}
	end  context.CancelCauseFunc
}

// run runs a job of a trial.
func (b *bench) run(r *Runner, job assay.Job) *future {
	ctx, end := context.WithCancelCause(context.Background())
	u := &future{done: make(chan struct{}), end: end}
	if job.ID.Attempt == 0 {
		job.ID.Attempt = 1
	}
	go func() {
		defer close(u.done)
		u.m, u.err = r.Run(ctx, job, nil)
	}()
	synctest.Wait()
	return u
}

func job(trial int64) assay.Job { return assay.Job{ID: assay.RunID{Trial: trial}} }

// ended returns the outcome of a run, which must be known.
func (b *bench) ended(u *future) (assay.Measurement, error) {
	b.Helper()
	synctest.Wait()
	select {
	case <-u.done:
		return u.m, u.err
	default:
		b.Fatal("the run has not ended")
		return u.m, nil
	}
}

func (b *bench) hello(w Worker) Order {
	b.Helper()
	if w.Apps == nil {
		w.Apps = []string{Commands}
	}
	w.Slots = max(w.Slots, 1)
	o, err := b.f.Hello(b.Context(), w)
	if err != nil {
		b.Fatal(err)
	}
	return o
}

// claim claims a ticket of any name for a worker, and returns the attempt: "TRIAL.ATTEMPT"
// of a study, or "".
func (b *bench) claim(worker string) string {
	b.Helper()
	b.tickets++
	c, err := b.f.Claim(b.Context(), Ticket{ID: fmt.Sprint("ticket", b.tickets), App: Commands}, worker)
	if err != nil {
		b.Fatal(err)
	}
	if c.Verdict == Drop {
		return ""
	}
	return fmt.Sprintf("%s %d.%d", c.Task.ID.Study, c.Task.ID.Trial, c.Task.ID.Attempt)
}

func (b *bench) beat(worker string, id assay.RunID, elapsed, gap time.Duration) Verdict {
	b.Helper()
	so := assay.Measurement{Elapsed: elapsed}
	v, err := b.f.Beat(b.Context(), Beat{ID: id, Worker: worker, So: so, Gap: gap})
	if err != nil {
		b.Fatal(err)
	}
	return v
}

func (b *bench) tell(worker string, id assay.RunID, elapsed time.Duration, why string) {
	b.Helper()
	o := Outcome{ID: id, Worker: worker, Measurement: assay.Measurement{Elapsed: elapsed}, Why: why}
	if err := b.f.Tell(b.Context(), o); err != nil {
		b.Fatal(err)
	}
}

func rid(trial int64, attempt int) assay.RunID {
	return assay.RunID{Study: "s", Trial: trial, Attempt: attempt}
}

func (b *bench) want(what string, got, want any) {
	b.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Claims go by the priority of the study, then of the job, then by the use of each study
// so far, then by age.
func TestClaimOrder(t *testing.T) {
	inBubble(t, func(b *bench) {
		s, u := b.join(Study{Name: "s"}), b.join(Study{Name: "t"})
		b.hello(Worker{ID: "w", Slots: 9})
		first := job(3)
		first.Priority = 1
		for _, j := range []assay.Job{job(1), job(2), first, job(4), job(5)} {
			b.run(s, j)
		}
		b.run(u, job(1))
		b.run(u, job(2))
		b.f.Prioritise("s", 5, 2)
		var listed, claimed []string
		for _, e := range b.f.Queue() {
			listed = append(listed, fmt.Sprintf("%s %d.%d", e.Study, e.ID.Trial, e.ID.Attempt))
		}
		for range 6 {
			claimed = append(claimed, b.claim("w"))
			time.Sleep(time.Second)
		}
		b.want("claims", claimed, []string{"s 5.1", "s 3.1", "t 1.1", "t 2.1", "s 1.1", "s 2.1"})
		b.want("the list", listed, append(claimed, "s 4.1"))
		u.SetPriority(1)
		b.run(u, job(3))
		b.want("the study of greater priority", b.claim("w"), "t 3.1")
		b.want("the rest", b.claim("w")+", "+b.claim("w"), "s 4.1, ")
	})
}

// Two studies share the slots by their weights.
func TestFairShare(t *testing.T) {
	inBubble(t, func(b *bench) {
		runners := map[string]*Runner{"s": b.join(Study{Name: "s", Weight: 3}), "t": b.join(Study{Name: "t"})}
		b.hello(Worker{ID: "w", Slots: 4})
		next, used := map[string]int64{}, map[string]int{}
		for range 400 {
			for name, r := range runners {
				for next[name] < int64(used[name])+2 {
					next[name]++
					b.run(r, job(next[name]))
				}
			}
			name, trial, _ := strings.Cut(strings.TrimSuffix(b.claim("w"), ".1"), " ")
			used[name]++
			time.Sleep(10 * time.Second)
			var n int64
			fmt.Sscan(trial, &n)
			b.tell("w", assay.RunID{Study: name, Trial: n, Attempt: 1}, 10*time.Second, "")
		}
		if got := float64(used["s"]) / float64(used["t"]); got < 2.7 || got > 3.3 {
			b.Errorf("a weight of 3 has %.2f times as many slots: %v", got, used)
		}
	})
}

// A study keeps to the class of the first worker that takes a run, after a restart too.
func TestClass(t *testing.T) {
	inBubble(t, func(b *bench) {
		join := func() (same, any *Runner) {
			b.hello(Worker{ID: "a", MachineClass: "A", Slots: 3})
			b.hello(Worker{ID: "b", MachineClass: "B", Slots: 5})
			return b.join(Study{Name: "s"}), b.join(Study{Name: "t", MachineClass: ClassAny})
		}
		s, u := join()
		for i := range int64(4) {
			b.run(s, job(i+1))
		}
		b.run(u, job(1))
		b.run(u, job(2))
		b.f.Prioritise("t", 1, -1)
		b.f.Prioritise("t", 2, -1)
		b.want("the first", b.claim("a"), "s 1.1")
		b.want("one of another class", b.claim("b"), "t 1.1")
		b.want("any class", b.claim("a")+", "+b.claim("a")+", "+b.claim("b"), "s 2.1, s 3.1, t 2.1")
		b.want("slots", fmt.Sprint(s.Capacity(), u.Capacity()), "3 8")
		b.start()
		s, _ = join()
		b.run(s, job(5))
		b.want("another class after a restart", b.claim("b"), "")
		b.want("the class after a restart", b.claim("a"), "s 5.1")
		(&Runner{b.f, b.f.studies["s"]}).Close()
		r := b.join(Study{Name: "s", MachineClass: "B", Parallel: 7})
		b.run(r, job(6))
		b.want("a class that was asked for", b.claim("a")+", "+b.claim("b"), ", s 6.1")
		b.want("parallel", r.Capacity(), 7)
	})
}

// A worker is given no run that it will not live to end.
func TestUntil(t *testing.T) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "short", Until: time.Minute})
		b.hello(Worker{ID: "long"})
		b.run(s, job(1))
		b.want("of unknown length", b.claim("short"), "s 1.1")
		b.tell("short", rid(1, 1), 50*time.Second, "")
		b.run(s, job(2))
		time.Sleep(15 * time.Second) // 45 s are left
		b.want("longer than what is left", b.claim("short"), "")
		b.want("without an end", b.claim("long"), "s 2.1")
		limited := job(3)
		limited.Limit = 40 * time.Second
		b.run(s, limited)
		b.want("within its limit", b.claim("short"), "s 3.1")
	})
}

// Run after a restart answers from the record, and attaches to a placed run.
func TestRestart(t *testing.T) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w", Slots: 9})
		for trial := range int64(3) {
			b.run(s, job(trial+1))
			b.claim("w")
		}
		b.tell("w", rid(1, 1), time.Minute, "limit")
		b.beat("w", rid(3, 1), time.Second, 0)
		time.Sleep(20 * time.Second)
		b.beat("w", rid(3, 1), 20*time.Second, 0)
		time.Sleep(20 * time.Second)
		b.want("booked", b.records["s"].booked(), []string{"1.1 limit", "2.1 lost"})

		b.start()
		if _, err := b.f.Beat(b.Context(), Beat{ID: rid(3, 1), Worker: "w"}); assay.ClassOf(err) != assay.ClassUnavailable {
			b.Errorf("before the study has joined: %v", err)
		}
		s = b.join(Study{Name: "s"})
		if _, err := b.f.Claim(b.Context(), Ticket{ID: "1", App: Commands}, "w"); !errors.Is(err, ErrStranger) {
			b.Errorf("a claim before hello: %v", err)
		}
		if m, err := b.ended(b.run(s, job(1))); !errors.Is(err, assay.ErrLimit) || m.Elapsed != time.Minute {
			b.Errorf("what has ended: %v, %v", m.Elapsed, err)
		}
		if _, err := b.ended(b.run(s, job(2))); !errors.Is(err, assay.ErrLost) {
			b.Errorf("what was lost: %v", err)
		}
		u := b.run(s, job(3))
		time.Sleep(25 * time.Second)
		b.want("a beat", b.beat("w", rid(3, 1), 65*time.Second, 0), Go)
		b.tell("w", rid(3, 1), 80*time.Second, "")
		if m, err := b.ended(u); err != nil || m.Elapsed != 80*time.Second {
			b.Errorf("what was placed: %v, %v", m.Elapsed, err)
		}
		b.tell("w", rid(3, 1), 80*time.Second, "") // again
		b.want("booked", b.records["s"].booked(), []string{"1.1 limit", "2.1 lost", "3.1"})
		b.want("of no study", func() any {
			_, err := b.f.Beat(b.Context(), Beat{ID: assay.RunID{Study: "x", Trial: 1, Attempt: 1}})
			return assay.ClassOf(err)
		}(), assay.ClassUnavailable)
		b.f.Ready()
		b.want("of no study, when all are there", b.beat("w", assay.RunID{Study: "x", Trial: 1, Attempt: 1}, 0, 0), Cancel)
		if err := b.f.Tell(b.Context(), Outcome{ID: rid(9, 1), Worker: "w"}); !errors.Is(err, ErrUnknown) {
			b.Errorf("an outcome of what is not on record: %v", err)
		}
	})
}

// A detached run goes on if it has begun, also when its study leaves.
func TestDetached(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.f.Ready()
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w", Slots: 9})
		placed := b.run(s, job(1))
		b.claim("w")
		open := b.run(s, job(2))
		for _, u := range []*future{placed, open} {
			u.end(assay.ErrDetached)
			if _, err := b.ended(u); !errors.Is(err, assay.ErrDetached) {
				b.Errorf("got %v", err)
			}
		}
		b.want("what is open", b.claim("w"), "")
		b.want("what was placed", b.beat("w", rid(1, 1), time.Second, 0), Go)
		s.Close()
		if _, err := b.f.Beat(b.Context(), Beat{ID: rid(1, 1), Worker: "w"}); assay.ClassOf(err) != assay.ClassUnavailable {
			b.Errorf("when the study is away: %v", err)
		}
		s = b.join(Study{Name: "s"})
		u := b.run(s, job(1))
		b.tell("w", rid(1, 1), time.Minute, "")
		if m, err := b.ended(u); err != nil || m.Elapsed != time.Minute {
			b.Errorf("attached: %v, %v", m.Elapsed, err)
		}
	})
}

// A cancelled run is taken back at once if it is open, and else ended with the next beat.
func TestCancelled(t *testing.T) {
	inBubble(t, func(b *bench) {
		s := b.join(Study{Name: "s"})
		b.hello(Worker{ID: "w", Slots: 9})
		for trial, c := range []struct {
			cause   error
			verdict Verdict
		}{
			{context.Canceled, Cancel},
			{stopped{}, Stop},
			{errors.New("seen enough"), Stop},
			{assay.Errorf(assay.ClassConflict, "another"), Cancel},
		} {
			id := rid(int64(trial+1), 1)
			u := b.run(s, job(id.Trial))
			b.claim("w")
			u.end(c.cause)
			synctest.Wait()
			b.want("the verdict of "+c.cause.Error(), b.beat("w", id, time.Second, 0), c.verdict)
			b.tell("w", id, 2*time.Second, string(c.verdict))
			if m, err := b.ended(u); !errors.Is(err, c.cause) || m.Elapsed != 2*time.Second {
				b.Errorf("got %v, %v, want %v", m.Elapsed, err, c.cause)
			}
		}
		u := b.run(s, job(9))
		u.end(context.Canceled)
		if _, err := b.ended(u); !errors.Is(err, context.Canceled) {
			b.Errorf("what is open: %v", err)
		}
		b.want("what was taken back", b.claim("w"), "")
		deaf := b.run(s, job(10))
		b.claim("w")
		deaf.end(stopped{})
		for range 4 {
			time.Sleep(10 * time.Second)
			b.beat("w", rid(10, 1), time.Minute, 0)
		}
		if m, err := b.ended(deaf); !errors.Is(err, stopped{}) || m.Elapsed != time.Minute {
			b.Errorf("a worker that does not obey: %v, %v", m.Elapsed, err)
		}
	})
}

// The use of a study is forgotten once its runs have ended: hours later it is owed as much as one that had nothing.
func TestShareIsForgotten(t *testing.T) {
	inBubble(t, func(b *bench) {
		s, u := b.join(Study{Name: "s"}), b.join(Study{Name: "t"})
		b.hello(Worker{ID: "w", Slots: 8})
		for i := range int64(4) {
			b.run(s, job(i+1))
			b.want("a run", b.claim("w"), fmt.Sprintf("s %d.1", i+1))
		}
		time.Sleep(20 * time.Second)
		for i := range int64(4) {
			b.tell("w", rid(i+1, 1), 20*time.Second, "")
		}
		share := &b.f.studies["s"].share
		if used := share.now(time.Now()); share.running != 0 || used < 75 || used > 80 {
			b.Errorf("%d run, and %v slot-seconds were used, want 80 less what is forgotten", share.running, used)
		}
		time.Sleep(10 * time.Minute)
		if used := share.now(time.Now()); used < 37 || used > 40 {
			b.Errorf("after ten minutes %v slot-seconds count, want half of 80", used)
		}
		b.run(s, job(5))
		b.run(u, job(1))
		b.want("the study that had nothing", b.claim("w"), "t 1.1")
		b.want("the other", b.claim("w"), "s 5.1")
	})
}

// Few runs are kept once handed over, however many there were, and none by its claim. A ticket or an outcome
// that comes again long after is nothing new.
func TestRunsAreForgotten(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.hello(Worker{ID: "w"})
		r := b.join(Study{Name: "s"})
		const runs = 10 * handedKept
		for i := range int64(runs) {
			u := b.run(r, job(i+1))
			b.want("claim", b.claim("w"), fmt.Sprintf("s %d.1", i+1))
			b.tell("w", rid(i+1, 1), time.Second, "")
			if _, err := b.ended(u); err != nil {
				b.Fatal(err)
			}
		}
		held := map[*run]bool{}
		for _, c := range b.f.claims {
			if c.a != nil {
				held[c.a.run] = true
			}
		}
		if len(b.f.claims) != runs || len(held) > 2*handedKept || len(r.m.runs) > 2*handedKept {
			b.Errorf("%d claims are remembered with %d runs, %d runs are kept: want %d, and at most %d", len(b.f.claims),
				len(held), len(r.m.runs), runs, 2*handedKept)
		}
		c, err := b.f.Claim(b.Context(), Ticket{ID: "ticket1", App: Commands}, "w")
		if err != nil || c.Verdict != Drop {
			b.Errorf("the first ticket again: %v, %v", c.Verdict, err)
		}
		b.tell("w", rid(1, 1), time.Second, "")
		b.want("booked", len(b.records["s"].booked()), runs)
	})
}
