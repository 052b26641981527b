package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/assay-run/assay"
)

// WithHooks returns a Runner that surrounds each run of inner by what its job
// asks for, as hyperfine does; nothing of it is measured:
//
//   - Prepare is run before everything else, Cleanup after it, whatever became
//     of the run.
//   - The job itself is run Warmup times before the run that is measured. A
//     warm-up run that fails is no error.
//
// A command that fails, is not there, or reaches the limit makes a run that failed:
// Measurement.Failure says how, and at which step, "prepare" or "cleanup". If that is
// Prepare, nothing else is run, and the output is that of Prepare; Cleanup is run
// nevertheless, since Prepare may have made half of what it was to make.
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
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	prepare, cleanup := job.Prepare, job.Cleanup
	job.Prepare, job.Cleanup = nil, nil
	m, err = h.hook(ctx, "prepare", prepare, job)
	if err == nil && m.Failure == nil {
		m, err = h.warm(ctx, job, observe)
	}
	// The clean-up runs even if the run was cancelled.
	after, e := h.hook(context.WithoutCancel(ctx), "cleanup", cleanup, job)
	switch {
	case err != nil || m.Failure != nil: // it came first
	case e != nil && after.Failure == nil:
		err = e
	case after.Failure != nil:
		m.Failure = after.Failure // the output stays that of the run
	}
	return m, err
}

// warm runs the job Warmup times and then once more, which is measured.
func (h hooked) warm(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	warmup := job.Warmup
	job.Warmup = 0
	for range warmup {
		if m, err := h.inner.Run(ctx, aside(job), nil); err != nil {
			return m, err
		}
	}
	return h.inner.Run(ctx, job, observe)
}

// aside returns a job as a run that is neither measured nor observed, and that
// its ID does not name.
func aside(job assay.Job) assay.Job {
	job.ID.Attempt, job.Interval, job.Metrics, job.Warmup = 0, 0, nil, 0
	return job
}

// hook runs one command beside the run. What it measures is dropped; what is left is the
// output and the failure of a command that failed. The error is the cause of a context that is
// done, [assay.ErrLimit] together with a failure, or what another attempt may pass.
func (h hooked) hook(ctx context.Context, step string, argv []string, job assay.Job) (assay.Measurement, error) {
	if len(argv) == 0 {
		return assay.Measurement{}, nil
	}
	job = aside(job)
	job.Argv = argv
	m, err := h.inner.Run(ctx, job, nil)
	out := assay.Measurement{Stdout: m.Stdout, Stderr: m.Stderr}
	switch {
	case ctx.Err() != nil:
		return assay.Measurement{}, context.Cause(ctx)
	case errors.Is(err, assay.ErrLimit):
		out.Failure = assay.NewFailure(step, fmt.Sprintf("%s: time limit of %v reached", step,
			m.Elapsed.Round(time.Millisecond)), m.Stdout, m.Stderr)
		return out, err
	case errors.Is(err, assay.ErrSetup):
		return out, err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		out.Failure = assay.NewFailure(step, step+": "+err.Error(), nil, nil)
	case err != nil:
		return out, fmt.Errorf("%s: %w", step, err)
	case m.ExitCode != 0:
		out.Failure = assay.NewFailure(step, step+" "+lastWords(m), m.Stdout, m.Stderr)
	}
	return out, nil
}

// lastWords says how a command ended, with the last that it said.
func lastWords(m assay.Measurement) string {
	how := fmt.Sprintf("exited with code %d", m.ExitCode)
	if m.Signal != "" {
		how = "was ended by " + m.Signal
	}
	last := assay.LastLine(m.Stderr)
	if last == "" {
		last = assay.LastLine(m.Stdout)
	}
	if last != "" {
		how += ": " + last
	}
	return how
}
