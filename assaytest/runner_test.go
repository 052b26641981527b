package assaytest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// flawedRunner runs commands simply, by os/exec, with one flaw.
type flawedRunner struct{ flaw string }

func (r flawedRunner) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (m assay.Measurement,
	err error,
) {
	cause := func() error { return context.Cause(ctx) }
	switch r.flaw {
	case "shell":
		job.Argv = []string{"/bin/sh", "-c", strings.Join(job.Argv, " ")}
	case "starts anyway":
		ctx = context.WithoutCancel(ctx)
	case "plain error":
		cause = func() error { return ctx.Err() }
	case "no directory":
		job.Dir = ""
	case "no environment":
		job.Env = nil
	case "no limit":
		job.Limit = min(job.Limit, 0)
	case "no grace":
		job.Grace = 0
	case "late observe":
		if observe != nil && job.Interval > 0 {
			defer time.AfterFunc(job.Interval/2, func() { observe(m) })
		}
	case "too often":
		job.Interval /= 10
	case "never":
		job.Interval = 0
	case "always":
		job.Interval = max(job.Interval, 10*time.Millisecond)
	case "changes arguments":
		job.Argv[len(job.Argv)-1] += " "
	case "changes room":
		_ = append(job.Env, "C=3")
	case "drops NUL":
		job.Argv = strings.Split(strings.ReplaceAll(strings.Join(job.Argv, "\n"), "\x00", ""), "\n")
	}
	if ctx.Err() != nil {
		return m, cause()
	}
	limited := ctx
	if job.Limit > 0 {
		var stop func()
		limited, stop = context.WithTimeoutCause(ctx, job.Limit, assay.ErrLimit)
		defer stop()
	}
	if len(job.Argv) == 0 {
		return m, errors.New("no command")
	}
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(limited, job.Argv[0], job.Argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = job.Dir, &out, &stderr, job.Grace+50*time.Millisecond
	cmd.Env = append(cmd.Environ(), job.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		sig := syscall.SIGKILL
		if job.Grace > 0 {
			sig = syscall.SIGTERM
		}
		return syscall.Kill(-cmd.Process.Pid, sig)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return m, errors.New(strings.Join(job.Argv[:1], "") + ": " + err.Error())
	}
	quit, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		if observe == nil || job.Interval == 0 {
			return
		}
		for {
			select {
			case <-quit:
				return
			case <-time.After(job.Interval):
				observe(assay.Measurement{Elapsed: time.Since(start)})
			}
		}
	}()
	cmd.Wait()
	m.Elapsed = time.Since(start)
	close(quit)
	<-done
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if m.ExitCode = ws.ExitStatus(); ws.Signaled() {
		m.ExitCode, m.Signal = 128+int(ws.Signal()), ws.Signal().String()
	}
	m.Stdout, m.Stderr = out.Bytes(), stderr.Bytes()
	if limited.Err() != nil {
		err = context.Cause(limited)
		if ctx.Err() != nil {
			err = cause()
		}
	}
	switch r.flaw {
	case "exit code is an error":
		if m.ExitCode != 0 {
			return m, errors.New("exit")
		}
	case "no elapsed":
		m.Elapsed = 0
	case "mixed output":
		m.Stdout, m.Stderr = append(m.Stdout, m.Stderr...), nil
	case "signal is an exit code":
		m.Signal = ""
	}
	return m, err
}

// A memory is a Runner whose runs outlive their callers, with one flaw.
type memory struct {
	flawedRunner
	mu   sync.Mutex
	runs map[assay.RunID]*remembered
}

type remembered struct {
	mu    sync.Mutex
	to    func(assay.Measurement) // of the last caller
	stop  context.CancelCauseFunc
	ended chan struct{}
	m     assay.Measurement
	err   error
}

// show has observe see the run from now on.
func (r *remembered) show(observe func(assay.Measurement)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = observe
}

func (r *remembered) observe(m assay.Measurement) {
	r.mu.Lock()
	to := r.to
	r.mu.Unlock()
	if to != nil {
		to(m)
	}
}

// key returns the name that a run is remembered by, and whether it has one.
func (r *memory) key(id assay.RunID) (assay.RunID, bool) {
	named := id.Attempt > 0
	switch r.flaw {
	case "ignores the study":
		id.Study = ""
	case "ignores the trial":
		id.Trial = 0
	case "ignores the repeat":
		id.Repeat = 0
	case "ignores the attempt":
		id.Attempt = 0
	case "names everything":
		named = true
	}
	return id, named
}

