package run

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestSingle(t *testing.T) {
	newRunner := func() assay.Runner { return Single(newLocal(t, LocalOptions{})) }
	assaytest.TestRunner(t, newRunner, assaytest.RunnerOptions{})
}

func TestSingleTakesTurns(t *testing.T) {
	var busy, most atomic.Int32
	r := Single(runnerFunc(func(context.Context, assay.Job, func(assay.Measurement)) (assay.Measurement, error) {
		most.Store(max(most.Load(), busy.Add(1)))
		busy.Add(-1)
		return assay.Measurement{}, nil
	}))
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := r.Run(t.Context(), assay.Job{}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	if wg.Wait(); most.Load() != 1 {
		t.Errorf("%d ran at once", most.Load())
	}
}
