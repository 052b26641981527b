package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/assay-run/assay"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What callers branch on. A study that does not exist matches fs.ErrNotExist,
// one that does fs.ErrExist, and a store that was closed fs.ErrClosed.
var (
	// ErrIO says that the disk is full or failing. The outcome of the call is
	// unknown: the same Append at the same position tells.
	ErrIO = assay.Errorf(assay.ClassIO, "the disk is full or failing")
	// ErrBroken says that an earlier write failed and that the file cannot be
	// opened again, so that nobody knows what is on the disk. It comes with both
	// errors. Every call tries again.
	ErrBroken = assay.Errorf(assay.ClassIO, "an earlier write failed, and the store cannot be opened again")
	// ErrDamaged says that the file does not hold what was written.
	ErrDamaged = errors.New("file is damaged")
	// ErrNewer says that the file was written by a newer version.
	ErrNewer = assay.Errorf(assay.ClassUsage, "file was written by a newer version")
	// ErrForeign says that the file is not a store.
	ErrForeign = assay.Errorf(assay.ClassUsage, "file is not a store")
	// ErrFileSystem says that the file system cannot hold a store safely.
	ErrFileSystem = assay.Errorf(assay.ClassUsage, "unsafe file system")
	// ErrBusy says that other processes kept the file for longer than
	// [Options.Wait].
	ErrBusy = assay.Errorf(assay.ClassUnavailable, "file is in use by other processes")
	// ErrName says that a study cannot have that name.
	ErrName = assay.Errorf(assay.ClassUsage, "invalid study name")
)

// maxName is the length of the longest study name in bytes.
const maxName = 1024

// checkName returns an error that matches [ErrName] unless name is 1 to 1024
// bytes of valid UTF-8 without NUL.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case len(name) > maxName:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrName, len(name), maxName)
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return fmt.Errorf("%w: %q is not text", ErrName, name)
	}
	return nil
}

func notExist(op, study string) error {
	return &fs.PathError{Op: op + " study", Path: study, Err: fs.ErrNotExist}
}

func exists(study string) error {
	return &fs.PathError{Op: "create study", Path: study, Err: fs.ErrExist}
}

// classify wraps an error of the driver in the sentinel of its class.
func classify(err error) error {
	if errors.Is(err, ErrIO) || errors.Is(err, ErrDamaged) || errors.Is(err, ErrBusy) {
		return err // it has been classified
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
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

// isBusy reports whether err says that another connection holds a lock.
func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_BUSY || e.Code()&0xff == sqlite3.SQLITE_LOCKED)
}
