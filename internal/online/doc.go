// Package online tunes an SPMD program while it runs, as Active Harmony does (Tabatabaee, Tiwari and Hollingsworth
// 2005).
//
//	Session   hands configurations out to ranks and takes their times back
//	  think   the goroutine that owns the searcher
//	  write   the goroutine that appends to the record, many events at a time
//
// A rank never waits for the searcher or for the record.
//
// # The caller's loop
//
// The server opens a session of a study that exists in a store, and closes it at the end. Each process of the program
// joins it once; around each of its iterations it fetches a configuration and reports the time of the iteration:
//
//	session, err := online.Open(ctx, options)
//	err = session.Join(rank, instance)
//	for each iteration {
//		turn, err := session.Fetch(instance)          // ErrOver: go on with the last one
//		... run the iteration with turn.Config ...
//		used, err := session.Report(instance, turn.ID, seconds, "")
//	}
//	err = session.Close()
//
// Package rest does this at a distance.
//
// # From a report to the record
//
// A report is a sample of a point, a proposal that is being tried. With its last sample a point becomes a trial: the
// estimate of its samples is the value. think passes it to the searcher, and asks for one proposal for each rank
// without one. The record has Asked for each proposal and Told for each trial, as in package study, and Ended when a
// search begins anew or the session ends. Samples of an incomplete point are not recorded: after a restart of the
// server they are taken again.
//
// # Failures
//
//   - A rank that is silent for the deadline is given up. Its sample is taken by another rank; a late report counts if
//     the sample is still wanted.
//   - A rank that cannot run a configuration reports it, and the trial has failed.
//   - A searcher or a store that fails ends the search. The program continues with the best configuration so far, and
//     Close and Status return the reason.
package online
