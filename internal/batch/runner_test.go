package batch_test

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/batch"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/run"
)

// A Runner whose shims are in this process and run commands by run.Local keeps the whole contract of a Runner.
func TestRunner(t *testing.T) {
	testbed.Outside(t)
	local, err := run.NewLocal(run.LocalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	assaytest.TestRunner(t, func() assay.Runner {
		c := newCluster(local)
		c.delay = 0
		s := &studies{c: c, dir: t.TempDir(), by: map[string]*batch.Runner{}}
		t.Cleanup(func() {
			for _, r := range s.by {
				r.Close()
			}
			c.wg.Wait()
		})
		return s
	}, assaytest.RunnerOptions{Detaches: true, Once: true})
}

// studies makes each run by the Runner of its study, which is opened with its first run.
type studies struct {
	c   *cluster
	dir string
	mu  sync.Mutex
	by  map[string]*batch.Runner
}

func (s *studies) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	name := cmp.Or(job.ID.Study, "none")
	s.mu.Lock()
	r := s.by[name]
	if r == nil {
		var err error
		r, err = batch.New(batch.Options{
			System: s.c, Dir: filepath.Join(s.dir, "study", filepath.Base(name)+string(rune('a'+len(s.by)))),
			Shim: []string{"shim"},
			Poll: 100 * time.Millisecond, Look: 10 * time.Millisecond, Every: 10 * time.Millisecond, Gap: time.Millisecond,
		})
		if err != nil {
			s.mu.Unlock()
			return assay.Measurement{}, err
		}
		s.by[name] = r
	}
	s.mu.Unlock()
	return r.Run(ctx, job, observe)
}

// A path that jobs could not find is refused.
func TestNewRefuses(t *testing.T) {
	for _, dir := range []string{"relative", "/tmp/with\nbreak"} {
		if _, err := batch.New(batch.Options{Dir: dir}); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

var errStopped = errors.New("seen enough")