func (r *memory) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	key, named := r.key(job.ID)
	if !named {
		return r.flawedRunner.Run(ctx, job, observe)
	}
	r.mu.Lock()
	now := r.runs[key]
	if now != nil && r.flaw == "forgets the end" {
		select {
		case <-now.ended:
			now = nil
		default:
		}
	}
	joined := now != nil
	if now == nil || r.flaw == "begins again" {
		now = &remembered{ended: make(chan struct{})}
		r.runs[key] = now
		var alone context.Context
		alone, now.stop = context.WithCancelCause(context.WithoutCancel(ctx))
		go func() {
			defer close(now.ended)
			now.m, now.err = r.flawedRunner.Run(alone, job, now.observe)
		}()
	}
	r.mu.Unlock()
	if !joined || r.flaw != "observes for the first only" {
		now.show(observe)
	}
	select {
	case <-now.ended:
	case <-ctx.Done():
		if cause := context.Cause(ctx); errors.Is(cause, assay.ErrDetached) && r.flaw != "lets none go" {
			now.show(nil)
			return assay.Measurement{}, cause
		}
		now.stop(context.Cause(ctx))
		<-now.ended
	}
	return now.m, now.err
}

// newFlawed returns a Runner with a flaw, whose runs outlive their callers if the
// name of the flaw begins with "memory: ".
func newFlawed(flaw string) (assay.Runner, RunnerOptions) {
	opts := RunnerOptions{Slow: 2 * time.Second}
	flaw, opts.Detaches = strings.CutPrefix(flaw, "memory: ")
	opts.Once = flaw == "runs each attempt"
	if opts.Detaches {
		return &memory{flawedRunner: flawedRunner{flaw}, runs: map[assay.RunID]*remembered{}}, opts
	}
	return flawedRunner{flaw}, opts
}

// endLeft ends the processes whose ids are in the files pid* of a directory.
func endLeft(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, "pid*"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// Each flaw is found by the rule that is meant to find it. The simple runner
// without a flaw breaks only the rules of processes left behind.
func TestRunnerRulesFindFlaws(t *testing.T) {
	testbed.Outside(t)
	tests := map[string][]string{ // rule: flaws
		"exit code":         {"exit code is an error"},
		"signal":            {"signal is an exit code"},
		"elapsed":           {"no elapsed"},
		"arguments":         {"shell"},
		"environment":       {"no environment"},
		"directory":         {"no directory"},
		"output":            {"mixed output"},
		"cancel":            {"plain error"},
		"cancelled before":  {"starts anyway", "plain error"},
		"cancel in observe": {"plain error"},
		"limit":             {"no limit"},
		"observe":           {"late observe", "too often", "never"},
		"grace":             {"no grace"},
		"concurrency":       {"mixed output"},
		"identity": {
			"memory: ignores the study", "memory: ignores the trial", "memory: ignores the repeat",
			"memory: ignores the attempt",
		},
		"once":       {"memory: runs each attempt"},
		"no attempt": {"memory: names everything"},
		"unchanged":  {"changes arguments", "changes room"},
		"detached":   {"memory: lets none go", "memory: begins again", "plain error"},
		"attached":   {"memory: begins again"},
		"attached and stopped": {
			"memory: begins again", "memory: forgets the end", "memory: observes for the first only",
		},
		"ended":        {"memory: begins again", "memory: forgets the end"},
		"no program":   {"shell"},
		"NUL byte":     {"drops NUL"},
		"deaf program": {"plain error"},
		"no interval":  {"always"},
		"tree":         {""},
		"left behind":  {""},
	}
	for _, rule := range runnerRules {
		flaws, ok := tests[rule.name]
		if !ok {
			t.Errorf("no flaw is known for the rule %q", rule.name)
		}
		if rule.why == "" {
			t.Errorf("the rule %q says nothing", rule.name)
		}
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			check := func(flaw string) error {
				limit := time.Minute // for a runner without a flaw on a busy machine
				if flaw != "" && flaw != "memory: " {
					limit = 3 * time.Second // a flaw is seen at the latest when it ends
				}
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				r, opts := newFlawed(flaw)
				b := newRunnerBench(ctx, r, opts, t.TempDir())
				defer endLeft(b.dir)
				return rule.check(b)
			}
			for _, flaw := range flaws {
				if err := check(flaw); err == nil {
					t.Errorf("the flaw %q is not found", flaw)
				}
			}
			if !slices.Contains(flaws, "") {
				for _, sound := range []string{"", "memory: "} {
					if err := check(sound); err != nil {
						t.Errorf("a runner without a flaw (%s): %v", sound, err)
					}
				}
			}
		})
	}
}
