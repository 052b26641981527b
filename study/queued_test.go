package study_test

import (
	"context"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
)

// queued is a Runner each of whose runs waits, and then takes a while. A run that is ended while it waits has
// measured nothing.
type queued struct {
	waits, lasts time.Duration
	says         bool // that runs wait
}

func (q queued) Queues() bool { return q.says }

func (q queued) Run(ctx context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	select {
	case <-time.After(q.waits):
	case <-ctx.Done():
		return assay.Measurement{}, context.Cause(ctx)
	}
	began := time.Now()
	lasts, err := q.lasts, error(nil)
	if job.Limit > 0 && job.Limit < lasts {
		lasts, err = job.Limit, assay.ErrLimit
	}
	select {
	case <-time.After(lasts):
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return assay.Measurement{Elapsed: time.Since(began)}, err
}

// A budget of time is the clock's, also if runs wait for others: when it is spent, a run that waits is taken back,
// and made when the study goes on; one that runs is stopped. The control is a Runner that does not report that its
// runs wait.
func TestBudgetWhileRunsWait(t *testing.T) {
	const budget = 10 * time.Minute
	for _, tt := range []struct {
		name         string
		waits, lasts time.Duration
		silent       bool
		parallel     int
		done, cut    int
		overrun      bool
	}{
		{name: "all wait", waits: time.Hour, lasts: time.Minute, parallel: 1},
		{name: "some have run", waits: 3 * time.Minute, lasts: time.Minute, parallel: 1, done: 2},
		{name: "one runs", waits: 5 * time.Minute, lasts: time.Hour, parallel: 1, cut: 1},
		{name: "several run", waits: 5 * time.Minute, lasts: time.Hour, parallel: 3, cut: 3},
		{
			name: "nobody knows that they wait", waits: time.Hour, lasts: time.Minute, parallel: 1, silent: true, done: 1,
			overrun: true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				mem := store.NewMem()
				s := newStudy(t, mem, 6)
				s.Parallel, s.Stopper = tt.parallel, nil
				s.Searcher = search.NewRandom(s.Space, 3)
				s.Budget.Time, s.Runner = budget, queued{tt.waits, tt.lasts, !tt.silent}
				r := mustRun(t, s)
				done, cut := 0, 0
				for _, k := range r.Trials {
					switch {
					case k.State == assay.Done:
						done++
					case k.State == assay.Censored && k.Measurement.Elapsed == budget-tt.waits:
						cut++
					default:
						t.Errorf("trial %d: %v after %v", k.ID, k.State, k.Measurement.Elapsed)
					}
				}
				if r.EndedBy != "budget" || done != tt.done || cut != tt.cut || r.Spent > budget != tt.overrun {
					t.Errorf("ended by %s after %v, with %d done and %d cut", r.EndedBy, r.Spent, done, cut)
				}
				s = newStudy(t, mem, 6)
				s.Parallel, s.Stopper = tt.parallel, nil
				s.Searcher = search.NewRandom(s.Space, 3)
				s.Runner = queued{time.Second, time.Second, true}
				if r = mustRun(t, s); len(r.Trials) != 6 {
					t.Errorf("with more time %d trials", len(r.Trials))
				}
			})
		})
	}
}
