package queue

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// A simWorker is a worker that can be killed, frozen and cut off.
type simWorker struct {
	w *world
	Worker
	// The world guards the fields below. The spool survives the process.
	spool   map[assay.RunID]Outcome
	died    []assay.RunID // runs that died with a process
	running map[assay.RunID]bool
	process int
	end     context.CancelFunc // of the process; nil if there is none
	freezes [][2]time.Time
	cuts    time.Time // until when it is cut off
	drained bool      // it was told to take nothing more
}

// start starts the process of the worker, if none runs.
func (k *simWorker) start(ctx context.Context) {
	k.w.mu.Lock()
	defer k.w.mu.Unlock()
	if k.end != nil {
		return
	}
	ctx, k.end = context.WithCancel(ctx)
	k.process++
	process := k.process
	k.running = map[assay.RunID]bool{}
	died, dice := k.died, k.w.diceOf("start", k.ID, k.process)
	k.died = nil
	for _, id := range inOrder(k.spool) {
		o := k.spool[id]
		k.w.calls.Go(func() { k.tell(ctx, k.w.diceOf("tell", id, k.ID, process), o) })
	}
	for _, id := range died {
		if dice.intn(2) == 0 { // it finds the remains and says so
			o := Outcome{ID: id, Worker: k.ID, Why: "error", Reason: "the worker was killed"}
			k.finish(o)
			k.w.calls.Go(func() { k.tell(ctx, k.w.diceOf("remains", id, k.ID, process), o) })
		}
	}
	for i := range k.Slots {
		k.w.calls.Go(func() { k.slot(ctx, k.w.diceOf("slot", i, k.ID, process)) })
	}
}

// kill ends the process and all that it runs.
func (k *simWorker) kill() {
	k.w.mu.Lock()
	defer k.w.mu.Unlock()
	if k.end == nil {
		return
	}
	k.end()
	k.end = nil
	for _, id := range inOrder(k.running) {
		if _, told := k.spool[id]; !told {
			k.died = append(k.died, id)
		}
	}
	k.running = nil
}

func (k *simWorker) freeze(d time.Duration) {
	k.w.mu.Lock()
	defer k.w.mu.Unlock()
	now := time.Now()
	if n := len(k.freezes); n > 0 && k.freezes[n-1][1].After(now) {
		return
	}
	k.freezes = append(k.freezes, [2]time.Time{now, now.Add(d)})
}

func (k *simWorker) cutOff(d time.Duration) {
	k.w.mu.Lock()
	defer k.w.mu.Unlock()
	k.cuts = time.Now().Add(d)
}

func (k *simWorker) cut() bool {
	k.w.mu.Lock()
	defer k.w.mu.Unlock()
	return time.Now().Before(k.cuts)
}

// thaw waits until the worker is not frozen.
func (k *simWorker) thaw(ctx context.Context, dice *dice) bool {
	for {
		k.w.mu.Lock()
		left := time.Duration(0)
		if n := len(k.freezes); n > 0 {
			left = time.Until(k.freezes[n-1][1])
		}
		k.w.mu.Unlock()
		if left <= 0 {
			return ctx.Err() == nil
		}
		if !sleep(ctx, left+dice.moment()) {
			return false
		}
	}
}

// frozen returns how long the worker was frozen between two times, in all and at once.
func (k *simWorker) frozen(a, b time.Time) (all, longest time.Duration) {
	k.w.mu.Lock()
	defer k.w.mu.Unlock()
	for _, f := range k.freezes {
		from, to := f[0], f[1]
		if from.Before(a) {
			from = a
		}
		if to.After(b) {
			to = b
		}
		if d := to.Sub(from); d > 0 {
			all += d
			longest = max(longest, d)
		}
	}
	return all, longest
}

// hello sends a hello until it is answered.
func (k *simWorker) hello(ctx context.Context, dice *dice) {
	for ctx.Err() == nil {
		o, err := call(ctx, k, dice, func(s *simServer) (Order, error) { return s.fleet.Hello(ctx, k.Worker) })
		if err == nil {
			if o.Drain {
				k.w.mu.Lock()
				k.drained = true
				k.w.mu.Unlock()
			}
			return
		}
	}
}

func (k *simWorker) drains() bool {
	k.w.mu.Lock()
	defer k.w.mu.Unlock()
	return k.drained
}

// slot takes and runs, one at a time.
func (k *simWorker) slot(ctx context.Context, dice *dice) {
	k.hello(ctx, dice)
	said := time.Now()
	for ctx.Err() == nil && !k.drains() {
		if !k.thaw(ctx, dice) {
			return
		}
		d, err := k.w.carrier.take(ctx, dice, k.Apps, k.MachineClass)
		if err != nil {
			if time.Since(said) > simLease {
				k.hello(ctx, dice)
				said = time.Now()
			}
			continue
		}
		for range 4 {
			if !k.thaw(ctx, dice) {
				return
			}
			c, err := call(ctx, k, dice, func(s *simServer) (Claim, error) { return s.claim(ctx, d.Ticket(), k) })
			switch {
			case errors.Is(err, ErrStranger), errors.Is(err, ErrDraining):
				k.hello(ctx, dice)
				if k.drains() {
					return
				}
				continue
			case err != nil:
				continue
			case c.Verdict == Go:
				k.run(ctx, dice, c, d)
			}
			_ = d.Done(ctx)
			break
		}
	}
}

