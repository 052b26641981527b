package assaytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// RunnerOptions describe the limits of a runner. The zero value checks every rule.
type RunnerOptions struct {
	// Slow is the time that a run may need to start, and to end, beyond its program's. 0 means 5 s.
	Slow time.Duration
	// NoOutput means that measurements have no Stdout and Stderr.
	NoOutput bool
	// Remote means that the processes of a run are not visible to the test.
	Remote bool
	// Detaches means that runs outlive their callers, and checks the rules for such runners: see [assay.Runner].
	Detaches bool
	// Once means that a run has one outcome for all of its attempts, and checks this. For other runners, each attempt has
	// its own.
	Once bool
}

// TestRunner checks the contract of [assay.Runner] for a runner of commands. The programs are /bin/sh, sleep, kill,
// printf and pwd of the machine that the jobs run on, which shares the directory for temporary files with this one. It
// calls newRunner once for each rule; the caller frees the runner's resources in a cleanup. The parts of a job that
// wrappers handle (Prepare, Cleanup, Warmup, Metrics) are not checked.
func TestRunner(t *testing.T, newRunner func() assay.Runner, opts RunnerOptions) {
	t.Helper()
	for _, rule := range runnerRules {
		t.Run(rule.name, func(t *testing.T) {
			b := newRunnerBench(t.Context(), newRunner(), opts, t.TempDir())
			if err := rule.check(b); err != nil {
				t.Errorf("%v\nthe rule: %s", err, rule.why)
			}
		})
	}
}

// A runnerBench is the environment of one rule.
type runnerBench struct {
	RunnerOptions
	ctx    context.Context
	runner assay.Runner
	dir    string
}

func newRunnerBench(ctx context.Context, r assay.Runner, opts RunnerOptions, dir string) *runnerBench {
	if opts.Slow == 0 {
		opts.Slow = 5 * time.Second
	}
	return &runnerBench{opts, ctx, r, dir}
}

// sh returns a job that runs a script with arguments.
func sh(script string, args ...string) assay.Job {
	return assay.Job{Argv: append([]string{"/bin/sh", "-c", script, "sh"}, args...)}
}

// run runs a job that ends by itself.
func (b *runnerBench) run(job assay.Job) (assay.Measurement, error) {
	m, err := b.runner.Run(b.ctx, job, nil)
	if err != nil {
		return m, fmt.Errorf("running %q: %w", job.Argv, err)
	}
	return m, nil
}

// stop runs a job, cancels it with a cause once path exists, and checks that it
// returns that cause in time.
func (b *runnerBench) stop(job assay.Job, path string) (assay.Measurement, error) {
	cause := errors.New("stopped by the test")
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	var at atomic.Int64
	go func() {
		b.await(path)
		at.Store(time.Now().UnixNano())
		cancel(cause)
	}()
	m, err := b.runner.Run(ctx, job, nil)
	took := time.Duration(time.Now().UnixNano() - at.Load())
	switch {
	case at.Load() == 0:
		return m, fmt.Errorf("returned %v before it was cancelled", err)
	case !errors.Is(err, cause):
		return m, fmt.Errorf("a run that was cancelled returned %v, want the cause %q", err, cause)
	case took > b.Slow+job.Grace:
		return m, fmt.Errorf("took %v to end", took)
	}
	return m, nil
}

// await returns when path exists, or after the time that a start may take.
func (b *runnerBench) await(path string) bool {
	for deadline := time.Now().Add(2 * b.Slow); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// gone returns an error if a process whose id is in one of the files is alive.
func (b *runnerBench) gone(paths ...string) error {
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return fmt.Errorf("no process id in %s: %w", path, err)
		}
		if !b.Remote && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return fmt.Errorf("process %d of the run is left (%s)", pid, filepath.Base(path))
		}
	}
	return nil
}

// path returns a file name in the directory of the rule.
func (b *runnerBench) path(name string) string { return filepath.Join(b.dir, name) }

type runnerRule struct {
	name  string
	why   string
	check func(*runnerBench) error
}

