// This file has the names that studies can have, and the errors that every store makes in the same way.

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/assay-run/assay"
)

// The errors that callers branch on, in any store. A study that does not exist matches fs.ErrNotExist, one that does
// fs.ErrExist, and a store that was closed fs.ErrClosed.
var (
	// ErrDamaged reports that a store does not hold the data that was written.
	ErrDamaged = errors.New("file is damaged")
	// ErrName reports that a study cannot have that name.
	ErrName = assay.Errorf(assay.ClassUsage, "invalid study name")
)

// maxName is the length of the longest study name in bytes. It is part of the format; see docs/format/store.md.
const maxName = 1024

// CheckName returns an error that matches [ErrName] unless name is 1 to 1024 bytes of valid UTF-8 without NUL. Any
// other text is a name, a line break and a slash too: no store makes a file name of it as it is.
func CheckName(name string) error {
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

// NotExist reports that no such study exists. The error matches fs.ErrNotExist. op is a verb, such as "read".
func NotExist(op, study string) error {
	return &fs.PathError{Op: op + " study", Path: study, Err: fs.ErrNotExist}
}

// Exists reports that a study of that name exists. The error matches fs.ErrExist.
func Exists(study string) error {
	return &fs.PathError{Op: "create study", Path: study, Err: fs.ErrExist}
}

// Conflict reports that at is not the end of the record. The error matches [assay.ErrConflict]; end is the end of the
// record.
func Conflict(study string, at, end assay.Position) error {
	return fmt.Errorf("study %q: %w: it has %d events, not %d", study, assay.ErrConflict, end, at)
}
