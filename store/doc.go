// Package store has the common parts of every store of studies, and one in memory ([NewMem]).
//
// The events of a study are the truth: [EncodeEvent] writes them, and each carries a checksum and a hash that depends
// on all events before it ([NewRecord], [Verifier]). The states of the trials and the summary are a projection of
// them, and [Project] alone defines the meaning of events for it. The bytes are described in docs/format/store.md.
//
// The package does not check the order of events: that a trial was asked before its result is the study's
// responsibility.
package store
