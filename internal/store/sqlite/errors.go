// This file has the errors that callers branch on, and the way from a result code of SQLite to one of them.

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The errors that callers branch on. A study that does not exist matches fs.ErrNotExist, one that does fs.ErrExist,
// and a store that was closed fs.ErrClosed.
var (
	// ErrIO reports that the disk is full or failing. The outcome of the call is unknown: the same Append at the same
	// position finds it.
	ErrIO = assay.Errorf(assay.ClassIO, "the disk is full or failing")
	// ErrBroken reports that an earlier write failed and that the file cannot be opened again, so that the content of
	// the disk is unknown. It comes with both errors. Every call tries again.
	ErrBroken = assay.Errorf(assay.ClassIO, "an earlier write failed, and the store cannot be opened again")
	// ErrDamaged reports that the file does not hold the data that was written.
	ErrDamaged = store.ErrDamaged
	// ErrNewer reports that the file was written by a newer version.
	ErrNewer = assay.Errorf(assay.ClassUsage, "file was written by a newer version")
	// ErrForeign reports that the file is not a store.
	ErrForeign = assay.Errorf(assay.ClassUsage, "file is not a store")
	// ErrFileSystem reports that the file system cannot hold a store safely.
	ErrFileSystem = assay.Errorf(assay.ClassUsage, "unsafe file system")
	// ErrBusy reports that other processes kept the file for longer than [Options.Wait].
	ErrBusy = assay.Errorf(assay.ClassUnavailable, "file is in use by other processes")
)

// classify wraps an error of the driver in the sentinel of its class. nil stays nil, and an error of no class stays as
// it is. The low byte of an extended result code is the primary code (https://sqlite.org/rescode.html), and the class
// follows from that alone.
//
// SQLITE_CANTOPEN and SQLITE_READONLY count as [ErrIO]: Open has seen the file, so it is the
// disk, its mount or the rights of the file that stand in the way.
func classify(err error) error {
	if errors.Is(err, ErrIO) || errors.Is(err, ErrDamaged) || errors.Is(err, ErrBusy) {
		// The same sentinel twice in one text would be of no use.
		return err // it has been classified
	}
	if e, ok := errors.AsType[*driver.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
			return fmt.Errorf("%w: %w", ErrIO, err)
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("%w: %w", ErrBusy, err)
		}
	}
	return err
}

// isBusy reports whether err means that another connection holds a lock. It looks at the driver's error itself,
// before or after classify; nil is not busy.
func isBusy(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_BUSY || e.Code()&0xff == sqlite3.SQLITE_LOCKED)
}

// scanError returns err, in the class [ErrDamaged] if it comes from a value that its column cannot have, rather than
// from SQLite. Three kinds of errors stay as they are:
//   - nil, no row, and the end of a context
//   - an error of the driver, which classify puts in its class
//   - one that is damage already
//
// Any other comes from the conversion of a column or from the text in it.
func scanError(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*driver.Error](err); ok || errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
