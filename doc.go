// Package assay finds the best way to run an expensive program by running it
// as little as possible.
//
// A [Searcher] proposes a [Config]; a [Runner] runs it and measures it from
// outside; a [Learner] fits a [Predictor] to the trials so far; a [Stopper]
// and the Searcher decide from that what to do next. A [Store] keeps every
// step as an [Event], so that a study is resumed by replaying it. This package
// holds the vocabulary and those contracts. It imports only the standard
// library and does no I/O.
//
//	Space, Param, Relation    which configurations there are
//	Proposal, Job             one that is to be run, and its run, as data
//	Measurement, Goal         what was seen of the run, and what it is worth
//	Trial, State              a proposal and what became of it
//	Event, Store, Projector   the record, and what it adds up to
//
// Whoever implements a contract finds its rules in the comment of the interface, and
// a conformance suite for it in package assaytest. An ability that not every
// implementation has is an interface of its own; [As] finds those of a Searcher. What
// runs a study with all of this is package study.
//
// Values are minimized everywhere: [Goal.Value] changes the sign of a metric that is
// maximized, and [Goal.Show] changes it back for people. All quantities are in base
// units: seconds, bytes, joules, watts.
package assay
