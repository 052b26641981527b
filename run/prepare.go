package run

import (
	"context"
	"fmt"

	"github.com/assay-run/assay"
)

// Hooks are what surrounds each run of a command, as in hyperfine: nothing of
// it is measured.
type Hooks struct {
	// Prepare returns the command to run before a job, Cleanup the one to run
	// after it, whatever became of it; nil, or a nil argv, means none.
	Prepare, Cleanup func(job assay.Job) (argv []string)
	Warmup           int // runs of the job itself before the one that is measured
}

// WithHooks returns a Runner that surrounds each run of inner by the hooks. A
// hook that fails is an error that matches assay.ErrSetup; a warm-up run that
// fails is not. Hooks obey the job's limit and the context as the job does.
func WithHooks(inner assay.Runner, h Hooks) assay.Runner { return &hooked{inner, h} }

type hooked struct {
	inner assay.Runner
	Hooks
}

// Run implements [assay.Runner].
func (h *hooked) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (m assay.Measurement, err error) {
	if err := h.hook(ctx, "prepare", h.Prepare, job); err != nil {
		return m, err
	}
	for range h.Warmup {
		warm := job
		warm.Interval = 0
		if m, err = h.inner.Run(ctx, warm, nil); err != nil {
			return m, err
		}
	}
	m, err = h.inner.Run(ctx, job, observe)
	// The clean-up runs even if the run was cancelled.
	if e := h.hook(context.WithoutCancel(ctx), "cleanup", h.Cleanup, job); e != nil && err == nil {
		err = e
	}
	return m, err
}

func (h *hooked) hook(ctx context.Context, name string, argv func(assay.Job) []string, job assay.Job) error {
	if argv == nil {
		return nil
	}
	command := argv(job)
	if len(command) == 0 {
		return nil
	}
	job.Argv, job.Interval = command, 0
	m, err := h.inner.Run(ctx, job, nil)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", assay.ErrSetup, name, err)
	}
	if m.ExitCode != 0 {
		return fmt.Errorf("%w: %s exited with code %d: %s", assay.ErrSetup, name, m.ExitCode, assay.LastLine(m.Stderr))
	}
	return nil
}
