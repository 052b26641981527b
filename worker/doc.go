// Package worker makes the runs of a fleet on this machine.
//
// [Run] takes tickets and turns each into a run, by the [assay.Runner] that it is given:
//
//	Carrier.Take ─► Control.Claim ─► Runner.Run ─► spool ─► Control.Tell ─► Delivery.Done
//	                                   │  every beat: Control.Beat(so far) ─► go, stop, cancel, duplicate
//
// # What is promised
//
//   - The outcome of a run is in the spool, a directory, before it is told, and stays there until
//     Tell has returned nil. A worker that is killed and started again tells it then.
//   - A run goes on while the server is away, as long as the limit of its job allows. Beats and
//     outcomes are sent again after 0.1 to 2.5 s, at random, until the server answers.
//   - What a worker that was killed has left running is ended before the next one begins.
//   - A job of an application is the command of the file of applications with values in it. What
//     else a server may send, such as a command, variables or files, is refused, and nothing runs.
//   - A machine that slept, or a worker that did not run for longer than a lease, taints the
//     measurements that were made meanwhile: Outcome.Why says so.
//
// # Ends
//
// A worker drains when [Options].Drain is closed, when the server says so, when it had nothing to run for
// [Options].Idle, or shortly before [Options].Until: it takes nothing more and returns when nothing runs. When its
// context ends, or the server evicts it, what runs is ended, told as such and left in the spool if nobody listens.
package worker
