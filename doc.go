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
// The conformance suites of the contracts are in the package assaytest.
package assay
