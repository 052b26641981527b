// Package study runs the one loop of assay: ask, run, observe, stop, record, tell. A study is resumed by replaying
// its events.
//
// # Usage
//
// The caller makes the study in a store, describes how it is run by a [Study], and calls [Study.Run] once:
//
//	err := store.Create(ctx, "zip", nil) // once in the life of the study
//
//	s := &study.Study{
//		Name: "zip", Store: store,
//		Space: space, Goal: assay.Goal{Metric: "elapsed", Grows: true},
//		Searcher: search.NewRandom(space, seed),
//		Runner:   runner,
//		Command:  func(c assay.Config) (assay.Job, error) { ... },
//		Budget:   study.Budget{Trials: 100},
//	}
//	result, err := s.Run(ctx)
//
// Run returns when the budget is spent, the target is met, the search is done, Drain is closed or ctx is done. A
// later session makes a new Study value of the same space, goal and searcher, seed included, and calls Run again: it
// resumes at the end of the record. Package setup does all of this from a study file.
//
// # The loop
//
// One goroutine, Run's, owns the searcher and the record. For each trial it does the following, and it does not
// begin a step before the one above is on record:
//
//	step      who acts                                on record afterwards
//	replay    Store.Events, to a new Searcher         nothing new
//	ask       Searcher.Ask, for all the room          Asked, one for each proposal
//	run       Runner.Run, several at once if Parallel  -
//	observe   Stopper.Decide, called by the Runner    -
//	judge     Goal.Value and the limits               Told, with the final state
//	tell      Searcher.Tell                           -
//	race      Runner.Run, of candidates for the best  Checked, one for each run
//	check     Runner.Run, of best and first in turn   Checked, one for each run
//	end       -                                       Ended, with the reason
//
// Three promises follow from that order:
//
//   - A process that dies at any instant loses at most the runs in flight. Their
//     proposals are on record, and the next session runs them again, first.
//   - The searcher never knows more than the record, so that replaying the record
//     gives a new searcher the same state.
//   - At most one of two sessions of one study goes on: each appends at the
//     position up to which it has read, and the store refuses the other.
//
// # The states of a trial
//
// A trial is running from the event Asked on. It then takes one final state, which it never leaves:
//
//	         ┌─► done        it ran to its end, and keeps all limits of the goal
//	         ├─► infeasible  it ran to its end, and breaks a limit
//	running ─┼─► censored    it was ended early; its value can only be greater
//	         ├─► failed      the program failed, or its value cannot be known
//	         └─► withdrawn   a person or a service took it back
//
// Which one, in the order in which the loop looks:
//
//	the Runner's return                             state
//	the Stopper's decision as the cause             censored
//	assay.ErrLimit, and the metric only grows       censored
//	assay.ErrLimit of the job, any other metric     failed
//	assay.ErrLimit of the time budget, likewise     still running: nothing was learned
//	an error while ctx is done                      still running: the next session runs it
//	Measurement.Failure: a hook that failed         failed
//	an error that matches assay.ErrSetup            still running: Run ends with the error
//	a program that does not exist or may not run    failed
//	any other error, after Retries more attempts    failed
//	an exit code other than 0                       failed
//	no value of the objective, or of a limit        failed
//	a value, and a broken limit                     infeasible
//	a value                                         done
//
// Withdrawn is an event of another writer, which a session finds when it replays the record. The loop itself
// withdraws nothing.
//
// # Race
//
// With Study.Race a single run does not decide (package race). A trial whose value would end others is run again
// first, outside the search, and its configuration then ends others with the value that it has reached twice. At the
// end the leading configurations are run again in turn, until the best is known or the rest of the budget is reserved
// for the comparison with the first. The searcher gets none of these runs; they are events Checked with the mark
// Race, so that a resumed session makes the missing ones.
//
// A configuration that fails in a repeated run is not the best any more, see Result.Refuted.
//
// # Time
//
// The time of a study is the time of its Clock, over all sessions: a session begins with the time spent on record.
// Result.Overhead and the patience with a store are in real time with any clock.
package study
