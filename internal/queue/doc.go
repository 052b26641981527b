// Package queue runs the trials of studies on other machines.
//
// A [Fleet] is the server's side. To the loop of a study it is an [assay.Runner] (see [Runner]); to workers it is a
// [Control]. A [Carrier] stands between them:
//
//	Searcher.Ask ─► loop ─► Runner.Run(job)            the run is open
//	                         │ Carrier.Offer          a ticket: room for one run of an application
//	                         ▼
//	worker ── Carrier.Take ── Control.Claim ─► the open run that comes first; event Started
//	   │  every beat: Control.Beat(measurement so far) ─► observe ─► go, stop, cancel, duplicate
//	   └  the end:    Control.Tell(outcome) ─► event Booked ─► Run returns ─► event Told
//
// The record of the study is authoritative, a carrier is not: it may lose, repeat, delay and reorder tickets, and a
// ticket names no run. The run is chosen when the ticket is claimed, so that priorities and withdrawals take effect up
// to the last moment.
//
// # Attempts
//
// An [assay.RunID] names an attempt, and its Attempt is a fencing token: the greater one is newer. An attempt is open,
// then placed at a worker, then booked. The Fleet writes Started before it answers a claim and Booked before it answers
// an outcome, so that:
//
//   - an attempt is on record before its worker runs it;
//   - an outcome is on record before the worker forgets it;
//   - the first outcome of a run counts, and each further one is booked as extra.
//
// A restarted server feeds the record to [Fleet.Join]. Run of a booked attempt returns its measurement; Run of a placed
// attempt attaches to it, and its worker has a whole lease to send a beat. An attempt without a beat for a lease is
// booked as lost: Run returns [assay.ErrLost], and the loop begins the next attempt.
//
// An attempt that was cancelled, or given up for another, does not count against the attempts of the loop: the Fleet
// begins the next number itself.
//
// If two attempts at one run are both alive, the one that has run longer continues, unless its machine was suspended
// meanwhile: such a measurement is tainted.
package queue
