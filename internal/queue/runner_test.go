package queue_test

import (
	"cmp"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/run"
)

// A Runner of the fleet, whose worker is in this process and runs commands by run.Local,
// keeps the whole contract of a Runner.
func TestRunner(t *testing.T) {
	testbed.Outside(t)
	local, err := run.NewLocal(run.LocalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	assaytest.TestRunner(t, func() assay.Runner {
		carrier := queue.NewMemory(2 * time.Second)
		f := queue.New(carrier, queue.Options{Lease: 2 * time.Second, Beat: 20 * time.Millisecond})
		f.Ready()
		begin(t, func(ctx context.Context) { f.Serve(ctx) })
		w := &fakeWorker{
			Worker:  queue.Worker{ID: "w", Slots: 8, Apps: []string{queue.Commands}},
			control: f, carrier: carrier, runner: local,
		}
		begin(t, w.serve)
		return &studies{f: f, by: map[string]*queue.Runner{}}
	}, assaytest.RunnerOptions{Detaches: true, Once: true})
}

// studies makes each run by the Runner of its study, which joins with its first run.
type studies struct {
	f  *queue.Fleet
	mu sync.Mutex
	by map[string]*queue.Runner
}

func (s *studies) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	name := cmp.Or(job.ID.Study, "none")
	s.mu.Lock()
	r := s.by[name]
	if r == nil {
		var err error
		if r, err = s.f.Join(queue.Study{Name: name, Record: &journal{}}); err != nil {
			s.mu.Unlock()
			return assay.Measurement{}, err
		}
		s.by[name] = r
	}
	s.mu.Unlock()
	return r.Run(ctx, job, observe)
}
