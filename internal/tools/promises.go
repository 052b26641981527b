package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// file is where the table is written, from the root of the repository.
const file = "docs/promises.md"

// promised runs the tests that hold the promises of assay, and writes docs/promises.md with their counts.
// `make promises` calls it. With breaks as its first argument it breaks a line of code of each promise, or of the ones
// that are named behind it, and runs the tests that are to see that: `make breaks`. With ASSAY_SOAK=1 the tests take
// their long form, and their counts are kept in soak.json beside this file, from where the page has them.
func promised(only []string) {
	if len(only) > 0 && only[0] == "breaks" {
		missed, err := breakAll(only[1:])
		must(err)
		if missed > 0 {
			fmt.Fprintf(os.Stderr, "%d lines are held by no test of their promise\n", missed)
			os.Exit(1)
		}
		return
	}
	results := map[string]result{}
	broken := 0
	for _, p := range promises {
		if len(only) > 0 && !slices.Contains(only, p.id) {
			continue
		}
		r := try(p)
		tryControls(p, &r)
		results[p.id] = r
		fmt.Fprintf(os.Stderr, "%-4s %s\n", p.id, r)
		if len(r.failed) > 0 || r.passed == 0 {
			broken++
		}
		if os.Getenv("ASSAY_SOAK") != "" {
			must(keepLong(p.id, r))
		}
	}
	if len(only) == 0 && os.Getenv("ASSAY_SOAK") == "" {
		long, err := readLong()
		must(err)
		must(os.WriteFile(file, page(results, long), 0o644))
	}
	if broken > 0 {
		fmt.Fprintf(os.Stderr, "%d promises are not held\n", broken)
		os.Exit(1)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A result is the result of the tests of a promise.
type result struct {
	passed  int
	held    int // controls that failed as they must
	failed  []string
	skipped []string
	counts  []string
}

// String returns it for a person.
func (r result) String() string {
	s := fmt.Sprintf("%d passed", r.passed)
	switch {
	case r.held == 1:
		s += ", 1 control held"
	case r.held > 1:
		s += fmt.Sprintf(", %d controls held", r.held)
	}
	if len(r.failed) > 0 {
		s += ", FAILED: " + strings.Join(r.failed, ", ")
	}
	if len(r.skipped) > 0 {
		s += ", skipped: " + strings.Join(r.skipped, ", ")
	}
	return s
}

// try runs the tests of a promise, without the controls that stand beside them.
func try(p promise) result {
	var r result
	for _, c := range p.checks {
		r.run(c, "-skip", "Control$")
	}
	return r
}

// tryControls runs the controls of a promise that are tests of their own. Some are of several promises, and run once.
func tryControls(p promise, r *result) {
	for _, c := range p.controls {
		if c.run = own(c, p.checks); c.run == "" {
			continue
		}
		was, ok := controlled[c]
		if !ok {
			was.run(c)
			controlled[c] = was
		}
		r.held += was.passed
		r.failed = append(r.failed, was.failed...)
		r.skipped = append(r.skipped, was.skipped...)
	}
}

// controlled holds the results of controls.
var controlled = map[check]result{}

// own returns the tests of a control that are not among the tests of the promise.
func own(c check, checks []check) string {
	return strings.Join(slices.DeleteFunc(strings.Split(c.run, "|"), func(one string) bool {
		return slices.ContainsFunc(checks, func(k check) bool {
			return k.pkg == c.pkg && !strings.HasSuffix(one, "Control") && (k.run == one ||
				regexp.MustCompile(pattern(k.run)).MatchString(strings.TrimSuffix(one, "$")))
		})
	}), "|")
}

// run runs tests, and takes in their results.
func (r *result) run(c check, more ...string) {
	args := append([]string{"test", "-json", "-count=1", "-timeout", "3h", "-run", pattern(c.run)}, more...)
	out, err := exec.Command("go", append(args, "./"+c.pkg)...).Output()
	before := r.passed + len(r.failed)
	r.read(bytes.NewReader(out))
	if err != nil && len(r.failed) == 0 || r.passed+len(r.failed) == before && len(r.skipped) == 0 {
		r.failed = append(r.failed, fmt.Sprintf("%s %s: no test ran: %v", c.pkg, c.run, err))
	}
}

// pattern has each alternative begin a test's name.
func pattern(run string) string {
	if strings.HasPrefix(run, "^") {
		return run
	}
	all := strings.Split(run, "|")
	for i, a := range all {
		name, sub, ok := strings.Cut(a, "/")
		if all[i] = "^" + name; ok {
			all[i] += "$/^" + sub + "$"
		}
	}
	return strings.Join(all, "|")
}

// said matches a line of a test's log: its place and its text.
var said = regexp.MustCompile(`^\s+[a-z0-9_]+_test\.go:\d+: (counted: )?(.*\d.*)\n$`)

// read takes in the events of go test -json.
func (r *result) read(in io.Reader) {
	logs := map[string][]string{}
	for d := json.NewDecoder(in); ; {
		var e struct{ Action, Test, Output string }
		if d.Decode(&e) != nil {
			return
		}
		if e.Test == "" {
			continue
		}
		switch e.Action {
		case "output":
			if m := said.FindStringSubmatch(e.Output); m != nil {
				if m[1] != "" {
					m[2] = "\x00" + m[2] // precedes all other lines of the test
				}
				logs[e.Test] = append(logs[e.Test], m[2])
			}
		case "pass":
			if strings.Contains(e.Test, "/") && !strings.HasPrefix(e.Test, "TestScripts/") {
				continue
			}
			r.passed++
			r.counts = append(r.counts, counted(logs[e.Test])...)
		case "fail":
			r.failed = append(r.failed, e.Test)
		case "skip":
			r.skipped = append(r.skipped, e.Test)
		}
	}
}

// counted returns the counts of a test: the line marked so, or a single line that it logged.
func counted(lines []string) []string {
	for _, l := range lines {
		if text, ok := strings.CutPrefix(l, "\x00"); ok {
			return []string{text}
		}
	}
	if len(lines) == 1 {
		return lines
	}
	return nil
}

// page is the documentation.
func page(results map[string]result, long map[string]longForm) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Promises

Each promise is held by tests that count. This page is written by the first of these commands, from %s
at commit %s; the second runs the long form of the same tests.

    make promises
    make promises-soak

The tests of one promise alone: `+"`go run ./internal/tools promises P2`"+`. Each has a control: the same test
with its protection taken away, which must fail. A test whose control passes detects nothing. `+
		`Controls run with the tests.
The counts are from the logs of this run; a test without a count counts by passing.

`, time.Now().UTC().Format(time.DateOnly), commit())
	for _, p := range promises {
		r := results[p.id]
		fmt.Fprintf(&b, "## %s. %s\n\n", p.id, p.words)
		for _, c := range p.checks {
			fmt.Fprintf(&b, "- `go test ./%s -run '%s'`\n", c.pkg, pattern(c.run))
		}
		fmt.Fprintf(&b, "- result: %s\n", r)
		for _, n := range r.counts {
			fmt.Fprintf(&b, "- counted: %s\n", n)
		}
		if l, ok := long[p.id]; ok {
			fmt.Fprintf(&b, "- long form, %s at %s: %s\n", l.Date, l.Commit, l.CameTo)
			for _, n := range l.Counts {
				fmt.Fprintf(&b, "    - %s\n", n)
			}
		}
		fmt.Fprintf(&b, "- control: %s\n", p.control)
		for _, c := range p.controls {
			fmt.Fprintf(&b, "    - `go test ./%s -run '%s'`\n", c.pkg, pattern(c.run))
		}
		if p.lacks != "" {
			fmt.Fprintf(&b, "- not tested: %s\n", p.lacks)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// commit returns the commit that is checked out.
func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err == nil {
		return strings.TrimSpace(string(out))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
