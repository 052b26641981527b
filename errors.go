package assay

import (
	"errors"
	"fmt"
	"io/fs"
)

// A Class says what an error means to whoever has to go on after it: a command
// line derives its exit code from it, a service its status, a loop whether
// another attempt may help. The text of an error is for people alone and is
// never read back.
type Class uint8

const (
	// ClassUnknown is the class of an error that nobody has classified.
	ClassUnknown Class = iota
	// ClassUsage is a mistake in what a user asked for. Nothing was started or
	// written.
	ClassUsage
	// ClassNotFound says that what was named does not exist.
	ClassNotFound
	// ClassConflict says that what was asked for no longer fits what there is:
	// a name that is taken, a record that somebody else has written to.
	ClassConflict
	// ClassLocked says that somebody else is at it.
	ClassLocked
	// ClassUnavailable says that something did not answer in time. The same call
	// may succeed later.
	ClassUnavailable
	// ClassIO says that a disk is full or failing.
	ClassIO
	// ClassLost says that the outcome of a run will never be known.
	ClassLost
)

var classNames = [...]string{"unknown", "usage", "not-found", "conflict", "locked", "unavailable", "io", "lost"}

// String returns the name of the class as programs read it.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("Class(%d)", uint8(c))
}

// classified is an error with a class, a hint or both. A zero class and an empty hint
// leave those of err as they are. The text is that of err: neither can be told from it.
type classified struct {
	class Class
	hint  string
	err   error
}

func (e *classified) Error() string { return e.err.Error() }
func (e *classified) Unwrap() error { return e.err }

// Errorf returns an error of a class. The format is that of [fmt.Errorf], %w
// included. The error matches itself alone, so that it can be a sentinel.
func Errorf(class Class, format string, args ...any) error {
	return &classified{class: class, err: fmt.Errorf(format, args...)}
}

// WithClass returns err in a class, whatever class it had; nil for nil.
func WithClass(class Class, err error) error {
	if err == nil {
		return nil
	}
	return &classified{class: class, err: err}
}

// WithHint returns err with what a person can do about it, in place of an
// earlier hint; nil for nil. The hint is no part of the text of the error.
func WithHint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &classified{hint: hint, err: err}
}

// ClassOf returns the class of an error: the outermost that was given to it or
// to an error that it wraps, or that an error type of its own returns from a
// method Class. An error of the file system has one without being given any. It returns ClassUnknown for nil.
func ClassOf(err error) Class {
	if class := findClass(err); class != ClassUnknown {
		return class
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ClassNotFound
	case errors.Is(err, fs.ErrExist):
		return ClassConflict
	}
	return ClassUnknown
}

// findClass returns the outermost class that was given, or ClassUnknown.
func findClass(err error) Class {
	found := ClassUnknown
	walk(err, func(e error) bool {
		switch e := e.(type) { // walk unwraps
		case *classified:
			found = e.class
		case interface{ Class() Class }:
			found = e.Class()
		}
		return found != ClassUnknown
	})
	return found
}

// HintOf returns what a person can do about an error, or "".
func HintOf(err error) string {
	found := ""
	walk(err, func(e error) bool {
		if c, ok := e.(*classified); ok { // walk unwraps
			found = c.hint
		}
		return found != ""
	})
	return found
}

// walk calls visit with every error of a tree, outer ones first, until visit
// returns true. It reports whether visit did. Of joined errors, the first comes
// first, with all that it wraps: the order is that of [errors.As].
func walk(err error, visit func(error) bool) bool {
	if err != nil && visit(err) {
		return true
	}
	switch u := err.(type) { // the tree is walked here
	case interface{ Unwrap() error }:
		return walk(u.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, e := range u.Unwrap() {
			if walk(e, visit) {
				return true
			}
		}
	}
	return false
}
