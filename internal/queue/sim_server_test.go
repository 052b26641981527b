package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// A simServer is one start of the server: a Fleet, and a driver for each study. Workers call
// its methods, which check each answer.
type simServer struct {
	w      *world
	epoch  int
	fleet  *Fleet
	ctx    context.Context
	cancel context.CancelCauseFunc
	killed atomic.Bool
	logs   map[string]*simLog

	// Guarded by the world.
	orders  map[string]time.Time // when a worker was told to drain
	claims  map[claimKey]simClaim
	goes    map[runKeyOf][]going // beats that were answered with Go, the last few
	drivers map[string]*driver
}

type runKeyOf struct {
	study string
	runKey
}

// A simClaim is the first result of a claim of a ticket.
type simClaim struct {
	id assay.RunID
	at time.Time
}

// A going is an attempt that was ordered to go on.
type going struct {
	n  int
	at time.Time
}

func (s *simServer) dead() bool { return s.killed.Load() }

// boot starts a server, which goes on from the record.
func (w *world) boot() {
	w.mu.Lock()
	w.epochs++
	s := &simServer{
		w: w, epoch: w.epochs, logs: map[string]*simLog{}, orders: map[string]time.Time{},
		claims: map[claimKey]simClaim{}, goes: map[runKeyOf][]going{}, drivers: map[string]*driver{},
	}
	w.mu.Unlock()
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	door := &simDoor{w.carrier, w.diceOf("offers", s.epoch), w.diceOf("depths", s.epoch)}
	f := New(door, Options{Lease: simLease, Now: func() time.Time {
		w.mu.Lock()
		defer w.mu.Unlock()
		now := testbed.Stepped(time.Now().UTC(), w.step)
		if planted == "wallClock" {
			now = now.Round(0) // what it shows, and no more
		}
		return now
	}})
	tickets := 0
	f.ticket = func() string {
		tickets++
		return fmt.Sprintf("t%d.%d", s.epoch, tickets)
	}
	s.fleet = f
	w.mu.Lock()
	w.server = s
	w.mu.Unlock()
	w.calls.Go(func() { _ = f.Serve(s.ctx) })
	for _, st := range w.studies {
		d := &driver{s: s, study: st, log: newSimLog(s, st.name)}
		s.logs[st.name] = d.log
		past := d.log.read()
		r, err := f.Join(Study{
			Name: st.name, App: "app", MachineClass: st.class, Priority: st.priority, Parallel: st.parallel, Record: d.log,
			Past: past,
		})
		if err != nil {
			w.failf("joining %s: %v", st.name, err)
			return
		}
		d.runner = r
		w.mu.Lock()
		s.drivers[st.name] = d
		w.mu.Unlock()
		w.calls.Go(func() { d.drive(past) })
	}
	f.Ready()
}

// halt ends the server: kindly, or in the middle of its writes.
func (w *world) halt(kindly bool) {
	w.mu.Lock()
	s := w.server
	w.server = nil
	w.mu.Unlock()
	if s == nil {
		return
	}
	if !kindly {
		s.killed.Store(true)
	}
	s.cancel(assay.ErrDetached)
	if kindly {
		sleep(context.Background(), time.Second)
		s.killed.Store(true)
	}
}

// A simLog is the record of a study as one server writes it: on a disk that is slow, that
// fails for a while, and that may or may not have a write that a crash interrupted.
type simLog struct {
	s     *simServer
	study string
	turn  chan struct{}
	dice  *dice // of who has the turn
	at    assay.Position
}

func newSimLog(s *simServer, study string) *simLog {
	return &simLog{s: s, study: study, turn: make(chan struct{}, 1), dice: s.w.diceOf("log", study, s.epoch)}
}

var errDead = errors.New("the process is gone")

func (l *simLog) read() (events []assay.Event) {
	for e, err := range l.s.w.store.Events(context.Background(), l.study, 0) {
		if err != nil {
			panic(err)
		}
		events = append(events, e)
	}
	l.at = assay.Position(len(events))
	return events
}

// Append implements Record.
func (l *simLog) Append(_ context.Context, events ...assay.Event) error {
	for i := range events {
		events[i].At = time.Now().UTC()
	}
	late, err := l.write(events)
	// Others may write before this one gets the answer.
	sleep(context.Background(), late)
	if l.s.dead() {
		return errDead
	}
	return err
}

