// Package study runs the one loop of assay: ask, run, observe, stop, record,
// tell. A study is resumed by replaying its events.
//
//	Study.Run
//	  replay    feed the stored events to the searcher, compare its proposals
//	  search    keep Parallel trials in flight until the budget is spent
//	  check     run the best and the first configuration again, in turn
//
// Everything that a study decides on is an event in the store before it is
// acted upon: a proposal before its run, a result before the searcher hears of
// it. So a process that dies at any instant loses at most the runs in flight.
package study

import (
	"context"
	"errors"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/replay"
)

// Errors that end a run of a study.
var (
	// ErrStopped is the cancellation cause of a run ended by the Stopper.
	ErrStopped = errors.New("stopped early")
	// ErrInterrupted is returned when Drain or the context ended the study.
	ErrInterrupted = errors.New("interrupted")
)

// Budget says when a study ends. A zero field sets no limit.
type Budget struct {
	Time   time.Duration // wall-clock time, own overhead included
	Trials int           // trials in a final state
	Target *float64      // metric value that is good enough; nil for none
}

// A Study says what to run, how to search and where to keep the trials.
// The zero value of an optional field means its documented default.
type Study struct {
	Name  string
	Space *assay.Space
	Goal  assay.Goal
	// Command returns the run of a configuration. The loop names it (Job.ID) and
	// lowers its Limit to what is left of the time budget.
	Command  func(assay.Config) (assay.Job, error)
	Searcher assay.Searcher
	Runner   assay.Runner
	Store    assay.Store // the study exists there; see assay.Store.Create
	Budget   Budget

	Stopper  assay.Stopper      // optional; nil never stops a run
	Clock    assay.Clock        // optional; nil is the machine's
	Parallel int                // trials in flight; 0 means 1
	Retries  int                // more attempts at a run whose outcome is unknown; 0 means 2, negative none
	Check    int                // pairs of repeated runs at the end; 0 means none
	Drain    <-chan struct{}    // optional; once closed no trial is started
	Cuts     func() []assay.Cut // optional; every cut of the searcher so far, in order, for the record
	Notify   func(Progress)     // optional; called by the loop after every change
	// Patience is the longest time that the study waits for a store that fails,
	// before it ends with the error; 0 means 2 minutes, negative not at all.
	Patience time.Duration
	// Output, if set, is given every run that ended with the output that was kept
	// of it, which is forgotten afterwards: it is no part of the record.
	Output func(assay.Trial)
}

// Progress is a view of a study in which something changed. The receiver must
// not change or keep the slices.
type Progress struct {
	Trials  []assay.Trial // in a final state, in the order they ended
	Running []Running
	Best    *assay.Trial // nil while there is none
	Spent   time.Duration
	Checks  int  // repeated runs that have ended
	Replay  bool // the trials are those of an earlier session
}

// Running is a trial in flight.
type Running struct {
	assay.Proposal
	Since time.Time
}

// Result is the answer of a study.
type Result struct {
	Best     assay.Trial   // meaningful if Found
	Found    bool          // whether a trial ran to the end within the limits
	First    assay.Trial   // the trial of the first proposal, which Best is compared with
	Trials   []assay.Trial // in a final state, in the order they ended
	Checks   []assay.Trial // repeated runs of Best and First, in the order they ended
	Spent    time.Duration // of the time budget, over all sessions
	Overhead time.Duration // of this session: searching, modelling and recording, in real time
	EndedBy  string        // see assay.End
	Replayed int           // trials of earlier sessions
}

// actors is implemented by simulated clocks, which advance when no actor runs:
// the loop is one, each trial in flight is one. A trial that ends hands its
// token to the loop with its outcome. See table.SimClock.
type actors interface {
	Enter()
	Leave()
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

// Run resumes the study from its events, then runs trials until the budget is
// spent, the search is done, Drain is closed or ctx is done. A Study value is
// run once.
//
// It returns ErrInterrupted, with what is known, if Drain or ctx ended it; runs
// in flight when ctx ends are killed and run again by the next session. It
// returns a *[ReplayError] if the searcher does not repeat its proposals. A
// trial that fails is not an error.
//
// It returns an error that matches [assay.ErrConflict] if another session has
// written to the record: at most one of two goes on, and the record is that of
// one. A store that fails is asked again for as long as Patience says. What was
// measured and could not be recorded is in the Result.
func (s *Study) Run(ctx context.Context) (Result, error) {
	l := newLoop(s)
	l.enter()
	defer l.leave()
	if err := l.replay(ctx); err != nil {
		return l.result(), err
	}
	l.notify(true)
	err := l.search(ctx)
	if err == nil && l.endedBy != "interrupt" && s.Check > 0 {
		err = l.check(ctx)
	}
	if err != nil {
		l.endedBy = "error"
	}
	if ctx.Err() != nil {
		l.endedBy = "interrupt"
	}
	// The end is worth a record even when the context that ended it is done.
	if e := l.end(ctx); err == nil {
		err = e
	}
	if l.endedBy == "interrupt" && (err == nil || errors.Is(err, context.Cause(ctx))) {
		err = ErrInterrupted
	}
	return l.result(), err
}

// A ReplayError says where a searcher departs from the proposals on record,
// because its algorithm, its options or its seed changed.
type ReplayError = replay.Error
