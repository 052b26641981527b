// Package queue runs the trials of studies on other machines.
//
// A [Fleet] is the server's side. To the loop of a study it is an [assay.Runner] (see
// [Runner]); to workers it is a [Control]. A [Carrier] stands between them:
//
//	Searcher.Ask ─► loop ─► Runner.Run(job)            the run is open
//	                            │ Carrier.Offer          a ticket: room for one run of an application
//	                            ▼
//	worker ── Carrier.Take ── Control.Claim ─► the open run that comes first; event Started
//	             │  every beat: Control.Beat(measurement so far) ─► observe ─► go, stop, cancel, duplicate
//	             └  the end:    Control.Tell(outcome) ─► event Booked ─► Run returns ─► event Told
//
// The record of the study is the truth, a carrier is not: it may lose, repeat, delay and
// reorder tickets, and a ticket names no run. Which run it becomes is decided when it is
// claimed, so that priorities and withdrawals count up to the last moment.
//
// # Attempts
//
// An [assay.RunID] names an attempt, and its Attempt is the fence: the greater one is the
// newer. An attempt is open, then placed at a worker, then booked. The Fleet writes Started
// before it answers a claim and Booked before it answers an outcome, so that:
//
//   - what a worker was told to run is on record before it runs;
//   - an outcome is on record before the worker forgets it;
//   - the first outcome of a run counts, and each further one is booked as extra.
//
// A server that starts again feeds the record to [Fleet.Join]. Run of an attempt that is
// booked returns its measurement; Run of one that is placed attaches to it, and it has a
// whole lease to be heard of. An attempt that is not heard of for a lease is booked as lost:
// Run returns [assay.ErrLost], and the loop begins the next attempt.
//
// An attempt that was cancelled, or given up for another, uses up none of the attempts of
// the loop: the Fleet begins the next number itself.
//
// Of two attempts at one run that are both alive, the one that has run longer goes on,
// unless its machine was suspended meanwhile: such a measurement is tainted.
package queue
