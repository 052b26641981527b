package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/assay-run/assay"
)

// WithVerify returns a Runner that runs a job's Verify after each run that succeeded, and marks a run with a wrong
// output as failed: Verify exits with another code than 0. It is not measured, and obeys the job's limit and the
// context as the run does. The output of the measurement stays the run's; the Failure, of the step "verify", has the
// last lines of Verify.
//
// It belongs outside of [Metrics] and inside of [WithHooks]: a clean-up may remove the verified files. A warm-up run
// is not verified. Inner is given jobs without a Verify.
func WithVerify(inner assay.Runner) assay.Runner { return verified{inner} }

// verified is stateless and as safe for concurrent use as its inner runner.
type verified struct{ inner assay.Runner }

// Unwrap returns the inner Runner, for a caller that looks for its abilities.
func (v verified) Unwrap() assay.Runner { return v.inner }

// Run implements [assay.Runner].
func (v verified) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	argv := job.Verify
	job.Verify = nil
	m, err := v.inner.Run(ctx, job, observe)
	if err != nil || len(argv) == 0 || m.ExitCode != 0 || m.Failure != nil {
		return m, err
	}
	check := aside(job)
	check.Argv, check.Resources = argv, nil
	r, err := v.inner.Run(ctx, check, nil)
	wrong := func(reason string) {
		m.Failure = assay.NewFailure("verify", reason, r.Stdout, r.Stderr)
	}
	switch {
	case ctx.Err() != nil:
		return m, context.Cause(ctx)
	case errors.Is(err, assay.ErrLimit):
		wrong(fmt.Sprintf("verify: time limit of %v reached", r.Elapsed.Round(time.Millisecond)))
		return m, err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		wrong("verify: " + err.Error())
	case err != nil:
		return m, err
	case r.ExitCode != 0:
		wrong("wrong output: verify " + lastWords(r))
	}
	return m, nil
}