var runnerRules = []runnerRule{
	{"exit code", "a job that exits with a non-zero code is a measurement, not an error", func(b *runnerBench) error {
		for _, code := range []int{0, 1, 7, 126, 255} {
			m, err := b.run(sh("exit " + strconv.Itoa(code)))
			if err != nil {
				return err
			}
			if m.ExitCode != code || m.Signal != "" {
				return fmt.Errorf("exit %d gives code %d, signal %q", code, m.ExitCode, m.Signal)
			}
			if x, ok := m.Metric("exit_code"); !ok || x != float64(code) {
				return fmt.Errorf("exit %d gives the metric %v, %v", code, x, ok)
			}
		}
		return nil
	}},
	{"signal", "the exit code is 128+n if signal n ended the run, and Signal names it", func(b *runnerBench) error {
		for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGSEGV} {
			m, err := b.run(sh(fmt.Sprintf("kill -%d $$", sig)))
			if err != nil {
				return err
			}
			if m.ExitCode != 128+int(sig) || m.Signal == "" {
				return fmt.Errorf("signal %d gives code %d, signal %q", sig, m.ExitCode, m.Signal)
			}
		}
		return nil
	}},
	{
		"elapsed", "Elapsed is the time of the run, and the metric elapsed is the same in seconds",
		func(b *runnerBench) error {
			m, err := b.run(assay.Job{Argv: []string{"sleep", "0.2"}})
			if err != nil {
				return err
			}
			if m.Elapsed < 200*time.Millisecond || m.Elapsed > 200*time.Millisecond+b.Slow {
				return fmt.Errorf("sleep 0.2 took %v", m.Elapsed)
			}
			if x, _ := m.Metric("elapsed"); x != m.Elapsed.Seconds() {
				return fmt.Errorf("Elapsed is %v, the metric is %v", m.Elapsed, x)
			}
			return nil
		},
	},
	{
		"arguments", "Argv is the program's argument vector, byte for byte, never a shell line",
		func(b *runnerBench) error {
			args := []string{
				"", " ", "a b", "'", `"`, `\`, "$HOME", "$(touch canary)", "`touch canary`",
				"a;touch canary", "-n", "--", "-", "*", "a\nb", "\t", "é漢🎉", "\xff\xfe", "{x}", "%s", "!", "#", "~",
				"a=b", "&", "|", ">canary",
			}
			job := sh(`for a; do printf '%s\0' "$a"; done >"$OUT"`, args...)
			job.Dir, job.Env = b.dir, []string{"OUT=" + b.path("out")}
			if _, err := b.run(job); err != nil {
				return err
			}
			got, err := os.ReadFile(b.path("out"))
			if err != nil {
				return err
			}
			if want := strings.Join(args, "\x00") + "\x00"; string(got) != want {
				return fmt.Errorf("the program got %q, want %q", got, want)
			}
			if _, err := os.Stat(b.path("canary")); err == nil {
				return errors.New("an argument was executed")
			}
			return nil
		},
	},
	{"NUL byte", "an empty Argv or a NUL byte in a job is an error", func(b *runnerBench) error {
		for _, job := range []assay.Job{
			{Argv: []string{"true", "a\x00b"}},
			{Argv: []string{"tr\x00ue"}},
			{},
			{Argv: []string{"true"}, Env: []string{"A=\x00"}},
			{Argv: []string{"true"}, Dir: "/\x00"},
		} {
			if m, err := b.runner.Run(b.ctx, job, nil); err == nil {
				return fmt.Errorf("%+q, %+q in %+q gives %+v and no error", job.Argv, job.Env, job.Dir, m)
			}
		}
		return nil
	}},
	{"environment", "Env is added to the runner's own environment, and wins over it", func(b *runnerBench) error {
		job := sh(`printf '%s|%s|%s' "$A" "$HOME" "${PATH:+set}" >"$OUT"`)
		job.Env = []string{"A=first", "OUT=" + b.path("out"), "HOME=/no home", "A=a b=c\n"}
		if _, err := b.run(job); err != nil {
			return err
		}
		return sameFile(b.path("out"), "a b=c\n|/no home|set")
	}},
	{
		"directory", "Dir is the working directory, and a program with a slash is relative to it",
		func(b *runnerBench) error {
			script := "#!/bin/sh\npwd -P >out\n"
			if err := os.WriteFile(b.path("prog"), []byte(script), 0o755); err != nil {
				return err
			}
			if _, err := b.run(assay.Job{Argv: []string{"./prog"}, Dir: b.dir}); err != nil {
				return err
			}
			real, err := filepath.EvalSymlinks(b.dir)
			if err != nil {
				return err
			}
			return sameFile(b.path("out"), real+"\n")
		},
	},
	{"no program", "a program that cannot be started is an error that names it", func(b *runnerBench) error {
		if err := os.WriteFile(b.path("data"), []byte("x"), 0o644); err != nil {
			return err
		}
		for _, name := range []string{"no-such-program-anywhere", b.path("missing"), b.path("data"), b.dir} {
			m, err := b.runner.Run(b.ctx, assay.Job{Argv: []string{name}}, nil)
			if err == nil || !strings.Contains(err.Error(), name) {
				return fmt.Errorf("%s gives %+v and error %v, which must name it", name, m, err)
			}
		}
		return nil
	}},
	{"output", "Stdout and Stderr have the output of the program, standard input is empty", func(b *runnerBench) error {
		m, err := b.run(sh(`printf 'out\0\377'; printf err >&2; cat; (sleep 0.05; printf late)`))
		if err != nil || b.NoOutput {
			return err
		}
		if string(m.Stdout) != "out\x00\xfflate" || string(m.Stderr) != "err" {
			return fmt.Errorf("stdout %q, stderr %q", m.Stdout, m.Stderr)
		}
		return nil
	}},
	{
		"cancel", "if ctx is done, Run ends the job and returns the measurement so far and context.Cause",
		func(b *runnerBench) error {
			job := sh(`echo $$ >"$OUT"; exec sleep 60`)
			job.Env = []string{"OUT=" + b.path("pid")}
			m, err := b.stop(job, b.path("pid"))
			if err != nil {
				return err
			}
			if m.Elapsed <= 0 || m.Elapsed > 4*b.Slow {
				return fmt.Errorf("the measurement so far has Elapsed %v", m.Elapsed)
			}
			return b.gone(b.path("pid"))
		},
	},
	{"cancelled before", "nothing is started if ctx is done already", func(b *runnerBench) error {
		cause := errors.New("over")
		ctx, cancel := context.WithCancelCause(b.ctx)
		cancel(cause)
		job := sh(`echo x >"$OUT"`)
		job.Env = []string{"OUT=" + b.path("out")}
		if _, err := b.runner.Run(ctx, job, nil); !errors.Is(err, cause) {
			return fmt.Errorf("returned %v, want the cause", err)
		}
		if _, err := os.Stat(b.path("out")); err == nil {
			return errors.New("the program ran")
		}
		return nil
	}},
	{"cancel in observe", "observe may cancel the run that it observes", func(b *runnerBench) error {
		cause := errors.New("seen enough")
		ctx, cancel := context.WithCancelCause(b.ctx)
		defer cancel(nil)
		job := assay.Job{Argv: []string{"sleep", "60"}, Interval: 20 * time.Millisecond}
		began, calls := time.Now(), 0
		m, err := b.runner.Run(ctx, job, func(assay.Measurement) {
			if calls++; calls == 2 {
				cancel(cause)
			}
		})
		if !errors.Is(err, cause) {
			return fmt.Errorf("returned %v, want the cause", err)
		}
		if d := time.Since(began); d > 2*b.Slow || m.Elapsed < 40*time.Millisecond {
			return fmt.Errorf("ended after %v with Elapsed %v", d, m.Elapsed)
		}
		return nil
	}},
	{
		"limit", "after Limit, Run ends the job and returns the measurement so far and ErrLimit",
		func(b *runnerBench) error {
			job := assay.Job{Argv: []string{"sleep", "60"}, Limit: 100 * time.Millisecond}
			m, err := b.runner.Run(b.ctx, job, nil)
			if !errors.Is(err, assay.ErrLimit) {
				return fmt.Errorf("returned %v, want ErrLimit", err)
			}
			// A run may begin a little after the clock of its limit.
			if m.Elapsed < job.Limit*9/10 || m.Elapsed > job.Limit+b.Slow {
				return fmt.Errorf("a limit of %v gives Elapsed %v", job.Limit, m.Elapsed)
			}
			job = assay.Job{Argv: []string{"true"}, Limit: time.Hour}
			if _, err := b.run(job); err != nil {
				return fmt.Errorf("a limit that is not reached: %w", err)
			}
			return nil
		},
	},
	{"observe", "observe is called every Interval with growing measurements, and never after Run returned", checkObserve},
	{"no interval", "an Interval of 0 means that observe is never called", func(b *runnerBench) error {
		var calls atomic.Int32
		_, err := b.runner.Run(b.ctx, assay.Job{Argv: []string{"sleep", "0.1"}},
			func(assay.Measurement) { calls.Add(1) })
		if err == nil && calls.Load() > 0 {
			err = fmt.Errorf("observe was called %d times", calls.Load())
		}
		return err
	}},
	{"concurrency", "a Runner is safe for concurrent use", checkConcurrency},
	{"identity", "a job with an ID runs as one without, and jobs whose IDs differ are different runs", checkIdentity},
	{"once", "if a run has one outcome, each of its attempts returns it", checkOnce},
	{"no attempt", "an ID without an attempt names no run: each job that has it is a run of its own", checkNoAttempt},
	{"unchanged", "Run leaves the job as it is", checkUnchanged},
	{
		"detached", "if the cause is ErrDetached, Run returns it; a Runner that can leaves the run alone, any " +
			"other ends it", checkDetached,
	},
	{"attached", "if runs outlive their callers, Run of an ID that is running attaches to that run", checkAttached},
	{
		"attached and stopped", "a caller that attaches to a run observes it and can end it like the first caller; " +
			"later callers get the same outcome", checkAttachedStop,
	},
	{"ended", "if runs outlive their callers, Run of an ID that has ended returns its measurement", checkEnded},
	{"grace", "SIGTERM comes Grace before SIGKILL", func(b *runnerBench) error {
		script := `trap 'echo saved >"$OUT.saved"; exit 0' TERM; echo $$ >"$OUT"; while :; do sleep 0.01; done`
		job := sh(script)
		job.Env, job.Grace = []string{"OUT=" + b.path("pid")}, 10*b.Slow
		if _, err := b.stop(job, b.path("pid")); err != nil {
			return err
		}
		if err := sameFile(b.path("pid.saved"), "saved\n"); err != nil {
			return err
		}
		return b.gone(b.path("pid"))
	}},
	{"deaf program", "a program that ignores SIGTERM is ended after Grace", func(b *runnerBench) error {
		job := sh(`trap '' TERM INT HUP; echo $$ >"$OUT"; while :; do sleep 0.01; done`)
		job.Env, job.Grace = []string{"OUT=" + b.path("pid")}, 100*time.Millisecond
		if _, err := b.stop(job, b.path("pid")); err != nil {
			return err
		}
		return b.gone(b.path("pid"))
	}},
	{"tree", "every process of the job is ended before a cancelled Run returns", func(b *runnerBench) error {
		job := sh(`(trap '' TERM; setsid sh -c 'echo $$ >"$OUT.far"; exec sleep 60' &) ; sleep 60 & echo $! >"$OUT.near"
			while ! [ -s "$OUT.far" ]; do sleep 0.01; done; echo $$ >"$OUT"; wait`)
		job.Env = []string{"OUT=" + b.path("pid")}
		if _, err := b.stop(job, b.path("pid")); err != nil {
			return err
		}
		return b.gone(b.path("pid"), b.path("pid.near"), b.path("pid.far"))
	}},
	{
		"left behind", "processes that a program leaves behind are ended, and do not delay Run",
		func(b *runnerBench) error {
			job := sh(`(setsid sh -c 'echo $$ >"$OUT"; exec sleep 60' &); ` +
				`while ! [ -s "$OUT" ]; do sleep 0.01; done; ` +
				`echo done; exit 3`)
			job.Env = []string{"OUT=" + b.path("pid")}
			began := time.Now()
			m, err := b.run(job)
			if err != nil {
				return err
			}
			if d := time.Since(began); d > 4*b.Slow || m.ExitCode != 3 {
				return fmt.Errorf("took %v, exit code %d", d, m.ExitCode)
			}
			if !b.NoOutput && !bytes.Equal(m.Stdout, []byte("done\n")) {
				return fmt.Errorf("stdout is %q", m.Stdout)
			}
			return b.gone(b.path("pid"))
		},
	},
}

func sameFile(path, want string) error {
	got, err := os.ReadFile(path)
	if err == nil && string(got) != want {
		err = fmt.Errorf("%s has %q, want %q", filepath.Base(path), got, want)
	}
	return err
}
