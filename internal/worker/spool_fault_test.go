package worker_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/meterfs"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/internal/worker"
)

// Each operation on the disk of a worker's directory fails once, in runs of their own: a run is sent once with its
// measurement, by the worker that ran it or, since that is killed, by the next one; a run that could not be noted down
// did not begin.
func TestEachOperationOfTheSpoolFails(t *testing.T) {
	testbed.Outside(t)
	step := 9
	if os.Getenv("ASSAY_SOAK") != "" {
		step = 1
	}
	faults, told, begun := 0, 0, 0
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		for n, over := 1, false; !over; n += step {
			d := testbed.NewDisk(t, func(i int, c meterfs.Change) syscall.Errno {
				if i != n || c.Op == "open" {
					return 0
				}
				return errno
			})
			for _, o := range onDisk(t, d) {
				switch {
				// A worker on a busy machine may note that it stood still.
				case (o.Why == "" || o.Why == assay.WhyTainted) && string(o.Stdout) == "word\n" && o.Measurement.Elapsed > 0:
					told++
				case o.Why == "error" && strings.Contains(o.Reason, "the directory of the worker"):
					begun++
				default:
					t.Errorf("%v of operation %d, %s: told %+v", errno, n, d.Failed(), o)
				}
			}
			if over = d.Calls() < n; !over && d.Failed() != "" {
				faults++
			}
		}
	}
	if faults < 4 {
		t.Errorf("%d operations failed only: the rig does nothing", faults)
	}
	t.Logf("counted: faults %d, outcomes told %d, runs that did not begin %d, lost 0", faults, told, begun)
}

// onDisk has a worker on a disk run two tasks and kills it, has another one send the outcomes left, and returns all
// outcomes sent. Each task is sent once.
func onDisk(t *testing.T, d *testbed.Disk) []queue.Outcome {
	t.Helper()
	var tasks []queue.Task
	for i := range 2 {
		task := task(i + 1)
		task.Job.Argv = []string{"sh", "-c", "echo word"}
		tasks = append(tasks, task)
	}
	text, err := json.Marshal(tasks)
	if err != nil {
		t.Fatal(err)
	}
	kept := func() int {
		all, _ := filepath.Glob(filepath.Join(d.Data, "worker", "spool", "*.json"))
		return len(all)
	}
	for range 3 { // one that cannot begin says so, and is started again
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "WORKER_TEST_DIR="+filepath.Join(d.Dir, "worker"), "WORKER_TEST_TASKS="+string(text))
		var log strings.Builder
		cmd.Stdout, cmd.Stderr = &log, &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		go func() { cmd.Wait(); close(over) }()
		ended := false
		for end := time.Now().Add(20 * time.Second); !ended && kept() < len(tasks) && time.Now().Before(end); {
			select {
			case <-over:
				ended = true
			case <-time.After(20 * time.Millisecond):
			}
		}
		cmd.Process.Kill()
		<-over
		if kept() == len(tasks) {
			break
		}
		if !ended || !strings.Contains(log.String(), "ended: ") {
			t.Fatalf("%s: %d outcomes are kept, ended: %v\n%s", d.Failed(), kept(), ended, &log)
		}
	}
	s, out := newServer(), &output{}
	o := options(t, s, &program{}, out)
	o.Dir = filepath.Join(d.Dir, "worker")
	for range 3 {
		drain, ended := make(chan struct{}), make(chan error, 1)
		o.Drain = drain
		go func() { ended <- worker.Run(t.Context(), o) }()
		var err error
		stopped := false
		for end := time.Now().Add(20 * time.Second); len(s.outcomes()) < len(tasks) && !stopped && time.Now().Before(end); {
			select {
			case err = <-ended:
				stopped = true
			case <-time.After(20 * time.Millisecond):
			}
		}
		if !stopped {
			close(drain)
			err = <-ended
		}
		if len(s.outcomes()) >= len(tasks) {
			break
		}
		if err == nil {
			t.Errorf("%s: the worker ends well, and %d outcomes were told\n%s", d.Failed(), len(s.outcomes()), out)
		}
	}
	seen := map[int64]int{}
	for _, o := range s.outcomes() {
		seen[o.ID.Trial]++
	}
	for _, task := range tasks {
		if seen[task.ID.Trial] != 1 {
			t.Errorf("%s: trial %d was told %d times\n%s", d.Failed(), task.ID.Trial, seen[task.ID.Trial], out)
		}
	}
	return s.outcomes()
}
