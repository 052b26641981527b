// Package sqlite keeps studies in one SQLite file ([Open]).
//
// The events of a study are the truth. The states of its trials and the summary are a projection of them (see package
// store), written in the same transaction, checked by [Store.Fsck] and rewritten by its repair. The checksum and the
// hash of every event are verified whenever events are read: a damaged file gives an error that matches [ErrDamaged],
// never a wrong event. [Salvage] copies the intact events of a damaged file into a new one.
//
// A nil error from Append means that the events are on the disk: they survive kill -9 and a power cut. The bytes are
// described in docs/format/store.md.
package sqlite
