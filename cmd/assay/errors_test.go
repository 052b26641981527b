package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/assay-run/assay/store"
)

func TestForPeople(t *testing.T) {
	missing := func(op, path string) error { return &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist} }
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"packages", errors.New("costmodel: store: no attribute \"m\""), `no attribute "m"`},
		{"a package within", errors.New("--at m=3: costmodel: no attribute"), "--at m=3: no attribute"},
		{"no package", errors.New("restore: it failed"), "restore: it failed"},
		{"system call", missing("open", "runs.csv"), "runs.csv: file does not exist"},
		{"system call within", fmt.Errorf("workbench: data set: %w", missing("lstat", "x")), "data set: x: file does not exist"},
		{"a disk, said twice", fmt.Errorf("%w: %w: full", store.ErrIO, store.ErrIO), "the disk is full or failing: full"},
		{"no path", missing("stat", ""), `"": file does not exist`},
	} {
		if got := forPeople(c.err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFlagMistake(t *testing.T) {
	for _, c := range [][2]string{
		{`invalid argument "x" for "--trials" flag: strconv.ParseInt: parsing "x": invalid syntax`, "--trials x: not a whole number"},
		{`invalid argument "x" for "-j, --jobs" flag: strconv.ParseInt: parsing "x": invalid syntax`, "--jobs x: not a whole number"},
		{`invalid argument "-1" for "--seed" flag: strconv.ParseUint: parsing "-1": invalid syntax`, "--seed -1: not a whole number from 0"},
		{`invalid argument "a\"b" for "--budget" flag: strconv.ParseFloat: parsing "a\"b": invalid syntax`, `--budget a\"b: not a number`},
		{`invalid argument "x" for "--json" flag: strconv.ParseBool: parsing "x": invalid syntax`, "--json x: neither true nor false"},
		{`invalid argument "x" for "--delay" flag: time: invalid duration "x"`, "--delay x: not a duration such as 90s, 10m or 2h"},
		{`invalid argument "x" for "--new" flag: some other words`, "--new x: some other words"},
		{`unknown flag: --wrong`, "unknown flag: --wrong"},
	} {
		if got := flagMistake(errors.New(c[0])); got != c[1] {
			t.Errorf("got %q, want %q", got, c[1])
		}
	}
}

// A store that may not be written is a mistake of the command line; a disk that is
// full or fails is not.
func TestUnopened(t *testing.T) {
	within := func(err error) error {
		return fmt.Errorf("%w: %w", store.ErrIO, &fs.PathError{Op: "mkdir", Path: "/closed/locks", Err: err})
	}
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{within(syscall.EACCES), codeUsage, "the store cannot be opened: /closed/locks: permission denied (--store PATH puts it elsewhere)"},
		{within(syscall.EROFS), codeUsage, "the store cannot be opened: /closed/locks: read-only file system (--store PATH puts it elsewhere)"},
		{within(syscall.ENOSPC), codeIO, "the disk is full or failing: /closed/locks: no space left on device"},
		{within(syscall.EIO), codeIO, "the disk is full or failing: /closed/locks: input/output error"},
	} {
		err := unopened(c.err)
		if code := exitCode(err); code != c.code {
			t.Errorf("%v: exit code %d, want %d", c.err, code, c.code)
		}
		if got := forPeople(err); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestShowChange(t *testing.T) {
	bounds := func(lo, hi float64) [2]*float64 { return [2]*float64{&lo, &hi} }
	for _, c := range []struct {
		g    gain
		want string
	}{
		{gain{Change: -0.351, CI95: bounds(-0.456, -0.205), Verdict: "less"}, "35.1 % [20.5, 45.6]"},
		{gain{Change: 12.345, CI95: bounds(10, 15432), Verdict: "more"}, "1230 % [1000, 1540000]"},
		{gain{Change: 0.03, CI95: bounds(-0.9, 6.23), Verdict: "~"}, "+3 % [-90, +620]"},
		{gain{Change: -0.0921, Verdict: "~"}, "-9.2 %"},
		{gain{Change: 0, CI95: bounds(0, 0), Verdict: "~"}, "+0 % [+0, +0]"},
	} {
		if got := showChange(&c.g); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
