package run

import (
	"context"
	"fmt"

	"github.com/assay-run/assay"
)

// WithHooks returns a Runner that surrounds each run of inner by what its job
// asks for, as hyperfine does; nothing of it is measured:
//
//   - Prepare is run before everything else, Cleanup after it, whatever became
//     of the run. One that fails is an error that matches [assay.ErrSetup].
//   - The job itself is run Warmup times before the run that is measured. A
//     warm-up run that fails is no error.
//
// All of them obey the job's limit and the context as the run does. They have
// the job's ID without an attempt. Inner is given jobs without these fields.
func WithHooks(inner assay.Runner) assay.Runner { return hooked{inner} }

// hooked is stateless and as safe for concurrent use as its inner runner.
type hooked struct{ inner assay.Runner }

// Run implements [assay.Runner].
func (h hooked) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (m assay.Measurement,
	err error,
) {
	// If the preparation fails, or a warm-up run cannot be run, there is no clean-up.
	prepare, cleanup, warmup := job.Prepare, job.Cleanup, job.Warmup
	job.Prepare, job.Cleanup, job.Warmup = nil, nil, 0
	if err := h.hook(ctx, "prepare", prepare, job); err != nil {
		return m, err
	}
	for range warmup {
		if m, err = h.inner.Run(ctx, aside(job), nil); err != nil {
			return m, err
		}
	}
	m, err = h.inner.Run(ctx, job, observe)
	// The clean-up runs even if the run was cancelled.
	if e := h.hook(context.WithoutCancel(ctx), "cleanup", cleanup, job); e != nil && err == nil {
		err = e
	}
	return m, err
}

// aside returns a job as a run that is neither measured nor observed, and that
// its ID does not name.
func aside(job assay.Job) assay.Job {
	job.ID.Attempt, job.Interval, job.Metrics = 0, 0, nil
	return job
}

// hook runs one command beside the run. A context that is done is not an error of the set-up:
// the cause is returned as it is.
func (h hooked) hook(ctx context.Context, name string, argv []string, job assay.Job) error {
	if len(argv) == 0 {
		return nil
	}
	job = aside(job)
	job.Argv = argv
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
