// Package postgres keeps studies in a PostgreSQL database ([Open]), for several servers that share it.
//
// The tables are those of package store/sqlite, in a schema of their own, with the same records, checksums and hashes;
// docs/format/store.md describes them. An Append is one statement: it moves the head of the study from where the caller
// believes it to be, and writes events and rows only if it was there. So no lock has to be right for a record to be
// whole, and a call whose answer was lost is made again: the store does that by itself when the server restarts or a
// connection breaks.
package postgres
