package study

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/replay"
)

// loop is the state of one run of a study. All but history is owned by the
// goroutine of Run: a trial is given copies of what it needs, and its outcome comes
// back through a channel. So nothing but history needs a lock.
type loop struct {
	*Study
	Budget  Budget // that of the study, unless it was steered
	clock   assay.Clock
	actors  actors // nil for a real clock
	began   time.Time
	journal *Journal
	watch   *stopwatch
	// open are on record and not started: those of greater priority first, then in the order in
	// which they were asked.
	open    []assay.Proposal
	running []Running
	// ended brings the outcomes. It has no buffer: a trial that has ended keeps its
	// place among the actors of a simulated clock until the loop takes the outcome.
	ended  chan outcome
	alone  *outcome // of a trial that ran in the loop's own goroutine
	judge  *judge
	enough enough // is worth no further run
	short  string // why there are fewer checks than were wanted, or ""
	cuts   int    // on record
	runs   tally
	steered
	owed
	drifting
	// unrecorded is why the record has ended for this session, whose further
	// results are in its Result alone.
	unrecorded error

	overhead time.Duration
	endedBy  string
}

// steered is the part of the loop that obeys a [Helm].
type steered struct {
	live      bool // the record was read
	paused    bool
	gate      gate          // closed in a pause
	reopened  bool          // the search is to go on that had ended
	priority  map[int64]int // of trials, 0 for those that it lacks
	withdrawn map[int64]bool
	discarded map[int64]Discard // of withdrawn, those that can be restored
	leaving   map[int64]leaving
	cancels   map[int64]context.CancelCauseFunc // of the trials that run
	fatal     error                             // of the searcher, in a command
}

// commands brings those of the helm, if there is one.
func (l *loop) commands() <-chan command {
	if l.Helm == nil {
		return nil
	}
	return l.Helm.commands
}

// An outcome is what became of a run. A lost one leaves its proposal open: there is
// nothing to record, and the next session runs it again.
type outcome struct {
	trial assay.Trial
	lost  bool // cut off by the budget with nothing learned, or interrupted
	again bool // the trial had ended: it was run again
	err   error
}

// newLoop returns the loop of a study at the beginning of a session.
func newLoop(s *Study) *loop {
	l := &loop{Study: s, Budget: s.Budget, clock: s.Clock, ended: make(chan outcome)}
	all := &assay.Roll{}
	l.runs.roll, l.judge = all, newJudge(s, all)
	l.redoing = map[int64]bool{}
	l.withdrawn, l.leaving = map[int64]bool{}, map[int64]leaving{}
	l.discarded = map[int64]Discard{}
	l.cancels = map[int64]context.CancelCauseFunc{}
	if l.clock == nil {
		l.clock = realClock{}
	}
	l.watch = &stopwatch{clock: l.clock} // until that of the journal takes its place
	l.actors, _ = l.clock.(actors)
	l.began = l.clock.Now()
	return l
}

// enter and leave say to a simulated clock that an actor begins and ends to run.
func (l *loop) enter() {
	if l.actors != nil {
		l.actors.Enter()
	}
}

func (l *loop) leave() {
	if l.actors != nil {
		l.actors.Leave()
	}
}

// spent returns the time of the study over all sessions.
func (l *loop) spent() time.Duration {
	_, spent := l.watch.now()
	return spent
}

// notify shows what changed. It hands out the loop's own slices, see Progress.
func (l *loop) notify(replay bool) {
	if l.Notify != nil {
		p := Progress{
			Trials: l.judge.ended(), Running: l.running, Best: l.judge.best(), Spent: l.spent(), Checks: l.judge.compared(),
			Races:  l.judge.raced(),
			Replay: replay,
		}
		l.Notify(p)
	}
}

// search keeps trials in flight until something ends it, and sets endedBy.
//
// After an error nothing is started any more, and the trials in flight are waited
// for: what they measure is worth keeping. Only a session that has lost its study
// to another ends its runs, since the other makes them again. The errors of several
// trials are joined, each once.
//
// Invariant: running holds exactly the trials whose outcome has not been taken.
func (l *loop) search(ctx context.Context) error {
	var fail error
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.reopened = false
	for {
		if fail == nil && l.endedBy == "" {
			fail = l.fill(ctx)
		}
		if errors.Is(fail, assay.ErrConflict) {
			cancel(fail)
		}
		if len(l.running) == 0 {
			if fail == nil && l.endedBy == "" && (l.paused || l.capacity() == 0) {
				l.endedBy = l.idle(ctx)
				fail = l.failed()
				continue
			}
			if fail == nil && l.endedBy == "" {
				fail = errors.New("the searcher proposes nothing though no trial is running")
			}
			return fail
		}
		switch o, what := l.wait(ctx); what {
		case drained:
			l.endedBy = "interrupt"
		case ended:
			if err := l.settle(ctx, o); err != nil && !errors.Is(fail, err) {
				fail = errors.Join(fail, err)
			}
		}
		if fail == nil {
			fail = l.failed()
		}
	}
}

