package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/internal/worker"
	"github.com/assay-run/assay/setup"
)

// TestMain is a worker process if the environment asks for one: of a server that gives it one task, and takes
// no outcome.
func TestMain(m *testing.M) {
	dir := os.Getenv("WORKER_TEST_DIR")
	if dir == "" {
		testbed.Main(m)
	}
	var tasks []queue.Task
	if err := json.Unmarshal([]byte(os.Getenv("WORKER_TEST_TASKS")), &tasks); err != nil {
		panic(err)
	}
	r, closeRunner, err := setup.Jobs(false, nil)
	if err != nil {
		panic(err)
	}
	defer closeRunner()
	s := newServer(tasks...)
	s.refuse = assay.Errorf(assay.ClassUnavailable, "not now")
	err = worker.Run(context.Background(), worker.Options{
		Control: s, Carrier: s, Runner: r, Accept: true, Dir: dir, Slots: len(tasks), Out: os.Stdout,
	})
	fmt.Println("ended:", err)
	os.Exit(1)
}

// until waits until f is true.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// A worker that is killed leaves the outcomes of ended runs, which the next one sends, and running
// programs, which the next one ends.
func TestKilled(t *testing.T) {
	testbed.Outside(t)
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	ended, runs := task(1), task(2)
	ended.Job.Argv = []string{"sh", "-c", "echo word"}
	// A child in a session of its own, which ignores the signals that would end it.
	runs.Job.Argv = []string{
		"sh", "-c",
		`setsid sh -c 'trap "" TERM HUP; echo $$ >"$0.new"; mv "$0.new" "$0"; sleep 600; :' "$0"`, pidFile,
	}
	tasks, err := json.Marshal([]queue.Task{ended, runs})
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(dir, "worker")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WORKER_TEST_DIR="+state, "WORKER_TEST_TASKS="+string(tasks))
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	var pid int
	until(t, "both runs", func() bool {
		b, err := os.ReadFile(pidFile)
		if err == nil {
			pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		}
		kept, _ := filepath.Glob(filepath.Join(state, "spool", "*.json"))
		return pid > 0 && len(kept) == 1
	})
	cmd.Process.Kill()
	cmd.Wait()
	if syscall.Kill(pid, 0) != nil {
		t.Fatal("the run has ended with its worker: nothing is left to be swept")
	}
	defer syscall.Kill(pid, syscall.SIGKILL)

	s, p, out := newServer(), &program{}, &output{}
	o := options(t, s, p, out)
	o.Dir = state
	drain := make(chan struct{})
	o.Drain = drain
	wait := start(t.Context(), o)
	until(t, "telling", func() bool { return len(s.outcomes()) == 1 })
	close(drain)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	told := s.outcomes()
	if len(told) != 1 || told[0].ID != ended.ID || told[0].Why != "" || string(told[0].Stdout) != "word\n" ||
		told[0].Measurement.Elapsed <= 0 || told[0].Measurement.Metrics["max_rss"] == 0 {
		t.Errorf("told %+v\n%s", told, &log)
	}
	if err := syscall.Kill(pid, 0); err == nil {
		if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); !strings.Contains(string(b), ") Z ") {
			t.Errorf("process %d still runs\n%s", pid, out)
		}
	}
	if !strings.Contains(out.String(), "processes that a killed worker left running are ended") {
		t.Errorf("output:\n%s", out)
	}
	empty(t, state)
}
