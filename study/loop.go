package study

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assay-run/assay"
)

// loop is one run of a study. It leads five parts: asker, runner, judge, racer and control. Each part has its own
// state, which the loop changes by its methods alone, and knows the others by a narrow interface.
//
// The goroutine of Run owns everything, except the methods of the judge that runs call: a trial gets copies of its
// input, and its outcome comes back through a channel.
type loop struct {
	*session
	ask      *asker
	run      *runner
	judge    *judge
	race     *racer
	control  *control
	began    time.Time
	overhead time.Duration
}

// newLoop returns the loop of a study at the beginning of a session.
func newLoop(s *Study) *loop {
	l := &loop{session: newSession(s)}
	all := &assay.ConfigIndex{}
	l.judge = newJudge(s, all)
	l.run = newRunner(l.session, l.judge, all)
	l.ask = newAsker(l.session, elsewhere{l.run, l.judge})
	l.control = newControl(l.session, l, l.run.hold, l.carryOut)
	l.race = newRacer(l.session, l.control, l, l.judge)
	l.began = l.clock.Now()
	return l
}

// elsewhere has the state of trials that were started.
type elsewhere struct {
	run   *runner
	judge *judge
}

func (e elsewhere) runs(id int64) bool                 { return e.run.runs(id) }
func (e elsewhere) leaves(id int64) bool               { return e.run.leaves(id) }
func (e elsewhere) state(id int64) (assay.State, bool) { return e.judge.state(id) }
func (e elsewhere) knows(c assay.Config) bool          { return e.run.has(c) || e.judge.tried(c) }

// notify reports changes to Notify. It hands out the loop's own slices, see Progress.
func (l *loop) notify(replay bool) {
	if l.Notify != nil {
		_, races := l.judge.counts()
		checks := l.judge.compared()
		p := Progress{
			Trials: l.judge.ended(), Running: l.run.inFlight(), Best: l.judge.best(), Spent: l.record.spent(), Checks: checks,
			Races:  races,
			Replay: replay,
		}
		l.Notify(p)
	}
}

// search keeps trials in flight until something ends it, which the control notes.
//
// After an error no trial is started any more, and the search waits for the trials in flight, whose results are worth
// keeping. Only a session that has lost its study to another ends its runs, since the other makes them again. The
// errors of several trials are joined, each once.
func (l *loop) search(ctx context.Context) error {
	var fail error
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.control.search()
	for {
		if fail == nil && l.control.endedBy() == "" {
			fail = l.fill(ctx)
		}
		if errors.Is(fail, assay.ErrConflict) {
			cancel(fail)
		}
		if len(l.run.inFlight()) == 0 {
			if fail == nil && l.control.endedBy() == "" && (l.control.held() || l.run.capacity() == 0) {
				l.control.end(l.control.idle(ctx))
				fail = l.record.failed()
				continue
			}
			if fail == nil && l.control.endedBy() == "" {
				fail = fmt.Errorf("study %s: the search returned no proposal although no trial is running "+
					"(a bug: please report it)", l.Name)
			}
			return fail
		}
		switch o, what := l.wait(ctx); what {
		case drained:
			l.control.end("interrupt")
		case ended:
			if err := l.settle(ctx, o); err != nil && !errors.Is(fail, err) {
				fail = errors.Join(fail, err)
			}
		}
		if fail == nil {
			fail = l.record.failed()
		}
	}
}

// fill starts trials while there is room for them; trials that an earlier session left open come first. The control
// notes if something ended the search. It returns without an error if the searcher waits for a trial in flight.
func (l *loop) fill(ctx context.Context) error {
	for {
		if l.control.end(l.control.over(ctx)); l.control.endedBy() != "" {
			return nil
		}
		if l.control.held() {
			for _, p := range l.ask.attached() {
				l.launch(ctx, p)
			}
			return nil
		}
		free := l.run.capacity() - len(l.run.inFlight())
		if p, ok := l.race.toRedo(); ok && free > 0 {
			l.redo(ctx, p)
			continue
		}
		if t, ok := l.race.doubted(); ok && free > 0 {
			l.confirm(ctx, t.Proposal)
			continue
		}
		room := l.free(free)
		if room <= 0 {
			return nil
		}
		if l.ask.waiting() == 0 {
			if err := l.propose(ctx, room); err != nil || l.ask.waiting() == 0 {
				return err
			}
		}
		p, _ := l.ask.next()
		l.launch(ctx, p)
	}
}

