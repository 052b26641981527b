package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// mistaken returns an error of the operating system about a path that the command
// line names as a mistake of the user, if it is one: nothing is there, it is of the
// wrong kind, or it may not be read. Any other error is returned as it is.
func mistaken(err error) error {
	for _, is := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.EISDIR} {
		if errors.Is(err, is) {
			return inputError(err)
		}
	}
	return err
}

// unopened returns the error of opening a store: one that is where this user may
// not write is no failing disk, and another place can be named.
func unopened(err error) error {
	pe, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return usagef("the store cannot be opened: %s: %w (--store PATH puts it elsewhere)", pe.Path, pe.Err)
}

// noStudy returns the error of a command that looks at a study: what to say where
// there is none of that name.
func noStudy(err error, name string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("no study %q (see assay study ls)", name)
	}
	return err
}

// packages matches the names of packages that begin an error's text or a part of
// it: people know nothing of packages.
var packages = regexp.MustCompile(`(^|: )((assay|config|store|run|search|stop|prune|costmodel|expr|study|bench|workflow|model|stats|doe|rest|workbench|link|rfs): )+`)

// forPeople returns an error's text without the names of packages and of system
// calls: "runs.csv: no such file or directory".
func forPeople(err error) string {
	text := packages.ReplaceAllString(err.Error(), "$1")
	failing := strings.TrimPrefix(store.ErrIO.Error(), "store: ") + ": "
	text = strings.Replace(text, failing+failing, failing, 1)
	pe, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return text
	}
	path := pe.Path
	if path == "" {
		path = `""`
	}
	return strings.Replace(text, pe.Error(), path+": "+pe.Err.Error(), 1)
}

// badValue matches what the flag package says of a value that it cannot read.
var badValue = regexp.MustCompile(`^invalid argument "(.*)" for "(?:-\w, )?(--[\w-]+)" flag: (?s:(.*))$`)

// flagMistake returns what is wrong with a flag: the flag, its value, and what it
// has to be.
func flagMistake(err error) string {
	m := badValue.FindStringSubmatch(err.Error())
	if m == nil {
		return err.Error()
	}
	for _, kind := range []struct{ says, want string }{
		{"time: ", "not a duration such as 90s, 10m or 2h"},
		{"strconv.ParseInt: ", "not a whole number"},
		{"strconv.ParseUint: ", "not a whole number from 0"},
		{"strconv.ParseFloat: ", "not a number"},
		{"strconv.ParseBool: ", "neither true nor false"},
	} {
		if strings.HasPrefix(m[3], kind.says) {
			return fmt.Sprintf("%s %s: %s", m[2], m[1], kind.want)
		}
	}
	return fmt.Sprintf("%s %s: %s", m[2], m[1], m[3])
}

// interrupted says how to go on with a study, and returns the error of the signal.
func interrupted(w io.Writer, s os.Signal) error {
	fmt.Fprintf(w, "interrupted; nothing that was measured is lost. Resume with:\n  %s\n", resumeCommand(commandLine()))
	return &exitError{interruptCode(s)}
}