// write writes events, whatever it takes, and returns how late the answer comes.
func (l *simLog) write(events []assay.Event) (late time.Duration, err error) {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	w, dice := l.s.w, l.dice
	late = dice.between(0, 30*time.Millisecond)
	for _, e := range events { // what is about to begin is sometimes taken back
		if e.Started != nil && dice.chance(0.02) {
			w.calls.Go(func() { w.withdraw(w.study(l.study), e.Started.Trial) })
		}
	}
	for {
		ctx := context.Background() // a disk does not stop half-way
		sleep(ctx, dice.between(0, 3*time.Millisecond))
		if dice.chance(0.02) {
			sleep(ctx, dice.between(0, 2*time.Second))
		}
		if l.s.dead() && (w.current() != nil || dice.chance(0.5)) {
			return late, errDead
		}
		w.mu.Lock()
		broken := time.Now().Before(w.broken)
		w.mu.Unlock()
		if !broken || dice.chance(0.3) {
			at, err := w.store.Append(context.Background(), l.study, l.at, events...)
			if err != nil && l.s.dead() {
				return late, errDead // another server goes on
			}
			if err != nil {
				w.failf("appending to %s: %v", l.study, err)
				return late, err
			}
			if !broken {
				l.at = at
				w.wrote(l.s, events)
			}
		}
		switch {
		case l.s.dead():
			return late, errDead
		case !broken:
			return late, nil
		}
		sleep(ctx, dice.between(10*time.Millisecond, 500*time.Millisecond))
	}
}

// wrote checks the events of a server as it writes them.
func (w *world) wrote(s *simServer, events []assay.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range events {
		if b := e.Booked; b != nil && b.Why == assay.WhyLost {
			t := w.attempts[b.RunID]
			if t != nil && t.heard.After(e.At.Add(-simLease)) && t.heard.Before(e.At) {
				w.failLocked("attempt %v was booked as lost %v after it was heard of", b.RunID, e.At.Sub(t.heard))
			}
		}
		if b := e.Booked; b != nil && s != nil {
			delete(s.goes, runKeyOf{b.Study, runKey{b.Trial, b.Repeat}})
		}
	}
}

// plan returns the plan of a run.
func (w *world) plan(id assay.RunID) plan {
	for _, s := range w.studies {
		if s.name == id.Study {
			return s.plans[id.Trial-1]
		}
	}
	return plan{}
}

func (w *world) study(name string) *simStudy {
	i := slices.IndexFunc(w.studies, func(s *simStudy) bool { return s.name == name })
	return w.studies[i]
}

// snapshot returns the rank that is due next for a worker, and the ranks of all open attempts.
func (s *simServer) snapshot(k *simWorker) (best [2]int, ranks map[*attempt][2]int) {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	ranks = map[*attempt][2]int{}
	for _, m := range f.studies {
		for _, a := range m.open {
			if m.MachineClass == ClassSame && m.class != "" && m.class != k.MachineClass {
				continue
			}
			rank := [2]int{m.Priority, a.run.job.Priority}
			if len(ranks) == 0 || rank[0] > best[0] || rank[0] == best[0] && rank[1] > best[1] {
				best = rank
			}
			ranks[a] = rank
		}
	}
	return best, ranks
}

func (s *simServer) claim(ctx context.Context, t Ticket, k *simWorker) (Claim, error) {
	w := s.w
	best, ranks := s.snapshot(k)
	asked := time.Now()
	c, err := s.fleet.Claim(ctx, t, k.ID)
	if err != nil || c.Verdict != Go || s.dead() {
		return c, err
	}
	id := c.Task.ID
	s.fleet.mu.Lock()
	var rank [2]int
	waited := false
	if m := s.fleet.studies[id.Study]; m != nil && m.runs[runKey{id.Trial, id.Repeat}] != nil {
		if a, ok := m.runs[runKey{id.Trial, id.Repeat}].Find(id.Attempt); ok {
			rank, waited = ranks[a]
		}
	}
	s.fleet.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if waited && (rank[0] < best[0] || rank[0] == best[0] && rank[1] < best[1]) {
		w.failLocked("claim of %v of rank %v though %v is open", id, rank, best)
	}
	key := claimKey{t.ID, k.ID}
	old, ok := s.claims[key]
	if ok && old.id != id && asked.Sub(old.at) < remembered*simLease {
		w.failLocked("ticket %s of %s became %v, and then %v", t.ID, k.ID, old.id, id)
	}
	if !ok || old.id != id {
		s.claims[key] = simClaim{id, asked}
	}
	if at, ok := s.orders[k.ID]; ok && at.Before(asked) {
		w.failLocked("worker %s drains since %v and was given %v", k.ID, at.Sub(w.began), id)
	}
	st := w.study(id.Study)
	if at, ok := st.withdrawn[id.Trial]; ok && at.Before(time.Now()) && waited {
		w.failLocked("trial %v was taken back at %v and begun", id, at.Sub(w.began))
	}
	if p, ok := st.ordered[id.Trial]; ok && waited && c.Task.Job.Priority != p {
		w.failLocked("trial %v has priority %d, not %d", id, c.Task.Job.Priority, p)
	}
	return c, nil
}

