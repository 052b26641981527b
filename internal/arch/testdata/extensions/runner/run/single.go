package run

import (
	"context"

	"github.com/assay-run/assay"
)

// Single returns a Runner that runs the jobs of inner one at a time, whatever a study asks for:
// for programs that need something of which the machine has one, such as a GPU or a licence. A
// job that waits for its turn is neither measured nor limited yet.
func Single(inner assay.Runner) assay.Runner { return &single{inner, make(chan struct{}, 1)} }

type single struct {
	inner assay.Runner
	turn  chan struct{} // full while a job runs
}

var _ assay.Capacitor = (*single)(nil)

// Capacity implements [assay.Capacitor].
func (*single) Capacity() int { return 1 }

// Run implements [assay.Runner].
func (s *single) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return assay.Measurement{}, context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	return s.inner.Run(ctx, job, observe)
}
