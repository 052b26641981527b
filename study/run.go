package study

import (
	"context"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// A runner makes the runs: the part of the loop that has the trials in flight.
//
// Invariant: running holds exactly the runs whose outcome has not been taken.
type runner struct {
	*session
	seen    observed
	tally   tally
	running []Running
	// ended brings the outcomes. It has no buffer: a trial that has ended keeps its
	// place among the actors of a simulated clock until the loop takes the outcome.
	ended   chan outcome
	alone   *outcome                          // of a trial that ran in the loop's own goroutine
	gate    gate                              // closed in a pause
	cancels map[int64]context.CancelCauseFunc // of the trials that run
	leaving map[int64]leaving
}

// observed has the trials that a run under way is compared with. It is safe for concurrent use.
type observed interface {
	// past returns the trials so far, and whether a rule may compare with them.
	past() (trials []assay.Trial, ok bool)
	// asSeen returns a running trial as a rule is to see it, and the factor that its value was divided by.
	asSeen(t assay.Trial) (assay.Trial, float64)
	// interval returns how often a run is observed, for a job with the interval every.
	interval(every time.Duration) time.Duration
}

// An outcome is the result of a run. A lost one leaves its proposal open: nothing is recorded, and the next session
// runs it again.
type outcome struct {
	trial assay.Trial
	lost  bool // cut off by the budget with nothing learned, or interrupted
	again bool // the trial had ended: it was run again
	err   error
}

// A launch is a run that is to begin.
type launch struct {
	assay.Proposal
	again    bool // the trial has ended before
	id       assay.RunID
	priority int
	left     time.Duration // of the time budget, 0 for no limit
	stopper  assay.Stopper // may be nil
}

// A leaving is a trial that ends because it was taken back.
type leaving struct {
	assay.Withdrawal
	ended func(error) // reports the outcome of the withdrawal
}

func newRunner(s *session, seen observed, roll *assay.ConfigIndex) *runner {
	return &runner{
		session: s, seen: seen, tally: tally{roll: roll}, ended: make(chan outcome),
		cancels: map[int64]context.CancelCauseFunc{}, leaving: map[int64]leaving{},
	}
}

// read takes in an event of the record.
func (r *runner) read(e assay.Event) {
	switch {
	case e.Asked != nil:
		r.tally.asked(*e.Asked)
	case e.Told != nil:
		r.tally.told(e.Told.ID)
	case e.Withdrawn != nil:
		r.tally.told(e.Withdrawn.Trial)
	case e.Checked != nil:
		r.tally.began(e.Checked.Config)
	}
}

// first and repeated name the run of a proposal that is launched, and the next one that repeats it.
func (r *runner) first(p assay.Proposal) assay.RunID { return r.tally.id(r.Name, p) }

func (r *runner) repeated(p assay.Proposal) assay.RunID { return r.tally.check(r.Name, p) }

// counted counts a repeated run that is on record.
func (r *runner) counted(c assay.Config) { r.tally.began(c) }

// forget has a proposal that ended elsewhere, or was withdrawn, have no run.
func (r *runner) forget(id int64) { r.tally.told(id) }

// attempt names an attempt at a trial that was handed out.
func (r *runner) attempt(trial int64, n int) assay.RunID {
	return assay.RunID{Study: r.Name, Trial: trial, Repeat: r.tally.repeat[trial], Attempt: n}
}

// inFlight returns the runs whose outcome has not been taken. The slice is the runner's own.
func (r *runner) inFlight() []Running { return r.running }

// handOut notes a trial that is run outside the session.
func (r *runner) handOut(p assay.Proposal, since time.Time) {
	r.running = append(r.running, Running{Proposal: p, Since: since})
}

// drop forgets the run of a trial.
func (r *runner) drop(id int64) {
	r.running = slices.DeleteFunc(r.running, func(r Running) bool { return r.ID == id })
}

// dropOne forgets one run of a trial; another may be alive.
func (r *runner) dropOne(id int64) {
	i := slices.IndexFunc(r.running, func(r Running) bool { return r.ID == id })
	r.running = slices.Delete(r.running, i, i+1)
}

// clear forgets all runs: at the end one repeated run is made at a time.
func (r *runner) clear() { r.running = r.running[:0] }

// runs reports whether a trial runs for the first time.
func (r *runner) runs(id int64) bool {
	return slices.ContainsFunc(r.running, func(r Running) bool { return r.ID == id && !r.Again })
}

// repeats reports whether a configuration runs again.
func (r *runner) repeats(c assay.Config) bool {
	return slices.ContainsFunc(r.running, func(r Running) bool { return r.Again && r.Config.Equal(c) })
}

// has reports whether a configuration runs.
func (r *runner) has(c assay.Config) bool {
	return slices.ContainsFunc(r.running, func(r Running) bool { return r.Config.Equal(c) })
}

// withdraw ends a trial that runs. ended is called once with the outcome, after the ended of an earlier call.
func (r *runner) withdraw(w assay.Withdrawal, ended func(error)) {
	if before := r.leaving[w.Trial].ended; before != nil { // both callers are answered
		last := ended
		ended = func(err error) {
			before(err)
			last(err)
		}
	}
	r.leaving[w.Trial] = leaving{w, ended}
	if cancel := r.cancels[w.Trial]; cancel != nil {
		cancel(errWithdrawn)
	}
}

// leaves reports whether a trial is being withdrawn.
func (r *runner) leaves(id int64) bool {
	_, ok := r.leaving[id]
	return ok
}

// left takes a trial that has ended, and returns its withdrawal if there is one.
func (r *runner) left(id int64) (w leaving, ok bool) {
	delete(r.cancels, id)
	w, ok = r.leaving[id]
	delete(r.leaving, id)
	return w, ok
}

// hold closes or opens the gate for further attempts, and informs the Runner if it is a Holder.
func (r *runner) hold(on bool) {
	r.gate.set(!on)
	if h, ok := r.Runner.(Holder); ok {
		h.Hold(on)
	}
}

// A Holder is a Runner whose jobs may wait to begin. While it is on hold none of them begins.
type Holder interface{ Hold(on bool) }

// searching returns how many of the runs in flight are trials.
func (r *runner) searching() (n int) {
	for _, one := range r.running {
		if !one.Again {
			n++
		}
	}
	return n
}

// capacity returns how many trials may be in flight at once: Parallel of them, and no more than the room of the
// Runner, if it reports one. Parallel 0 is 1 for a Runner that does not report its room.
func (r *runner) capacity() int {
	c, ok := r.Runner.(assay.Capacitor)
	switch {
	case !ok:
		return max(1, r.Parallel)
	case r.Parallel > 0:
		return min(r.Parallel, c.Capacity())
	}
	return c.Capacity()
}

// note has a run be in flight that start begins.
func (r *runner) note(p assay.Proposal, again bool) {
	r.running = append(r.running, Running{p, r.clock.Now(), again})
}

// start begins a run, whose outcome wait returns.
func (r *runner) start(ctx context.Context, n launch) {
	ctx, cancel := context.WithCancelCause(ctx)
	if !n.again {
		r.cancels[n.ID] = cancel
	}
	run := func() outcome {
		defer cancel(nil)
		o := r.trial(ctx, cancel, n)
		o.again = n.again
		return o
	}
	_, elastic := r.Runner.(assay.Capacitor)
	if r.Parallel <= 1 && !elastic && r.Control == nil { // nothing else to do meanwhile, and handing over costs time
		o := run()
		r.alone = &o
		return
	}
	r.enter()
	go func() {
		// The place of enter among the actors goes to the loop with the outcome.
		r.ended <- run()
	}()
}

// A happening ends a wait.
type happening int

const (
	ended   happening = iota // a trial did, with an outcome
	drained                  // Drain was closed
	roomy                    // there may be more room, or there is a command
)

// signals end a wait besides an outcome. A nil one is not waited for.
type signals struct {
	drain    <-chan struct{}
	broken   <-chan struct{}
	commands <-chan command
	room     bool // the Runner is asked for its capacity again
}

// wait blocks until a trial ends, or one of the signals comes: Drain is closed for the first time, there is a command,
// or it is time to ask the Runner for its capacity again.
//
// The loop leaves the clock while it waits. An outcome brings a place with it; for
// anything else the loop enters again.
func (r *runner) wait(until signals) (o outcome, c command, what happening) {
	if r.alone != nil {
		o = *r.alone
		r.alone = nil
		return o, c, ended
	}
	var room <-chan time.Time
	if _, elastic := r.Runner.(assay.Capacitor); elastic && until.room {
		room = time.After(capacityEvery)
	}
	r.leave()
	what = roomy
	select {
	case o = <-r.ended: // and with it a place among the actors
		return o, c, ended
	case <-until.drain:
		what = drained
	case <-room:
	case <-until.broken:
	case c = <-until.commands:
	}
	r.enter()
	return o, c, what
}

// alsoEnded returns an outcome that has already arrived, if any. It returns none in simulated time, where the set of
// these depends on the machine.
func (r *runner) alsoEnded() (o outcome, ok bool) {
	if r.actors != nil {
		return o, false
	}
	select {
	case o = <-r.ended:
		return o, true
	default:
		return o, false
	}
}

// capacityEvery is how often a Runner that changes its capacity is asked for it.
const capacityEvery = time.Second
