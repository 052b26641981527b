package batch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
	"github.com/assay-run/assay/internal/testbed"
)

// Output of squeue and sacct is read; other people's jobs, whatever their names are, are not. An answer without
// a single job in it that is not empty is unreadable.
func TestParseJobs(t *testing.T) {
	out := "7|assay-1f-3-0-1|PENDING|Resources\n8|a|b|c|d|RUNNING|x\n9|assay-1f-4-0-1|CANCELLED by 1000\n" +
		"10_2|assay-1f-5-0-1|STRANGE|None\n\n"
	jobs, err := parseJobs("squeue", out)
	want := []Job{
		{"7", "assay-1f-3-0-1", Waiting, "PENDING", "Resources"},
		{"9", "assay-1f-4-0-1", Over, "CANCELLED", ""},
		{"10_2", "assay-1f-5-0-1", Unsure, "STRANGE", "None"},
	}
	if err != nil || !slices.Equal(jobs, want) {
		t.Errorf("%v, %v", jobs, err)
	}
	if jobs, err := parseJobs("squeue", ""); err != nil || jobs != nil {
		t.Errorf("nothing: %v, %v", jobs, err)
	}
	if _, err := parseJobs("squeue", "slurm_load_jobs error: what\n"); err == nil {
		t.Error("garbage is an answer")
	}
}

// sbatch's message separates jobs that are never taken, are not taken now, and may have been taken.
func TestSubmitError(t *testing.T) {
	for text, want := range map[string]error{
		"Batch job submission failed: Invalid partition name specified":                     ErrRefused,
		"Batch job submission failed: Requested node configuration is not available":        ErrRefused,
		"Batch job submission failed: Invalid account or account/partition combination":     ErrRefused,
		"Batch job submission failed: QOSMaxSubmitJobPerUserLimit":                          ErrFull,
		"Batch job submission failed: Slurm temporarily unable to accept job, sleeping":     ErrFull,
		"Batch job submission failed: Socket timed out on send/recv operation":              nil,
		"Batch job submission failed: Unable to contact slurm controller (connect failure)": nil,
	} {
		err := submitError(errors.New(text))
		for _, kind := range []error{ErrRefused, ErrFull} {
			if errors.Is(err, kind) != (kind == want) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// The options by which a job is known come after the user's options, and a path is no pattern.
func TestSbatch(t *testing.T) {
	args := sbatch(Request{
		Name: "assay-1", Script: "/s/script", Output: "/s/50%/job.out", Dir: "/s", Walltime: 90 * time.Second, CPUs: 4,
		MemoryB: 1 << 30, GPUs: 2, Partition: "short", Extra: []string{"--job-name=mine"},
	})
	text := strings.Join(args, " ")
	for _, want := range []string{
		"--time=2 ", "--cpus-per-task=4 ", "--mem=1048576K ", "--gres=gpu:2 ", "--partition=short ", "--no-requeue ",
		"--job-name=mine --job-name=assay-1 ", "--output=/s/50%%/job.out /s/script",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if args[len(args)-1] != "/s/script" {
		t.Errorf("the script is not last: %s", text)
	}
}

// No variable of the user's changes the effect of Slurm's commands; others stay.
func TestSlurmEnv(t *testing.T) {
	env := slurmEnv([]string{
		"SQUEUE_FORMAT=x", "SACCT_FORMAT=x", "SBATCH_PARTITION=x", "SLURM_TIME_FORMAT=x",
		"SLURM_CONF=/c", "A=b",
	})
	if !slices.Equal(env, []string{"SLURM_CONF=/c", "A=b"}) {
		t.Errorf("%v", env)
	}
}

// One command is for thousands of jobs, and a few are cancelled by their names.
func TestCommands(t *testing.T) {
	testbed.Outside(t)
	dir := t.TempDir()
	for _, name := range []string{"scancel", "scontrol", "sacct", "squeue"} {
		text := "#!/bin/sh\necho " + name + " $# >>" + dir + "/calls\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	s := &Slurm{user: "me", env: os.Environ()}
	jobs := make([]Job, 5000)
	names := make([]string, len(jobs))
	for i := range jobs {
		names[i] = fmt.Sprintf("assay-0123abcd-%d-0-1", i)
		jobs[i] = Job{ID: strconv.Itoa(1000000 + i), Name: names[i]}
	}
	for _, c := range []struct {
		name string
		call func() error
		want string
	}{
		{"all jobs", func() error { _, err := s.Poll(t.Context()); return err }, "squeue 4\n"},
		{"the accounting", func() error { _, err := s.Find(t.Context(), names[:atOnce]...); return err }, "sacct 7\n"},
		{"lower", func() error {
			n, err := s.Lower(t.Context(), time.Minute, jobs[:lowered]...)
			if n != lowered {
				t.Errorf("%d lowered", n)
			}
			return err
		}, "scontrol 3\n"},
		{"cancel all", func() error { return s.Cancel(t.Context(), jobs...) }, "scancel 5002\n"},
		{"cancel a few", func() error { return s.Cancel(t.Context(), jobs[:2]...) }, "scancel 3\nscancel 3\n"},
		{"cancel none", func() error { return s.Cancel(t.Context()) }, ""},
	} {
		_ = os.Remove(filepath.Join(dir, "calls"))
		if err := c.call(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "calls")); string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// An attempt is given up without the lock being held while the disk is waited for.
func TestLoseWaitsAside(t *testing.T) {
	r := &Runner{runs: map[key]*attempt{}, disk: make(chan struct{}, 1), booked: map[assay.RunID]bool{}}
	a := newAttempt(r, key{"s", 1, 0}, t.TempDir(), 1, assay.Job{})
	a.State, r.runs[a.key] = ledger.Placed, a
	c := a.run.Wait(1, 0, false)
	if err := os.Mkdir(string(a.dir()), 0o700); err != nil {
		t.Fatal(err)
	}
	r.disk <- struct{}{} // the disk is busy
	over := make(chan struct{})
	go func() { r.giveUp(a, c); close(over) }()
	time.Sleep(20 * time.Millisecond) // it may be at the disk by now, and is held up there
	r.mu.Lock()                       // for ever if it has the lock
	if a.State == ledger.Ended {
		t.Error("it is given up though nothing of it is on the disk")
	}
	r.mu.Unlock()
	<-r.disk
	<-over
	if _, err := os.Stat(a.dir().path(lostFile)); err != nil || !errors.Is(c.Err, assay.ErrLost) {
		t.Errorf("%v, %v", err, c.Err)
	}
}
