package batch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/batch"
	"github.com/assay-run/assay/internal/testbed"
)

// One query for all jobs, two a minute at most and fewer with many jobs, and one job is submitted a second.
func TestPolite(t *testing.T) {
	sizes := []int{1, 100}
	var all []string
	if os.Getenv("ASSAY_SOAK") != "" {
		sizes = append(sizes, 5000)
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := realTime()
				all = append(all, polite(t, n, func(c *cluster) batch.System { return c }, nil))
				t.Logf("%d jobs took %v on this machine", n, realTime().Sub(before).Round(time.Millisecond))
			})
		})
	}
	t.Logf("counted: %s", strings.Join(all, "; "))
}

// A runner that asks, submits or cancels more often is seen.
func TestPoliteControl(t *testing.T) {
	whole := func(c *cluster) batch.System { return c }
	for what, rig := range map[string]func(testing.TB){
		"a query in five seconds": func(t testing.TB) {
			polite(t, 3, whole, func(o *batch.Options) { o.Poll = 5 * time.Second })
		},
		"ten jobs a second": func(t testing.TB) {
			polite(t, 3, whole, func(o *batch.Options) { o.Gap = time.Second / 10 })
		},
		"a command for each job": func(t testing.TB) {
			polite(t, 30, func(c *cluster) batch.System { return each{c} }, nil)
		},
	} {
		synctest.Test(t, func(t *testing.T) { testbed.Fails(t, what, rig) })
	}
}

// each is a system that takes one job at a time.
type each struct{ *cluster }

func (e each) Cancel(ctx context.Context, jobs ...batch.Job) error {
	for _, j := range jobs {
		if err := e.cluster.Cancel(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// polite keeps n jobs waiting for 100 minutes and cancels them. It fails unless the system was asked twice in any
// minute at most, had a second for each job, and few commands in all; it returns the counts.
func polite(t testing.TB, n int, as func(*cluster) batch.System, change func(*batch.Options)) string {
	t.Helper()
	c := newCluster(newSleeper())
	c.onSubmit = func(int) fault { return fault{never: true} }
	r, err := open(as(c), t.TempDir(), change)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	var wg sync.WaitGroup
	for trial := range n {
		wg.Go(func() { _, _ = r.Run(ctx, work(int64(trial+1), time.Hour, 0), nil) })
	}
	time.Sleep(100 * time.Minute)
	synctest.Wait()
	c.mu.Lock() // a poll may be about to begin
	minutes := time.Since(began).Minutes()
	polls := float64(c.polls+c.asks+c.cancels+c.lowers) / minutes
	if polls > 2 || c.submits != n {
		t.Errorf("%.2f queries a minute, %d submissions", polls, c.submits)
	}
	if most := atOnce(c.asked, time.Minute); most > 2 {
		t.Errorf("%d queries in a minute", most)
	}
	if most := atOnce(c.sent, time.Second); most > 1 {
		t.Errorf("%d submissions in a second", most)
	}
	c.mu.Unlock()
	cancel()
	wg.Wait()
	if err := r.Close(); err != nil || c.cancels > n/1000+2 {
		t.Errorf("cancelling took %d commands, %v", c.cancels, err)
	}
	if left := c.alive(); left > 0 {
		t.Errorf("%d jobs are left", left)
	}
	return fmt.Sprintf("%d jobs: %.2f queries a minute, %d submitted in %.0f minutes, cancelled by %d commands",
		n, polls, c.submits, minutes, c.cancels)
}

// atOnce returns how many of the times, which go up, are within a span at the most.
func atOnce(times []time.Time, span time.Duration) (most int) {
	first := 0
	for i, at := range times {
		for at.Sub(times[first]) >= span {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// realTime returns the time of the machine while the time of a test is simulated.
func realTime() time.Time {
	var t syscall.Timeval
	if syscall.Gettimeofday(&t) != nil {
		return time.Time{}
	}
	return time.Unix(t.Unix())
}

// When a controller forgets all jobs the accounting is asked once for all of them; when a better trial is found all
// jobs that wait are lowered by one command.
func TestPoliteTogether(t *testing.T) {
	n := 60
	if os.Getenv("ASSAY_SOAK") != "" {
		n = 2000
	}
	for _, lost := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(newSleeper())
			c.onSubmit = func(int) fault { return fault{never: true} }
			var least atomic.Int64
			least.Store(int64(10 * time.Minute))
			r, err := open(c, t.TempDir(), func(o *batch.Options) {
				o.Request = func(assay.Job) (batch.Request, error) {
					return batch.Request{Walltime: time.Duration(least.Load())}, nil
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			var gone atomic.Int64
			for trial := range n {
				wg.Go(func() {
					if _, err := r.Run(ctx, work(int64(trial+1), time.Hour, 0), nil); errors.Is(err, assay.ErrLost) {
						gone.Add(1)
					}
				})
			}
			time.Sleep(time.Duration(n)*time.Second + 2*time.Minute + 10*time.Second) // between two queries
			most := (n + 499) / 500
			if lost {
				c.set2(func() {
					for _, j := range c.jobs {
						j.gone = true
					}
					c.noRecord = true
				})
				time.Sleep(30 * time.Minute)
				c.mu.Lock()
				if int(gone.Load()) != n || c.asks > most || len(c.finds) != n {
					t.Errorf("%d of %d are lost; %d questions about %d jobs", gone.Load(), n, c.asks, len(c.finds))
				}
				c.mu.Unlock()
			} else {
				least.Store(int64(4 * time.Minute))
				time.Sleep(10 * time.Minute)
				c.mu.Lock()
				for _, j := range c.jobs {
					if j.req.Walltime != 4*time.Minute {
						t.Fatalf("%s has %v", j.Name, j.req.Walltime)
					}
				}
				if c.lowers > most {
					t.Errorf("%d commands for %d jobs", c.lowers, n)
				}
				c.mu.Unlock()
			}
			cancel()
			wg.Wait()
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
