package study

import (
	"context"
	"errors"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/workereffect"
	"github.com/assay-run/assay/search"
)

// Errors that end a run of a study.
var (
	// ErrStopped is the cancellation cause of a run ended by the Stopper.
	ErrStopped = errors.New("stopped early")
	// ErrInterrupted is returned when Drain or the context ended the study.
	ErrInterrupted = errors.New("interrupted")
)

// Budget defines when a study ends. A zero field sets no limit. With several limits, the first that is reached ends
// the study.
type Budget struct {
	// Time is wall-clock time over all sessions, including the overhead. A run that is under way at its end is ended. If
	// Check asks for repeated runs, the search ends earlier by their expected time, at most a fifth of Time.
	Time time.Duration
	// Trials counts trials in a final state. Those that were withdrawn do not count, nor do repeated runs.
	Trials int
	// CPUHours is the sum of the metric [assay.CPUHours] over all booked attempts, also lost or stopped ones. Nothing is
	// begun when it is spent; runs that are alive are completed. If Check asks for repeated runs, the search ends when
	// four fifths are spent.
	CPUHours float64
	// Target is a value of the metric, in its own unit and sign, that is good
	// enough; nil for none. Trials that are in flight when it is met end first.
	Target *float64
}

// A Study defines the runs, the search and the store of the trials. The zero value of an optional field means its
// documented default.
//
// Run uses the fields as they are and sets none of them. The caller must not change them until Run has returned. A
// value that is shared with other studies must be safe for concurrent use: a Runner, Store and Stopper are, a
// Searcher is not.
type Study struct {
	Name  string
	Space *assay.Space
	Goal  assay.Goal
	// Command returns the run of a configuration. The loop names it (Job.ID) and lowers its Limit to the rest of the
	// time budget. It is called from the goroutine of each trial, so from several at once if Parallel is above 1. Its
	// error ends the study: a configuration that cannot be turned into a run is a flaw of the definition, not of the
	// trial.
	Command  func(assay.Config) (assay.Job, error)
	Searcher assay.Searcher
	Runner   assay.Runner
	Store    assay.Store // the study exists there; see assay.Store.Create
	Budget   Budget

	// Declared is whether the first proposal is the configuration that the program has now. The best is then compared with
	// no other one. Without it the baseline is the first trial that is done, if the run of the first proposal was stopped.
	Declared bool

	Stopper      assay.Stopper      // optional; nil never stops a run
	StudyStopper assay.StudyStopper // optional; nil never ends the study
	Clock        assay.Clock        // optional; nil is the machine's
	Parallel     int                // trials in flight; 0 means 1
	Retries      int                // more attempts at a run whose outcome is unknown; 0 means 2, negative none
	Hopeless     int                // the first trials of a session that may all fail for one reason; 0 means all
	Check        int                // pairs of repeated runs at the end; 0 means none, and no race
	// Sequential ends the pairs as soon as they show a difference, at the looks of [stats.CompareAtLook], within
	// CheckShare of the time budget. Check is then the most of them.
	Sequential bool
	CheckShare float64 // of the time budget, the most that is kept back for the runs at the end; 0 means 0.2
	Race       bool    // one run is not taken for the truth; see Race in the package comment
	// Anywhere allows runs on machines of any class, by a Runner that is a [Placer]. The recommended configuration has
	// then run on machines of MachineClass: the five that lead are run again there at the end of the search. It has
	// an effect with Race alone.
	Anywhere bool
	// MachineClass is the class of machines that the answer is for; "" means the class of the first trial that ends.
	MachineClass string
	// Finest is the shortest interval of observations: a run is observed forty times in the time of the best one, if
	// that is more often than its job requests. 0 means the interval of the job.
	Finest time.Duration
	Drain  <-chan struct{}       // optional; once closed no trial is started, and those in flight end by themselves
	Cuts   func() []assay.Pruned // optional; every cut of the searcher so far, in order, for the record
	Notify func(Progress)        // optional; called by the loop's goroutine after every change, which waits for it
	// Patience is the longest time that the study waits for a store that fails,
	// before it ends with the error; 0 means 2 minutes, negative not at all.
	Patience time.Duration
	// Output, if set, is given every trial that ended with the output that was kept of it, which is forgotten afterwards:
	// it is no part of the record. It is called by the loop's goroutine before the result is recorded.
	Output func(assay.Trial)
	// Control, if set, steers the study while it runs.
	Control *Control

	journal *Journal // see Journal
}

// racing reports whether a single run does not decide. The front of several objectives has its own repeats.
func (s *Study) racing() bool { return s.Race && !s.Goal.Several() }

// Progress is a view of a study in which something changed. The slices are the loop's own: they are valid until Notify
// returns. The receiver must not change or keep them.
type Progress struct {
	Trials  []assay.Trial // in a final state, in the order they ended
	Running []Running
	Best    *assay.Trial // nil without one
	Spent   time.Duration
	Checks  int  // runs that compare the best with the first, which have ended
	Races   int  // runs that find out which is best, likewise
	Replay  bool // the trials are from an earlier session
}

// Running is a trial in flight.
type Running struct {
	assay.Proposal
	Since time.Time
	Again bool // it has ended before, and is run again
}

