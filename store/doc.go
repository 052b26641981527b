// Package store has what every store of studies is made of, and one in memory ([NewMem]).
//
// The events of a study are the truth: [EncodeEvent] writes them, and each carries a checksum and a hash that depends
// on all events before it ([NewRecord], [Verifier]). The states of the trials and the summary are a projection of them,
// and [Project] alone knows what events mean to it. The bytes are described in docs/format/store.md.
//
// The package does not look into what it keeps: whether a trial was asked before it was told is for the study to say.
package store
