// Package postgres keeps studies in a PostgreSQL database ([Open]), for several servers that share it.
//
// The tables are the same as in package internal/store/sqlite, in their own schema, with the same records, checksums
// and hashes; docs/format/store.md describes them. An Append is one statement: it moves the head of the study from the
// position that the caller expects, and writes events and rows only if it was there. So a record stays whole without
// any lock, and a call whose answer was lost is repeated: the store does that by itself when the server restarts or a
// connection breaks.
package postgres
