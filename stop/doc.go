// Package stop holds early-termination rules: each is an assay.Stopper, a pure
// function of the trials that have ended and of one that is running.
//
// A rule is only asked where the objective grows during a run, so that the
// value so far is a lower bound of the final one. [None] never stops. [Static]
// and [Incumbent] compare the value so far with a finished trial: the first
// one, or the best. [Predictive] stops a run that a regression predicts to end no
// better than the best, and [Posterior] one that is unlikely to end better. Trials
// that were stopped, failed or broke a limit of the goal are no standard to be
// compared with.
//
// [Gain] ends studies rather than runs: it is an assay.StudyStopper.
package stop
