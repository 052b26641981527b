package assay

import (
	"errors"
	"fmt"
	"io/fs"
)

// A Class classifies an error for the code that handles it: a command line derives its exit code from it, a service its
// status, a loop whether another attempt may help. The text of an error is only for people and is never read back.
type Class uint8

const (
	// ClassUnknown is the class of an unclassified error.
	ClassUnknown Class = iota
	// ClassUsage is a mistake in the request of a user. Nothing was started or written.
	ClassUsage
	// ClassNotFound means that the named object does not exist.
	ClassNotFound
	// ClassConflict means that the request does not fit the current state: the name is taken, or another process has
	// written to the record.
	ClassConflict
	// ClassLocked means that another process holds the lock.
	ClassLocked
	// ClassUnavailable means that there was no answer in time. The same call may succeed later.
	ClassUnavailable
	// ClassIO means that a disk is full or failing.
	ClassIO
	// ClassLost means that the outcome of a run will never be known.
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

// classified is an error with a class, a hint or both. A zero class and an empty hint leave the values of err
// unchanged. The text is the text of err, without class and hint.
type classified struct {
	class Class
	hint  string
	err   error
}

func (e *classified) Error() string { return e.err.Error() }
func (e *classified) Unwrap() error { return e.err }

// Errorf returns an error of a class. The format is as in [fmt.Errorf], %w included. The error matches only itself,
// so that it can be a sentinel.
func Errorf(class Class, format string, args ...any) error {
	return &classified{class: class, err: fmt.Errorf(format, args...)}
}

// WithClass returns err in a class, in place of its earlier class; nil for nil.
func WithClass(class Class, err error) error {
	if err == nil {
		return nil
	}
	return &classified{class: class, err: err}
}

// WithHint returns err with a hint for people on how to resolve it, in place of an earlier hint; nil for nil. The hint
// is not part of the text of the error.
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

// HintOf returns the hint for people on how to resolve an error, or "".
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

// walk calls visit with every error of a tree, outer ones first, until visit returns true. It reports whether visit
// did. Joined errors are visited in order, each with its wrapped errors, in the order of [errors.As].
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
