// Package assay finds the best way to run an expensive program by running it as little as possible.
//
// A [Searcher] proposes a [Config]; a [Runner] runs it and measures it from outside; a [Learner] fits a [Predictor] to
// the trials so far; from that, a [Stopper] and the Searcher decide the next step. A [Store] keeps every step as an
// [Event], so that a study is resumed by replaying it. This package holds the vocabulary and those contracts. It
// imports only the standard library and does no I/O.
//
//	Space, Param, Relation    the admissible configurations
//	Proposal, Job             a configuration to run, and its run, as data
//	Measurement, Goal         the measurements of a run, and their value
//	Trial, State              a proposal and its outcome
//	Event, Store, Projector   the record, and its summary
//
// The rules of a contract are in the comment of its interface, and its conformance suite is in package assaytest. An
// optional ability is an interface of its own; [As] finds the abilities of a Searcher. Package study runs a study with
// all of this.
//
// Values are minimized everywhere: [Goal.Value] changes the sign of a metric that is maximized, and [Goal.Show] changes
// it back for people. All quantities are in base units: seconds, bytes, joules, watts.
package assay
