// Package store keeps studies: in memory ([NewMem]) and in one SQLite file
// ([OpenSQLite]).
//
// The events of a study are the truth. The states of its trials and the
// [Summary] are a projection of them, written in the same transaction, checked
// by [SQLite.Fsck] and rewritten by its repair. Every event carries a checksum
// and a hash that depends on all events before it, and both are verified
// whenever events are read: a damaged file gives an error that matches
// [ErrDamaged], never a wrong event. [Salvage] copies what is left of a damaged
// file into a new one.
//
// A nil error from Append of the SQLite store means that the events are on the
// disk: they survive kill -9 and a power cut. The bytes are described in
// docs/format/store.md.
//
// The package does not look into what it keeps: whether a trial was asked
// before it was told is for the study to say.
package store
