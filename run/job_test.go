package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// pipeEnv makes the test binary a process that knows nothing but a job: it reads
// one from its standard input and writes the measurement to its output.
const pipeEnv = "ASSAY_TEST_PIPE"

// ended is the message that crosses the pipe back.
type ended struct {
	Measurement assay.Measurement `json:"measurement"`
	Error       string            `json:"error,omitempty"`
}

// pipe is the main function of that process.
func pipe() {
	var job assay.Job
	if err := json.NewDecoder(os.Stdin).Decode(&job); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	l, err := NewLocal(LocalOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer l.Close()
	var e ended
	if e.Measurement, err = WithHooks(Metrics(l)).Run(context.Background(), job, nil); err != nil {
		e.Error = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(e); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// overPipe runs a job in another process.
func overPipe(t *testing.T, job assay.Job) (assay.Measurement, string) {
	t.Helper()
	in, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), pipeEnv+"=1")
	cmd.Stdin = bytes.NewReader(in)
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &text)
	}
	var e ended
	if err := json.Unmarshal(out.Bytes(), &e); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	return e.Measurement, e.Error
}

// everything is a job that uses all that a job can ask for, in a new directory.
func everything(t *testing.T) assay.Job {
	t.Helper()
	metrics := sources(t,
		"rate=stdout:/rate: (\\S+)/", "loss=stderr:/loss ([^ \n]+)/", "score=json:out.json#/score",
		"whole=json:whole.json",
		"size=size:out\xff.bin", "lines=cmd:wc -l <runs; test \"$A\" = \"1 2\"", "none=stdout:/absent (x)/",
		"stale=size:prepared",
		"fails=cmd:echo why >&2; exit 3",
	)
	script := func(line string) []string { return []string{"/bin/sh", "-c", line} }
	return assay.Job{
		ID: assay.RunID{Study: "s", Trial: 3, Repeat: 1, Attempt: 2}, Config: assay.Config{1, 0.5},
		Argv: []string{"/bin/sh", "-c", `test "$(cat prepared)" = ready || exit 9
			test "$(cat served)" = "1 1 1 2" || exit 8
			echo >>runs; echo "rate: $1"; echo loss 7 >&2; echo '{"score": -4.5}' >out.json; echo 12 >whole.json
			printf %s "$1" >"$2"; exit 2`, "sh", "2.5", "out\xff.bin"},
		Env: []string{"A=1 2"}, Dir: t.TempDir(), Resources: map[string]float64{"cpus": 1}, Limit: time.Minute,
		Prepare: []string{"/bin/sh", "-c", "echo ready >prepared"},
		Cleanup: []string{"/bin/sh", "-c", "cp runs cleaned"},
		Warmup:  2, Metrics: metrics,
		Service: &assay.Service{
			Start: script(`echo $$ >pid; echo ` + assay.SlotMark + ` $ASSAY_SLOT $A >served; echo up; exec sleep 1000`),
			Ready: assay.Ready{Command: []string{"test", "-s", "served"}, Output: "^up\n", Within: time.Minute},
			Stop:  script("echo stopped >>served; kill $(cat pid)"), Key: "k\xff",
		},
	}
}

// A process that has only the JSON of a job makes the same measurements as this one.
func TestJobOverAPipe(t *testing.T) {
	here := everything(t)
	want, err := WithHooks(Metrics(newLocal(t, LocalOptions{}))).Run(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	there := everything(t)
	got, failed := overPipe(t, there)
	if failed != "" || got.ExitCode != 2 || got.ExitCode != want.ExitCode || got.Signal != want.Signal ||
		got.Elapsed <= 0 {
		t.Errorf("got %+v, %s, want %+v", got, failed, want)
	}
	names := func(m assay.Measurement) []string { return slices.Sorted(maps.Keys(m.Metrics)) }
	if !slices.Equal(names(got), names(want)) {
		t.Errorf("measured %v, want %v", names(got), names(want))
	}
	if !slices.Equal(slices.Sorted(maps.Keys(got.Missing)), []string{"fails", "none", "stale"}) {
		t.Errorf("missing are %v", got.Missing)
	}
	for name, why := range want.Missing {
		if got.Missing[name] != strings.ReplaceAll(why, here.Dir, there.Dir) {
			t.Errorf("%s is missing because %q, want %q", name, got.Missing[name], why)
		}
	}
	for name, value := range map[string]float64{
		// 2 warm-up runs, and the run
		"rate": 2.5, "loss": 7, "score": -4.5, "whole": 12, "size": 3, "lines": 3, "exit_code": 2,
	} {
		g, _ := got.Metric(name)
		w, _ := want.Metric(name)
		if g != value || w != value {
			t.Errorf("%s is %v over the pipe and %v here, want %v", name, g, w, value)
		}
	}
	for _, dir := range []string{here.Dir, there.Dir} {
		if text, err := os.ReadFile(filepath.Join(dir, "cleaned")); err != nil || string(text) != "\n\n\n" {
			t.Errorf("the clean-up saw %q, %v", text, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "served")); err != nil || string(text) != "1 1 1 2\nstopped\n" {
			t.Errorf("the service left %q, %v", text, err)
		}
	}
}

// The cause of a job's end crosses the pipe, too.
func TestFailedJobOverAPipe(t *testing.T) {
	job := assay.Job{Argv: []string{"sleep", "60"}, Limit: 20 * time.Millisecond}
	if m, failed := overPipe(t, job); failed != assay.ErrLimit.Error() || m.Elapsed < job.Limit ||
		m.Elapsed > 30*time.Second {
		t.Errorf("got %+v, %q", m, failed)
	}
	job = assay.Job{Argv: []string{"true"}, Prepare: []string{"sh", "-c", "echo one; echo two >&2; exit 1"}}
	m, failed := overPipe(t, job)
	want := &assay.Failure{Step: "prepare", Reason: "prepare exited with code 1: two", Output: []string{"one", "two"}}
	if failed != "" || !reflect.DeepEqual(m.Failure, want) {
		t.Errorf("got %+v, %q", m.Failure, failed)
	}
}

// Jobs of several studies run on one Local, each in a group of its study, and
// nothing is left of the groups.
func TestGroupsOfManyStudies(t *testing.T) {
	l := newLocal(t, LocalOptions{Owner: "service"})
	dir := l.Cgroup()
	if dir == "" {
		t.Skip("SKIPPED, NOT TESTED: this machine gives us no cgroup")
	}
	names := []string{"a", "b", "", "a", "a", "c", "b"}
	for _, study := range names {
		job := assay.Job{ID: assay.RunID{Study: study}, Argv: []string{
			"/bin/sh", "-c",
			`cat /proc/self/cgroup; echo "$ASSAY_RUN"`,
		}}
		m, err := l.Run(t.Context(), job, nil)
		if err != nil {
			t.Fatal(err)
		}
		owner := hashOwner(study)
		if study == "" {
			owner = hashOwner("service")
		}
		out := string(m.Stdout)
		if !strings.Contains(out, "/"+filepath.Base(dir)+"/"+owner+"-") || !strings.Contains(out, "\n"+owner+".") {
			t.Errorf("a run of %q, whose hash is %s, is in\n%s", study, owner, out)
		}
		if n := len(subdirs(dir)); n != 1 {
			t.Errorf("%d groups after one run at a time", n)
		}
	}
}
