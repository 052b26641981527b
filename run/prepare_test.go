package run

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// script is a Runner that records what it is asked to run, and fails "bad".
type script struct{ ran []string }

func (s *script) Run(ctx context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	s.ran = append(s.ran, job.Argv[0])
	if job.Argv[0] == "bad" {
		return assay.Measurement{ExitCode: 3, Stderr: []byte("first\nno space\n")}, nil
	}
	return assay.Measurement{}, context.Cause(ctx)
}

func hook(argv ...string) func(assay.Job) []string {
	return func(assay.Job) []string { return argv }
}

func TestHooksSurroundARun(t *testing.T) {
	inner := &script{}
	r := WithHooks(inner, Hooks{Prepare: hook("before"), Cleanup: hook("after"), Warmup: 2})
	if _, err := r.Run(t.Context(), assay.Job{Argv: []string{"job"}}, nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{"before", "job", "job", "job", "after"}; !slices.Equal(inner.ran, want) {
		t.Errorf("ran %v, want %v", inner.ran, want)
	}
}

func TestFailedHookEndsTheStudy(t *testing.T) {
	inner := &script{}
	r := WithHooks(inner, Hooks{Prepare: hook("bad")})
	_, err := r.Run(t.Context(), assay.Job{Argv: []string{"job"}}, nil)
	if want := "a run could not be set up: prepare exited with code 3: no space"; !errors.Is(err, assay.ErrSetup) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if !slices.Equal(inner.ran, []string{"bad"}) {
		t.Errorf("ran %v after a failed hook", inner.ran)
	}
}

func TestCleanupAfterCancel(t *testing.T) {
	inner := &script{}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	r := WithHooks(runnerFunc(func(c context.Context, job assay.Job, o func(assay.Measurement)) (assay.Measurement, error) {
		if job.Argv[0] == "job" {
			cancel(cause)
		}
		return inner.Run(c, job, o)
	}), Hooks{Cleanup: hook("after")})
	if _, err := r.Run(ctx, assay.Job{Argv: []string{"job"}}, nil); !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
	if want := []string{"job", "after"}; !slices.Equal(inner.ran, want) {
		t.Errorf("ran %v, want %v", inner.ran, want)
	}
}

type runnerFunc func(context.Context, assay.Job, func(assay.Measurement)) (assay.Measurement, error)

func (f runnerFunc) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	return f(ctx, job, observe)
}
