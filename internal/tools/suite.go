package main

// The suite runs go test and prints a line for each package, the output of each test that failed, the slowest packages,
// and how many tests were skipped for lack of which program.
//
//	go run ./internal/tools suite ARGUMENT OF GO TEST...
//
// ./... stands for the packages of all modules of the repository; other packages belong to this one.
//
// It builds the programs that tests share once, before any test runs; see internal/testbed.

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// programs are the commands that tests of several packages start.
var programs = []string{"./cmd/assay", "github.com/nats-io/nats-server/v2"}

// modules are the folders of the modules.
var modules = []string{".", "lab"}

// slow is how many of the slowest packages are named.
const slow = 5

// suite returns the exit code of go test, or 1 if it does not run.
func suite(args []string) int {
	// go test and its children get an interrupt of the terminal themselves. It is waited for, so that the
	// supervisors of the packages end the processes of their tests.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	dir, err := filepath.Abs("bin/test")
	if err != nil {
		return fail(err)
	}
	if out, err := exec.Command("go",
		append([]string{"build", "-o", dir + "/"}, programs...)...).CombinedOutput(); err != nil {
		return fail(fmt.Errorf("%w\n%s", err, out))
	}
	began := time.Now()
	r := newReport()
	code := 0
	for _, module := range modules {
		if module != "." && !slices.Contains(args, "./...") || code < 0 {
			continue
		}
		one, err := test(module, args, dir, signals, r)
		if err != nil {
			return fail(err)
		}
		code = cmp.Or(code, one)
	}
	r.write(os.Stdout, time.Since(began))
	if code != 0 {
		time.Sleep(1500 * time.Millisecond) // a supervisor looks for its parent once a second
	}
	if code < 0 {
		return 1
	}
	return code
}

// test runs the tests of a module and returns the exit code of go test, which is negative if a signal ended it.
func test(module string, args []string, programs string, signals <-chan os.Signal, r *report) (int, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "ASSAY_TEST_PROGRAMS="+programs)
	if python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		// A shim of a version manager starts some twenty programs before it starts this one.
		dir := filepath.Dir(strings.TrimSpace(string(python)))
		cmd.Env = append(cmd.Env, "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	if os.Getenv("GOGC") == "" {
		cmd.Env = append(cmd.Env, "GOGC=400") // thousands of short programs, of little memory
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s)
			case <-done:
				return
			}
		}
	}()
	r.read(out, os.Stdout)
	_ = cmd.Wait() // its exit code reports it
	return cmd.ProcessState.ExitCode(), nil
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "suite:", err)
	return 1
}

// An event is one of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// A report is the sum of the events of a run.
type report struct {
	passed, failed, skipped int
	packages                map[string]float64
	missing                 map[string]int // tests that were skipped, by the missing part of the machine
	output                  map[string]*strings.Builder
}

// missing matches the message of testbed.Lacks and of a script's skip.
var missing = regexp.MustCompile(`missing ([^:\n]+):`)

func newReport() *report {
	return &report{packages: map[string]float64{}, missing: map[string]int{}, output: map[string]*strings.Builder{}}
}

// read adds the events of in and writes the result of each package, with the output of failed tests.
func (r *report) read(in io.Reader, out io.Writer) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			r.add(e, out)
		} else if len(line) > 0 {
			fmt.Fprintf(out, "%s", line) // of the build
		}
		if err != nil {
			return
		}
	}
}

// add adds an event.
func (r *report) add(e event, out io.Writer) {
	key := e.Package + " " + e.Test
	said := r.output[key]
	if said == nil {
		said = &strings.Builder{}
		r.output[key] = said
	}
	switch e.Action {
	case "output", "build-output":
		if e.Action == "build-output" {
			fmt.Fprint(out, e.Output)
		}
		said.WriteString(e.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	if e.Test == "" {
		r.packages[e.Package] = e.Elapsed
		if e.Action == "fail" {
			fmt.Fprint(out, said)
		}
		fmt.Fprintf(out, "%-4s %s %.1fs\n", e.Action, e.Package, e.Elapsed)
		return
	}
	switch e.Action {
	case "pass":
		r.passed++
	case "fail":
		r.failed++
		fmt.Fprint(out, said)
	case "skip":
		r.skipped++
		if m := missing.FindStringSubmatch(said.String()); m != nil {
			r.missing[m[1]]++
		}
	}
	delete(r.output, key)
}

// write writes the summary: the slowest packages, the missing parts of the machine, and the counts of
// tests.
func (r *report) write(out io.Writer, took time.Duration) {
	names := slices.SortedFunc(maps.Keys(r.packages),
		func(a, b string) int { return cmp.Compare(r.packages[b], r.packages[a]) })
	for _, name := range names[:min(slow, len(names))] {
		fmt.Fprintf(out, "slow: %s %.1fs\n", name, r.packages[name])
	}
	for _, what := range slices.Sorted(maps.Keys(r.missing)) {
		fmt.Fprintf(out, "missing %s: %d tests skipped\n", what, r.missing[what])
	}
	fmt.Fprintf(out, "%d packages in %s\n", len(r.packages), took.Round(time.Second))
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
}
