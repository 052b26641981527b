package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// script is a Runner that records the commands it is asked to run, and fails "bad".
type script struct {
	ran  []string
	jobs []assay.Job
}

func (s *script) Run(ctx context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	s.ran, s.jobs = append(s.ran, job.Argv[0]), append(s.jobs, job)
	switch job.Argv[0] {
	case "bad":
		return assay.Measurement{
			ExitCode: 3, Stderr: []byte("first\nno space\n"), Metrics: map[string]float64{"elapsed": 1},
		}, nil
	case "missing":
		return assay.Measurement{}, fmt.Errorf("program \"missing\" is not there: %w", fs.ErrNotExist)
	}
	return assay.Measurement{Stderr: []byte("of the job")}, context.Cause(ctx)
}

func TestHooksSurroundARun(t *testing.T) {
	inner := &script{}
	id := assay.RunID{Study: "s", Trial: 7, Repeat: 2, Attempt: 1}
	job := assay.Job{
		ID: id, Argv: []string{"job"}, Prepare: []string{"before"}, Cleanup: []string{"after"}, Warmup: 2,
		Interval: time.Second, Dir: "/d", Env: []string{"A=1"},
		Metrics: []assay.MetricSource{{Name: "m", Kind: assay.FromSize, File: "f"}},
	}
	if _, err := WithHooks(inner).Run(t.Context(), job, nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{"before", "job", "job", "job", "after"}; !slices.Equal(inner.ran, want) {
		t.Errorf("ran %v, want %v", inner.ran, want)
	}
	for i, j := range inner.jobs {
		if j.Prepare != nil || j.Cleanup != nil || j.Warmup != 0 || j.Dir != job.Dir ||
			!slices.Equal(j.Env, append(job.Env, "ASSAY_SLOT=1")) {
			t.Errorf("run %d is given %+v", i, j)
		}
		measured := i == 3
		if j.ID.Study != "s" || (j.ID == id) != measured || (j.Interval > 0) != measured ||
			(j.Metrics != nil) != measured {
			t.Errorf("run %d of ID %+v has the interval %v and the metrics %v", i, j.ID, j.Interval, j.Metrics)
		}
	}
}

func TestNoHooks(t *testing.T) {
	inner := &script{}
	job := assay.Job{Argv: []string{"job"}, Prepare: []string{}, Cleanup: []string{}}
	if _, err := WithHooks(inner).Run(t.Context(), job, nil); err != nil || !slices.Equal(inner.ran, []string{"job"}) {
		t.Errorf("ran %v, %v", inner.ran, err)
	}
}

// A hook that fails makes a run that failed, with the last that it printed. The clean-up is
// run whatever failed, the run only after its preparation.
func TestFailedHookIsAFailedRun(t *testing.T) {
	for _, tt := range []struct {
		job    assay.Job
		ran    []string
		step   string
		says   string
		stderr string
	}{
		{
			assay.Job{Prepare: []string{"bad"}, Cleanup: []string{"after"}},
			[]string{"bad", "after"},
			"prepare", "prepare exited with code 3: no space", "first\nno space\n",
		},
		{
			assay.Job{Prepare: []string{"bad"}, Cleanup: []string{"bad"}},
			[]string{"bad", "bad"},
			"prepare", "prepare exited with code 3: no space", "first\nno space\n",
		},
		{
			assay.Job{Cleanup: []string{"bad"}},
			[]string{"job", "bad"},
			"cleanup", "cleanup exited with code 3: no space", "of the job",
		},
		{
			assay.Job{Prepare: []string{"missing"}, Warmup: 1},
			[]string{"missing"},
			"prepare", `prepare: program "missing" is not there: file does not exist`, "",
		},
	} {
		inner := &script{}
		tt.job.Argv = []string{"job"}
		m, err := WithHooks(inner).Run(t.Context(), tt.job, nil)
		if f := m.Failure; err != nil || f == nil || f.Step != tt.step || f.Reason != tt.says {
			t.Errorf("got %+v, %v, want %s", m.Failure, err, tt.says)
		} else if want := []string{"first", "no space"}; tt.stderr != "" && !slices.Equal(f.Output, want) {
			t.Errorf("%s: the last lines are %q, want %q", tt.says, f.Output, want)
		}
		if string(m.Stderr) != tt.stderr || len(m.Metrics) > 0 {
			t.Errorf("%s: the output is %q, want %q; metrics %v", tt.says, m.Stderr, tt.stderr, m.Metrics)
		}
		if !slices.Equal(inner.ran, tt.ran) {
			t.Errorf("%s: ran %v, want %v", tt.says, inner.ran, tt.ran)
		}
	}
}

// A cause other than a fault of the hook is an error: a flaw that no configuration can pass, a
// context that is done, a failure that another attempt may pass. A limit is an error too, with the
// failure beside it.
func TestErrorOfAHook(t *testing.T) {
	lost, over := errors.New("lost"), errors.New("over")
	for _, tt := range []struct {
		err, want error
		failed    bool
	}{
		{fmt.Errorf("no group: %w", assay.ErrSetup), assay.ErrSetup, false},
		{lost, lost, false},
		{over, over, false},
		{assay.ErrLimit, assay.ErrLimit, true},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var ran []string
		r := WithHooks(runnerFunc(func(_ context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement,
			error,
		) {
			ran = append(ran, job.Argv[0])
			if tt.err == over {
				cancel(over)
			}
			if job.Argv[0] == "after" {
				return assay.Measurement{}, nil
			}
			return assay.Measurement{Elapsed: time.Second}, tt.err
		}))
		job := assay.Job{Argv: []string{"job"}, Prepare: []string{"before"}, Cleanup: []string{"after"}}
		m, err := r.Run(ctx, job, nil)
		if !errors.Is(err, tt.want) || (m.Failure != nil) != tt.failed {
			t.Errorf("%v: got %+v, %v", tt.err, m.Failure, err)
		}
		if want := []string{"before", "after"}; !slices.Equal(ran, want) {
			t.Errorf("%v: ran %v, want %v", tt.err, ran, want)
		}
		cancel(nil)
	}
}

func TestCleanupAfterCancel(t *testing.T) {
	inner := &script{}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	r := WithHooks(runnerFunc(func(c context.Context, job assay.Job, o func(assay.Measurement)) (assay.Measurement,
		error,
	) {
		if job.Argv[0] == "job" {
			cancel(cause)
		}
		return inner.Run(c, job, o)
	}))
	if _, err := r.Run(ctx, assay.Job{Argv: []string{"job"}, Cleanup: []string{"after"}}, nil); !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
	if want := []string{"job", "after"}; !slices.Equal(inner.ran, want) {
		t.Errorf("ran %v, want %v", inner.ran, want)
	}
}

type runnerFunc func(context.Context, assay.Job, func(assay.Measurement)) (assay.Measurement, error)

func (f runnerFunc) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement,
	error,
) {
	return f(ctx, job, observe)
}
