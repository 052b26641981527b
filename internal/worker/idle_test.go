package worker_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/worker"
)

// A worker without a task ends; one that runs something does not, however long that takes.
func TestIdle(t *testing.T) {
	for _, c := range []struct {
		tasks int
		lasts time.Duration
	}{{0, 2 * time.Minute}, {1, 12 * time.Minute}, {2, 22 * time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			var tasks []queue.Task
			for i := range c.tasks {
				tasks = append(tasks, task(i+1))
			}
			s, p, out := newServer(tasks...), &program{takes: 10 * time.Minute}, &output{}
			o := options(t, s, p, out)
			o.Idle = 2 * time.Minute
			began := time.Now()
			if err := worker.Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < c.lasts || took > c.lasts+time.Minute {
				t.Errorf("%d tasks: it ended after %v", c.tasks, took)
			}
			if n := len(s.outcomes()); n != c.tasks {
				t.Errorf("%d outcomes of %d", n, c.tasks)
			}
			if !strings.Contains(out.String(), "there was nothing to run for 2m0s") {
				t.Errorf("it says:\n%s", out)
			}
		})
	}
}
