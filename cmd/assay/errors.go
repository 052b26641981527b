package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/store"
)

// Exit codes. 130 and 143 say that SIGINT or SIGTERM ended a study whose state
// is saved.
const (
	codeFailure  = 1
	codeUsage    = 2
	codeNoResult = 3  // every trial failed or is infeasible
	codeIO       = 74 // EX_IOERR: the disk of the store is full or failing
)

// usageError is a mistake on the command line or in a file: nothing was started
// or written.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitError ends the program with a code; its text has been printed.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exitCode returns the exit code of an error.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return codeUsage
	}
	if _, ok := errors.AsType[*config.Error](err); ok {
		return codeUsage
	}
	switch {
	case errors.Is(err, assay.ErrEmpty), errors.Is(err, store.ErrName), errors.Is(err, store.ErrFileSystem), errors.Is(err, store.ErrForeign), errors.Is(err, store.ErrNewer):
		return codeUsage
	case errors.Is(err, store.ErrIO), errors.Is(err, store.ErrBroken):
		return codeIO
	case strings.HasPrefix(err.Error(), "unknown command"), strings.HasPrefix(err.Error(), "unknown flag"):
		return codeUsage
	}
	return codeFailure
}

// interruptCode returns the exit code after a signal: 128 + its number.
func interruptCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 128 + int(syscall.SIGINT)
}

// packages matches the names of packages that begin an error's text or a part of
// it: people know nothing of packages.
var packages = regexp.MustCompile(`(^|: )((assay|config|store|run|search|expr|study|bench|workflow|model|stats|rest|workbench|link|rfs): )+`)

// forPeople returns an error's text without the names of packages.
func forPeople(err error) string { return packages.ReplaceAllString(err.Error(), "$1") }

// interrupted says how to go on with a study, and returns the error of the signal.
func interrupted(w io.Writer, s os.Signal) error {
	fmt.Fprintf(w, "interrupted; nothing that was measured is lost. Resume with:\n  %s\n", resumeCommand(commandLine()))
	return &exitError{interruptCode(s)}
}