// Result is the answer of a study. The caller owns it. With an error of Run it holds the results so far, including
// trials that could not be recorded.
type Result struct {
	Best  assay.Trial // meaningful if Found
	Found bool        // whether a trial ran to the end within the limits
	// Front is the Pareto front of a goal with several objectives, in order of the first. Best is then the balanced
	// trial: see [Balanced].
	Front    []FrontTrial
	First    assay.Trial   // the baseline, which Best is compared with: see Study.Declared
	Trials   []assay.Trial // in a final state, in the order they ended
	Checks   []assay.Trial // repeated runs that compare Best with First, in the order they ended
	Races    []assay.Trial // repeated runs that find out which is best, likewise
	Runs     int           // complete ones of Best; Best.Value is their median
	Refuted  []Refuted     // failed in a repeated run, in the order of their first runs
	Short    string        // why there are fewer Checks than were wanted, or ""
	Spent    time.Duration // of the time budget, over all sessions
	Overhead time.Duration // of this session: searching, modelling and recording, in real time
	EndedBy  string        // see assay.End; "detached" if the session let go of its runs
	Why      string        // why no more is to be gained, if EndedBy is "gain"
	Replayed int           // trials of earlier sessions
	// Lost is the cost, over all sessions, of attempts that were made elsewhere and do not count.
	Lost time.Duration
	// CPUHours are the processor hours of all attempts that measured them: see [Budget.CPUHours].
	CPUHours float64
	// Queued is how long the jobs of all attempts waited in the queue of a batch system, and Ran how long those
	// jobs ran, each of them summed over jobs that have ended, whether they count or not. Both are parts of
	// the life of a job, of which several go on at once: their sum may be more than Spent.
	Queued, Ran time.Duration
	// Workers are the effects of the workers, as far as the record names them.
	Workers []workereffect.Effect
}

// actors is implemented by simulated clocks, which advance when no actor runs. The actors are the loop and each trial
// in flight. A trial that ends hands its place to the loop together with its outcome, so that the clock never sees a
// moment without an actor while the loop has work to do. See table.SimClock.
type actors interface {
	Enter()
	Leave()
}

// realClock is the clock of the machine. The times of a record are in UTC, wherever it is written.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now().UTC() }

// Run resumes the study from its events, then runs trials until the budget is spent, the target is met, the search is
// done, Drain is closed or ctx is done, or until the first trials all failed alike: see Hopeless. A Study value is
// run once: its searcher has the content of the record.
//
// A trial that fails is not an error. The errors are:
//
//   - [ErrInterrupted], if Drain or ctx ended the study. Runs in flight when ctx
//     ends are killed, and run again by the next session. Those in flight when
//     Drain is closed are waited for.
//   - [assay.ErrDetached], if that is the cause of ctx. The runs in flight are left
//     alone, and nothing more is recorded: the next session asks the Runner for
//     the same runs, and attaches to them. Lost ones are begun again.
//   - a *[ReplayError], if the searcher does not repeat its proposals. Nothing has
//     been run or written then.
//   - one that matches [assay.ErrConflict], if another session has written to the
//     record. At most one of two sessions goes on, and the record has only its runs.
//   - one that matches [assay.ErrSetup], if no configuration can be run.
//   - the error of Command, of the Searcher, or of the Store once Patience is at its end.
//
// With every error the Result holds all measurements, recorded or not.
func (s *Study) Run(ctx context.Context) (Result, error) {
	l := newLoop(s)
	l.enter()
	defer l.leave()
	if s.Control != nil {
		defer s.Control.end()
	}
	if err := l.replay(ctx); err != nil {
		return l.result(), err
	}
	l.notify(true)
	err := l.search(ctx)
	if err == nil {
		err = l.settleBest(ctx)
	}
	if detached(ctx) {
		l.control.end("detached")
		return l.result(), assay.ErrDetached
	}
	if err != nil {
		l.control.end("error")
	}
	if ctx.Err() != nil {
		l.control.end("interrupt")
	}
	// The end is recorded even when the context that ended it is done. An earlier error is more informative than the
	// error of this append.
	if e := l.end(ctx); err == nil {
		err = e
	}
	if l.control.endedBy() == "interrupt" && (err == nil || errors.Is(err, context.Cause(ctx))) {
		err = ErrInterrupted
	}
	return l.result(), err
}

// settleBest makes the runs that settle which configuration is the best, and searches on while it is asked to.
func (l *loop) settleBest(ctx context.Context) (err error) {
	for err == nil && l.control.endedBy() != "interrupt" && (l.Check > 0 || l.Anywhere) {
		err = l.race.settleOnTarget(ctx)
		if err == nil && l.Check > 0 {
			err = l.race.race(ctx)
		}
		if err == nil && l.Check > 0 {
			err = l.race.check(ctx)
		}
		if err == nil {
			err = l.record.failed()
		}
		if !l.control.goesOn() || err != nil {
			break
		}
		l.control.goOn()
		l.race.place(false)
		err = l.search(ctx)
	}
	return err
}

// A ReplayError reports where a searcher departs from the proposals on record, because its algorithm, its options or
// its seed changed.
type ReplayError = search.Error
