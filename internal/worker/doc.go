// Package worker makes the runs of a fleet on this machine.
//
// [Run] takes tickets and turns each into a run, by the [assay.Runner] that it is given:
//
//	Carrier.Take ─► Control.Claim ─► Runner.Run ─► spool ─► Control.Tell ─► Delivery.Done
//	                                    │  every beat: Control.Beat(so far) ─► go, stop, cancel, duplicate
//
// # Guarantees
//
//   - The outcome of a run is in the spool, a directory, before it is sent, and stays there until
//     Tell has returned nil. A worker that is killed and started again sends it then.
//   - A run continues while the server is away, up to the limit of its job. Beats and
//     outcomes are sent again after 0.1 to 2.5 s, at random, until the server answers.
//   - Runs that a killed worker has left are ended before the next worker begins.
//   - A job of an application is the command of the file of applications with values in it. Anything
//     else that a server may send, such as a command, variables or files, is refused, and nothing runs.
//   - If the machine slept, or the worker did not run for longer than a lease, the
//     measurements made meanwhile are tainted: Outcome.Why has the reason.
//
// # Ends
//
// A worker drains in four cases: [Options].Drain is closed, the server orders it, the worker had nothing to run for
// [Options].Idle, or [Options].Until is near. It then takes nothing more and returns when nothing runs. When its
// context ends, or the server evicts it, its runs are ended and their outcomes are sent, or left in the spool if no
// server answers.
package worker
