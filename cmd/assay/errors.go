package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/expr"
	"github.com/assay-run/assay/internal/store/sqlite"
)

// Exit codes. 130 and 143 mean that SIGINT or SIGTERM ended a study whose state is saved.
const (
	codeFailure  = 1
	codeUsage    = 2
	codeNoResult = 3  // every trial failed or is infeasible
	codeSlower   = 4  // compare --fail-if: a command is slower than the limit
	codeUnknown  = 5  // compare --fail-if: undecided within the budget
	codeIO       = 74 // EX_IOERR: the disk of the store is full or failing
)

// usagef returns an error of the class of mistakes on the command line or in a
// file: nothing was started or written.
func usagef(format string, args ...any) error { return assay.Errorf(assay.ClassUsage, format, args...) }

// usageError returns err as a mistake of the user.
func usageError(err error) error { return assay.WithClass(assay.ClassUsage, err) }

// exitError ends the program with a code; its text has been printed.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exitCode returns the exit code of an error.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	switch assay.ClassOf(err) {
	case assay.ClassUsage:
		return codeUsage
	case assay.ClassIO:
		return codeIO
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

// taken returns the error of opening a study: a name that is taken is a mistake of the
// user.
func taken(err error) error {
	if assay.ClassOf(err) == assay.ClassConflict {
		return usageError(err)
	}
	return err
}

// noStudy returns the error of a command that reads a study: a usage error with a hint if no study has that name.
func noStudy(err error, name string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("no study %q (see assay study ls)", name)
	}
	return err
}

// forPeople returns an error's text without the names of system calls,
// "runs.csv: no such file or directory", and with its hint.
func forPeople(err error) string {
	text := err.Error()
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		text = strings.Replace(text, pe.Error(), cmp.Or(pe.Path, `""`)+": "+pe.Err.Error(), 1)
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		text = strings.Replace(text, sqlite.ErrIO.Error()+": ", "", 1) // it is not the disk
	}
	if hint := assay.HintOf(err); hint != "" {
		text += " (" + hint + ")"
	}
	return text
}

// flagMistake describes the fault of a flag: the flag, its value, and the expected form. For an unknown flag it names
// the nearest of fl.
func flagMistake(fl *pflag.FlagSet, err error) string {
	if no, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		fl.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := expr.Nearest(no.GetSpecifiedName(), names); near != "" {
			return err.Error() + " (did you mean --" + near + "?)"
		}
	}
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err.Error()
	}
	f := bad.GetFlag()
	want := ""
	switch f.Value.Type() {
	case "duration":
		want = "not a duration such as 90s, 10m or 2h"
	case "int":
		want = "not a whole number"
	case "uint64":
		want = "not a whole number from 0"
	case "float64":
		want = "not a number"
	case "bool":
		want = "neither true nor false"
	default:
		want = bad.Unwrap().Error()
	}
	return fmt.Sprintf("--%s %s: %s", f.Name, bad.GetValue(), want)
}

// interrupted prints how to resume a study, and returns the error of the signal.
func interrupted(w io.Writer, s os.Signal) error {
	fmt.Fprintf(w, "interrupted; nothing that was measured is lost. Resume with:\n  %s\n", resumeCommand(commandLine()))
	return &exitError{interruptCode(s)}
}

// detached prints how to resume a study whose jobs go on, and returns the error of the signal, if one came.
func detached(w io.Writer, s os.Signal) error {
	fmt.Fprintf(w, "detached: the jobs go on. This attaches to them:\n  %s\n", resumeCommand(commandLine()))
	if s == nil {
		return nil
	}
	return &exitError{interruptCode(s)}
}