// failed returns the error of a command that ends the study, or that of the journal if somebody
// else's append has ended it.
func (l *loop) failed() error {
	if l.unrecorded == nil {
		l.unrecorded = l.journal.Err()
	}
	return cmp.Or(l.fatal, l.unrecorded)
}

// fill starts trials while there is room for them, those that an earlier session
// left open first. It sets endedBy if something ended the search. It returns
// without an error if the searcher waits for a trial in flight.
func (l *loop) fill(ctx context.Context) error {
	for {
		if l.endedBy = l.over(ctx); l.endedBy != "" {
			return nil
		}
		if l.paused {
			return l.attach(ctx)
		}
		if p, ok := l.toRedo(); ok && l.capacity() > len(l.running) {
			l.redo(ctx, p)
			continue
		}
		if t, ok := l.doubted(); ok && l.capacity() > len(l.running) {
			l.launch(ctx, t.Proposal, true)
			continue
		}
		room := l.room()
		if room <= 0 {
			return nil
		}
		if len(l.open) == 0 {
			if err := l.ask(ctx, room); err != nil || len(l.open) == 0 {
				return err
			}
		}
		p := l.open[0]
		l.open = l.open[1:]
		l.launch(ctx, p, false)
	}
}

// attach launches the open trials of which a run has begun that goes on, or has come to its end
// unseen: a pause keeps nobody from taking what they come to.
func (l *loop) attach(ctx context.Context) error {
	for i := 0; i < len(l.open); {
		p := l.open[i]
		if !l.journal.begun(p.ID) {
			i++
			continue
		}
		l.open = slices.Delete(l.open, i, i+1)
		l.launch(ctx, p, false)
	}
	return nil
}

// room returns how many more trials may be in flight. It is negative when a Runner
// has less room than it had.
func (l *loop) room() int {
	room := l.capacity() - len(l.running)
	if l.Budget.Trials > 0 {
		room = min(room, l.affords())
	}
	return room
}

// capacity returns how many trials may be in flight at once: Parallel of them,
// and no more than the Runner has room for, if it says so. Parallel 0 is 1 for a
// Runner that does not say so.
func (l *loop) capacity() int {
	c, ok := l.Runner.(assay.Capacitor)
	switch {
	case !ok:
		return max(1, l.Parallel)
	case l.Parallel > 0:
		return min(l.Parallel, c.Capacity())
	}
	return c.Capacity()
}

// capacityEvery is how often a Runner that changes its capacity is asked for it.
const capacityEvery = time.Second

// idle waits in real time while nothing runs: until a command, or until the Runner may have room
// again. A Runner whose capacity changes, and a study with a helm, are none of a simulation. It
// returns why the study is over, or "".
func (l *loop) idle(ctx context.Context) string {
	var room <-chan time.Time
	if !l.paused {
		room = time.After(capacityEvery)
	}
	select {
	case <-ctx.Done():
	case <-l.Drain:
	case <-room:
	case <-l.journal.broken:
	case c := <-l.commands():
		l.carryOut(ctx, c)
	}
	return l.over(ctx)
}

// carryOut does a command.
func (l *loop) carryOut(ctx context.Context, c command) {
	c.do(ctx, l, func(err error) { c.answer <- err })
}

// ask asks the searcher for n proposals at once and records them as one batch
// before they are open. There are none if the search is done, which endedBy says
// once nothing runs, or if it waits for a trial that does.
//
// The searcher is asked for as many as there is room for, so that repetitions
// can be interleaved and the points of one poll run side by side. The events say
// for how many it was asked: a replay makes the same calls.
//
// Cuts come before the proposals in the record, since the searcher made them before
// it proposed.
func (l *loop) ask(ctx context.Context, n int) error {
	t0 := time.Now()
	defer func() { l.overhead += time.Since(t0) }()
	ps, err := l.Searcher.Ask(n)
	if errors.Is(err, assay.ErrDone) {
		if len(l.running) == 0 {
			l.endedBy = "search"
		}
		return nil
	}
	if err != nil || len(ps) == 0 {
		return err
	}
	if err := l.append(ctx, append(l.newCuts(), replay.Asked(l.Searcher, n, ps)...)...); err != nil {
		return err
	}
	l.open = append(l.open, ps...)
	l.hope(l.proposed(ps...))
	return nil
}

// newCuts returns the events of what was removed from the space since the last
// call.
func (l *loop) newCuts() (events []assay.Event) {
	if l.Cuts == nil {
		return nil
	}
	all := l.Cuts()
	for ; l.cuts < len(all); l.cuts++ {
		events = append(events, assay.Event{Cut: &all[l.cuts]})
	}
	return events
}

