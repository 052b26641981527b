package run

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// script is a Runner that records what it is asked to run, and fails "bad".
type script struct {
	ran  []string
	jobs []assay.Job
}

func (s *script) Run(ctx context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	s.ran, s.jobs = append(s.ran, job.Argv[0]), append(s.jobs, job)
	if job.Argv[0] == "bad" {
		return assay.Measurement{ExitCode: 3, Stderr: []byte("first\nno space\n")}, nil
	}
	return assay.Measurement{}, context.Cause(ctx)
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
		if j.Prepare != nil || j.Cleanup != nil || j.Warmup != 0 || j.Dir != job.Dir || !slices.Equal(j.Env, job.Env) {
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

func TestFailedHookEndsTheStudy(t *testing.T) {
	for _, tt := range []struct {
		job  assay.Job
		ran  []string
		says string
	}{
		{
			assay.Job{Prepare: []string{"bad"}, Cleanup: []string{"after"}},
			[]string{"bad"},
			"prepare exited with code 3: no space",
		},
		{assay.Job{Cleanup: []string{"bad"}}, []string{"job", "bad"}, "cleanup exited with code 3: no space"},
	} {
		inner := &script{}
		tt.job.Argv = []string{"job"}
		_, err := WithHooks(inner).Run(t.Context(), tt.job, nil)
		if want := "a run could not be set up: " + tt.says; !errors.Is(err, assay.ErrSetup) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if !slices.Equal(inner.ran, tt.ran) {
			t.Errorf("ran %v, want %v", inner.ran, tt.ran)
		}
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