// free returns how many more trials may be in flight, within the number of places. It is negative when a Runner has
// less room than it had.
func (l *loop) free(places int) int {
	if n := l.control.budget().Trials; n > 0 {
		return min(places, l.room(n))
	}
	return places
}

// propose has the searcher be asked for n proposals. A search that is done ends once nothing runs.
func (l *loop) propose(ctx context.Context, n int) error {
	t0 := time.Now()
	defer func() { l.overhead += time.Since(t0) }()
	trials := l.control.budget().Trials
	full := trials > 0 && l.judge.size()+l.run.searching() >= trials
	done, err := l.ask.ask(ctx, n, full)
	if done && len(l.run.inFlight()) == 0 {
		l.control.end("search")
	}
	return err
}

// launch starts a trial, whose outcome wait returns. The rest of the budget is
// read now, so that a trial which waited in open is not given time that has passed.
//
// The ID is taken here and not in the trial's goroutine: runs of one configuration
// are numbered in the order in which they begin.
func (l *loop) launch(ctx context.Context, p assay.Proposal) {
	left := l.control.remaining()
	l.begin(ctx, launch{Proposal: p, id: l.run.first(p), left: left, stopper: l.Stopper})
}

// confirm starts a trial once more while the search goes on.
func (l *loop) confirm(ctx context.Context, p assay.Proposal) {
	left, stopper := l.control.remaining(), l.Stopper
	if l.judge.borneOut(p.Config) {
		stopper = nil // the rule compares others with it
	}
	l.begin(ctx, launch{Proposal: p, again: true, id: l.run.repeated(p), left: left, stopper: stopper})
}

// redo starts a trial again whose run does not count any more.
func (l *loop) redo(ctx context.Context, p assay.Proposal) {
	left := l.control.remaining()
	l.race.redo(p.ID)
	l.begin(ctx, launch{Proposal: p, again: true, id: l.run.repeated(p), left: left})
}

// begin starts a run, whose outcome wait returns.
func (l *loop) begin(ctx context.Context, n launch) {
	l.run.note(n.Proposal, n.again)
	l.notify(false)
	n.priority = l.ask.priorityOf(n.ID)
	l.run.start(ctx, n)
}

// wait blocks until a trial ends, or something else happens; see [runner.wait]. It carries a command out.
func (l *loop) wait(ctx context.Context) (outcome, happening) {
	o, c, what := l.run.wait(l.control.signals())
	if c.do != nil {
		l.carryOut(ctx, c)
	}
	return o, what
}

// carryOut does a command.
func (l *loop) carryOut(ctx context.Context, c command) {
	c.do(ctx, l, func(err error) { c.answer <- err })
}

// reached, room, pending, reserve and trials are the figures of the control.
func (l *loop) reached(target float64) bool {
	if !l.judge.reached(target) {
		return false
	}
	_, doubtful := l.race.doubtful()
	return !doubtful
}

func (l *loop) room(trials int) int {
	return max(trials-l.judge.size()-l.run.searching(), l.ask.owes())
}

func (l *loop) pending() (given, redo bool) {
	return l.ask.owes() > 0 || l.ask.waiting() > 0, l.race.owes()
}

func (l *loop) reserve() time.Duration { return l.race.reserve() }

func (l *loop) trials() []assay.Trial { return l.judge.ended() }

// result collects the result. It shares the slices of the loop, which has ended.
func (l *loop) result() Result {
	r := l.judge.answer()
	why, judging := l.control.why()
	r.Spent, r.Overhead, r.EndedBy, r.Why = l.record.spent(), l.overhead+judging, l.control.endedBy(), why
	r.Short = l.race.missed()
	if l.record.Journal != nil {
		r.Lost, r.CPUHours = l.record.lost(), l.record.cpuHours()
		r.Queued, r.Ran = l.record.queued()
	}
	return r
}

// end records why the session ended, even if ctx is done.
func (l *loop) end(ctx context.Context) error {
	e := l.control.ending(l.race.missed())
	return l.record.keep(ctx, assay.Event{Ended: &e})
}