// over returns why the study is over, or "". What the user wants comes first, then
// what the study was made for, then what it may cost: of several reasons the record
// has that one.
func (l *loop) over(ctx context.Context) string {
	if ctx.Err() != nil {
		return "interrupt"
	}
	select {
	case <-l.Drain:
		return "interrupt"
	default:
	}
	if t := l.Budget.Target; t != nil && l.judge.reached(*t) {
		if _, doubted := l.doubted(); !doubted {
			return "target"
		}
	}
	if l.Budget.Trials > 0 && l.affords() <= 0 && len(l.spoilt) == 0 {
		return "trials"
	}
	if l.Budget.Time > 0 && l.left() <= 0 {
		return "budget"
	}
	if l.Budget.CPUHours > 0 && l.journal.cpuHours() >= l.Budget.CPUHours*l.forSearch() {
		return byCPUHours
	}
	if l.gained() {
		return byGain
	}
	return ""
}

// byCPUHours is the end of a study whose hours of processors are spent.
const byCPUHours = "cpu_hours"

// forSearch is the share of the hours of processors that the search may spend.
func (l *loop) forSearch() float64 {
	if l.Check > 0 {
		return 1 - checkShare
	}
	return 1
}

// exhausted reports whether the hours of processors are spent, so that nothing is run again either.
func (l *loop) exhausted() bool {
	return l.Budget.CPUHours > 0 && l.journal.cpuHours() >= l.Budget.CPUHours
}

// left returns what is left of the time budget for the search.
func (l *loop) left() time.Duration { return l.Budget.Time - l.reserve() - l.spent() }

// launch starts a trial, whose outcome wait returns. What is left of the budget is
// read now, so that a trial which waited in open is not given time that has passed.
//
// The ID is taken here and not in the trial's goroutine: runs of one configuration
// are numbered in the order in which they begin.
func (l *loop) launch(ctx context.Context, p assay.Proposal, again bool) {
	limit := time.Duration(0)
	if l.Budget.Time > 0 {
		limit = l.left()
	}
	var id assay.RunID
	stopper := l.Stopper
	if again {
		id = l.runs.check(l.Name, p)
		if l.judge.borneOut(p.Config) {
			stopper = nil // it is what the rule compares with
		}
	} else {
		id = l.runs.id(l.Name, p)
	}
	l.begin(ctx, p, again, id, limit, stopper)
}

// begin starts a run, whose outcome wait returns.
func (l *loop) begin(ctx context.Context, p assay.Proposal, again bool, id assay.RunID, limit time.Duration,
	stopper assay.Stopper,
) {
	l.running = append(l.running, Running{p, l.clock.Now(), again})
	l.notify(false)
	ctx, cancel := context.WithCancelCause(ctx)
	if !again {
		l.cancels[p.ID] = cancel
	}
	priority := l.priority[p.ID]
	run := func() outcome {
		defer cancel(nil)
		o := l.trial(ctx, cancel, p, id, priority, limit, stopper)
		o.again = again
		return o
	}
	_, elastic := l.Runner.(assay.Capacitor)
	if l.Parallel <= 1 && !elastic && l.Helm == nil { // nothing else to do meanwhile, and handing over costs time
		o := run()
		l.alone = &o
		return
	}
	l.enter()
	go func() {
		// The place of enter among the actors goes to the loop with the outcome.
		l.ended <- run()
	}()
}

// What wait has waited for.
type happening int

const (
	ended   happening = iota // a trial did, with an outcome
	drained                  // Drain was closed
	roomy                    // there may be more room, or a command was carried out
)

// wait blocks until a trial ends, Drain is closed for the first time, a command was carried out,
// or it is time to ask the Runner for its capacity again. Once something has ended the
// search, only trials and commands are waited for: a closed Drain would be ready for ever.
//
// The loop leaves the clock while it waits. An outcome brings a place with it; for
// anything else the loop enters again.
func (l *loop) wait(ctx context.Context) (outcome, happening) {
	if l.alone != nil {
		o := *l.alone
		l.alone = nil
		return o, ended
	}
	drain, broken := l.Drain, l.journal.broken
	var room <-chan time.Time
	if _, elastic := l.Runner.(assay.Capacitor); l.endedBy != "" {
		drain = nil
	} else if elastic && !l.paused {
		room = time.After(capacityEvery)
	}
	if l.unrecorded != nil {
		broken = nil
	}
	l.leave()
	select {
	case o := <-l.ended: // and with it a place among the actors
		return o, ended
	case <-drain:
		l.enter()
		return outcome{}, drained
	case <-room:
	case <-broken:
	case c := <-l.commands():
		l.enter()
		l.carryOut(ctx, c)
		return outcome{}, roomy
	}
	l.enter()
	return outcome{}, roomy
}

// result collects what is known. It shares the slices of the loop, which has ended.
func (l *loop) result() Result {
	r := l.judge.answer()
	r.Spent, r.Overhead, r.EndedBy, r.Short = l.spent(), l.overhead, l.endedBy, l.short
	if r.EndedBy == byGain {
		r.Why = l.enough.Why
	}
	if l.journal != nil {
		r.Lost, r.CPUHours = l.journal.lost(), l.journal.cpuHours()
		r.Queued, r.Ran = l.journal.queued()
	}
	return r
}