// begin notes that an attempt runs. It is nil if the worker has it already.
func (k *simWorker) begin(id assay.RunID) *truth {
	w := k.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if k.end == nil || k.running[id] {
		return nil
	}
	if old := w.attempts[id]; old != nil {
		if old.worker != k.ID {
			w.failLocked("attempt %v was begun by %s and by %s", id, old.worker, k.ID)
			return nil
		}
		if old.outcome != nil {
			return nil
		}
	}
	w.tokens++
	k.running[id] = true
	t := &truth{worker: k.ID, process: k.process, token: w.tokens, beats: map[time.Duration]float64{}}
	if old := w.attempts[id]; old != nil {
		t.beats, t.heard = old.beats, old.heard
	}
	w.attempts[id] = t
	return t
}

// finish notes the outcome of an attempt where it survives. The world is locked.
func (k *simWorker) finish(o Outcome) {
	k.spool[o.ID] = o
	t := k.w.attempts[o.ID]
	if t == nil {
		t = &truth{worker: k.ID, beats: map[time.Duration]float64{}}
		k.w.attempts[o.ID] = t
	}
	t.outcome = &o
}

// run makes a run.
func (k *simWorker) run(ctx context.Context, dice *dice, c Claim, d Delivery) {
	id := c.Task.ID
	t := k.begin(id)
	if t == nil {
		return
	}
	w := k.w
	p := w.plan(id)
	lasts := dice.between(p.lasts*4/5, p.lasts*6/5)
	began := time.Now()
	why := ""
	measured := func() assay.Measurement {
		out, longest := k.frozen(began, time.Now())
		if longest > simLease {
			w.mu.Lock()
			t.tainted = true
			w.mu.Unlock()
		}
		m := assay.Measurement{Elapsed: min(time.Since(began)-out, lasts)}
		if c.Task.Job.Limit > 0 {
			m.Elapsed = min(m.Elapsed, c.Task.Job.Limit)
		}
		m.Metrics = map[string]float64{"token": t.token}
		return m
	}
	for {
		if !sleep(ctx, min(c.Beat, lasts)) || !k.thaw(ctx, dice) {
			return
		}
		m := measured()
		if m.Elapsed >= lasts {
			break
		}
		if l := c.Task.Job.Limit; l > 0 && m.Elapsed >= l {
			why = assay.WhyLimit
			break
		}
		_ = d.Renew(ctx)
		_, gap := k.frozen(began, time.Now())
		w.mu.Lock()
		t.beats[m.Elapsed] = t.token
		w.mu.Unlock()
		b := Beat{ID: id, Worker: k.ID, So: m, Gap: gap}
		v, err := call(ctx, k, dice, func(s *simServer) (Verdict, error) { return s.beat(ctx, b, t) })
		if err == nil && v != Go {
			why = string(v)
			break
		}
	}
	if !k.thaw(ctx, dice) {
		return
	}
	o := Outcome{ID: id, Worker: k.ID, Measurement: measured(), Why: why}
	if _, gap := k.frozen(began, time.Now()); gap > simLease {
		o.Why = assay.WhyTainted
	}
	w.mu.Lock()
	if k.end == nil || ctx.Err() != nil {
		w.mu.Unlock()
		return
	}
	k.finish(o)
	w.mu.Unlock()
	k.tell(ctx, dice, o)
}

// tell sends an outcome until it is taken.
func (k *simWorker) tell(ctx context.Context, dice *dice, o Outcome) {
	for ctx.Err() == nil {
		if !k.thaw(ctx, dice) {
			return
		}
		_, err := call(ctx, k, dice, func(s *simServer) (bool, error) { return true, s.tell(ctx, o) })
		if assay.ClassOf(err) != assay.ClassUnavailable {
			k.w.mu.Lock()
			delete(k.spool, o.ID)
			delete(k.running, o.ID)
			k.w.mu.Unlock()
			return
		}
		sleep(ctx, dice.between(time.Second, 10*time.Second))
	}
}

// inOrder returns the runs of a map, in one order each time.
func inOrder[V any](m map[assay.RunID]V) []assay.RunID {
	return slices.SortedFunc(maps.Keys(m), func(a, b assay.RunID) int {
		return cmp.Or(cmp.Compare(a.Study, b.Study), cmp.Compare(a.Trial, b.Trial), cmp.Compare(a.Repeat, b.Repeat),
			cmp.Compare(a.Attempt, b.Attempt))
	})
}