func (s *simServer) beat(ctx context.Context, b Beat, t *truth) (Verdict, error) {
	w := s.w
	at := time.Now()
	w.mu.Lock()
	w.stood[b.ID] = w.stood[b.ID] || b.Gap > simLease // the server may hear this, and its answer be lost
	w.mu.Unlock()
	v, err := s.fleet.Beat(ctx, b)
	if err != nil || s.dead() {
		return v, err
	}
	events := s.logs[b.ID.Study].events()
	w.mu.Lock()
	defer w.mu.Unlock()
	if at.After(t.heard) {
		t.heard = at
	}
	st := w.study(b.ID.Study)
	since, withdrawn := st.withdrawn[b.ID.Trial]
	_, evicted := s.orders[b.Worker]
	rival, told := false, false
	for _, e := range events {
		if e.Started != nil && sameRun(e.Started.RunID, b.ID) && e.Started.Attempt != b.ID.Attempt {
			rival = true
		}
		if e.Booked != nil && e.Booked.RunID == b.ID && e.Booked.Why != assay.WhyLost {
			told = true
		}
	}
	switch v {
	case Go:
		if b.Gap > simLease {
			w.failLocked("attempt %v stood still for %v and goes on", b.ID, b.Gap)
		}
		if withdrawn && since.Before(at) {
			w.failLocked("attempt %v was taken back at %v and goes on", b.ID, since.Sub(w.began))
		}
		key := runKeyOf{b.ID.Study, runKey{b.ID.Trial, b.ID.Repeat}}
		g := append(s.goes[key], going{b.ID.Attempt, time.Now()})
		if n := len(g); n >= 3 && g[n-3].n == g[n-1].n && g[n-2].n != g[n-1].n &&
			g[n-1].at.Sub(g[n-3].at) < simLease && at.After(g[n-2].at) && g[n-2].at.After(g[n-3].at) {
			w.failLocked("attempts %d and %d of %v both go on", g[n-1].n, g[n-2].n, b.ID)
		}
		s.goes[key] = g[max(0, len(g)-3):]
	case Cancel:
		if !withdrawn && !evicted && !told && !w.stood[b.ID] && !t.tainted && !over(events, b.ID.Trial) {
			w.failLocked("attempt %v was cancelled, and nobody wanted that", b.ID)
		}
	case Duplicate:
		if !rival && !told && !w.stood[b.ID] && !t.tainted {
			w.failLocked("attempt %v is a duplicate of none", b.ID)
		}
	case Stop:
		if p := w.plan(b.ID); p.stop == 0 || b.So.Elapsed < 0 {
			w.failLocked("attempt %v was stopped", b.ID)
		}
	}
	return v, nil
}

func sameRun(a, b assay.RunID) bool { return a.Trial == b.Trial && a.Repeat == b.Repeat }

// over reports whether the record has the result of a trial.
func over(events []assay.Event, trial int64) bool {
	return slices.ContainsFunc(events, func(e assay.Event) bool { return e.Told != nil && e.Told.ID == trial })
}

func (l *simLog) events() (all []assay.Event) {
	for e := range l.s.w.store.Events(context.Background(), l.study, 0) {
		all = append(all, e)
	}
	return all
}

func (s *simServer) tell(ctx context.Context, o Outcome) error {
	w := s.w
	at := time.Now()
	err := s.fleet.Tell(ctx, o)
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.attempts[o.ID]
	if err == nil && !s.dead() {
		t.acked = true
		if at.After(t.heard) {
			t.heard = at
		}
	}
	if err != nil && assay.ClassOf(err) != assay.ClassUnavailable && !s.dead() {
		w.failLocked("the outcome of %v is refused: %v", o.ID, err)
	}
	return err
}

// drain orders a worker to drain, or to end all that it runs, if another one can go on.
func (w *world) drain(k *simWorker) {
	s := w.current()
	if s == nil {
		return
	}
	w.mu.Lock()
	others := 0
	for _, o := range w.workers {
		if _, drains := s.orders[o.ID]; o != k && !o.drained && !drains && o.MachineClass == k.MachineClass {
			others++
		}
	}
	w.mu.Unlock()
	if others == 0 {
		return
	}
	evict := w.chance(0.5)
	if s.fleet.Order(k.Name, Order{Drain: true, Evict: evict}) == nil {
		w.mu.Lock()
		s.orders[k.ID] = time.Now()
		w.mu.Unlock()
	}
}

// order changes the priority of a trial.
func (w *world) order(st *simStudy, trial int64, p int) {
	s := w.current()
	if s == nil {
		return
	}
	w.mu.Lock()
	delete(st.ordered, trial) // until it is done
	d := s.drivers[st.name]
	w.mu.Unlock()
	if d == nil || d.log.Append(s.ctx, assay.Event{Ordered: &assay.Order{Trial: trial, Priority: p}}) != nil {
		return
	}
	s.fleet.Prioritise(st.name, trial, p)
	w.mu.Lock()
	st.ordered[trial] = p
	w.mu.Unlock()
}

// withdraw takes a trial back.
func (w *world) withdraw(st *simStudy, trial int64) {
	if s := w.current(); s != nil {
		w.mu.Lock()
		d := s.drivers[st.name]
		w.mu.Unlock()
		if d != nil {
			d.withdraw(trial)
		}
	}
}
