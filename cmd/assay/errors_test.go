package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"github.com/spf13/pflag"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/store/sqlite"
)

func TestForPeople(t *testing.T) {
	missing := func(op, path string) error { return &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist} }
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"words with a colon", errors.New("restore: it failed"), "restore: it failed"},
		{"a hint", fmt.Errorf("x: %w", assay.WithHint(errors.New("no"), "wait")), "x: no (wait)"},
		{"system call", missing("open", "runs.csv"), "runs.csv: file does not exist"},
		{"system call within", fmt.Errorf("data set: %w", missing("lstat", "x")), "data set: x: file does not exist"},
		{"no path", missing("stat", ""), `"": file does not exist`},
	} {
		if got := forPeople(c.err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFlagMistake(t *testing.T) {
	for _, c := range [][3]string{
		{"--trials", "x", "--trials x: not a whole number"},
		{"-j", "x", "--jobs x: not a whole number"},
		{"--seed", "-1", "--seed -1: not a whole number from 0"},
		{"--target", `a"b`, `--target a"b: not a number`},
		{"--json=x", "", "--json x: neither true nor false"},
		{"--delay", "x", "--delay x: not a duration such as 90s, 10m or 2h"},
		{"--mode", "x", "--mode x: some other words"},
		{"--wrong", "", "unknown flag: --wrong"},
		{"--trial", "", "unknown flag: --trial (did you mean --trials?)"},
		{"-x", "", "unknown shorthand flag: 'x' in -x"},
	} {
		fl := pflag.NewFlagSet("test", pflag.ContinueOnError)
		fl.Int("trials", 0, "")
		fl.IntP("jobs", "j", 0, "")
		fl.Uint64("seed", 0, "")
		fl.Float64("target", 0, "")
		fl.Bool("json", false, "")
		fl.Duration("delay", 0, "")
		fl.Func("mode", "", func(string) error { return errors.New("some other words") })
		err := fl.Parse(slices.DeleteFunc(c[:2:2], func(s string) bool { return s == "" }))
		if got := flagMistake(fl, err); got != c[2] {
			t.Errorf("got %q, want %q", got, c[2])
		}
	}
}

// A disk that is full or fails has an exit code of its own. Its message has no names of system calls.
func TestDiskErrors(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.ENOSPC: "the disk is full or failing: /closed/locks: no space left on device",
		syscall.EIO:    "the disk is full or failing: /closed/locks: input/output error",
		// It is not the disk that is short of them.
		syscall.EMFILE: "/closed/locks: too many open files",
	} {
		err := fmt.Errorf("%w: %w", sqlite.ErrIO, &fs.PathError{Op: "mkdir", Path: "/closed/locks", Err: errno})
		if code := exitCode(err); code != codeIO {
			t.Errorf("%v: exit code %d, want %d", err, code, codeIO)
		}
		if got := forPeople(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
