package study_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stop"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// A trainer reports a loss every second, for 20: it falls towards x/40.
type trainer struct{}

func (trainer) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	curve := &assay.Curve{Metric: "loss"}
	m := func() assay.Measurement {
		n := len(curve.Value)
		out := assay.Measurement{Elapsed: time.Duration(n) * time.Second, Metrics: map[string]float64{}, Curve: curve.Clone()}
		if n > 0 {
			out.Metrics["loss"] = curve.Value[n-1]
		}
		return out
	}
	for s := 1; s <= 20; s++ {
		select {
		case <-ctx.Done():
			return m(), context.Cause(ctx)
		case <-time.After(time.Second):
		}
		x := job.Config[0] / 40
		curve.Add(s, time.Duration(s)*time.Second, x+(1-x)/float64(s))
		if observe != nil {
			observe(m())
		}
	}
	return m(), nil
}

func TestRunsAreStoppedByTheirCurve(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		start := func(trials int) *study.Study {
			s := newStudy(t, st, trials)
			s.Goal = assay.Goal{Metric: "loss"}
			s.Runner, s.Stopper, s.Race = trainer{}, stop.Curve{}, true
			s.Searcher = search.ImputeStopped(search.NewRandom(s.Space, 1))
			return s
		}
		r := mustRun(t, start(25))
		best, _ := assay.Best(r.Trials)
		stopped := 0
		for _, tr := range r.Trials {
			if tr.State != assay.Censored {
				if tr.Measurement.Curve.Last() != 20 {
					t.Errorf("trial %d has a curve of %d reports", tr.ID, tr.Measurement.Curve.Last())
				}
				continue
			}
			stopped++
			c := tr.Measurement.Curve
			if !tr.Decision.Last || !(tr.Decision.Predicted > best.Value) || tr.Value != c.Value[len(c.Value)-1] ||
				tr.Decision.At >= 20*time.Second || !strings.Contains(tr.Reason, "the last that was reported") {
				t.Errorf("trial %d: %v, %+v", tr.ID, tr.Value, tr.Decision)
			}
			if end := tr.Config[0]/40 + (1-tr.Config[0]/40)/20; !(math.Abs(tr.Decision.Predicted-end) <= 0.15*end) {
				t.Errorf("trial %d was predicted to end at %v, and would have at %v", tr.ID, tr.Decision.Predicted, end)
			}
		}
		if stopped < 5 {
			t.Errorf("%d of 25 runs were stopped", stopped)
		}
		// The record has all of it: a session that resumes replays it, and goes on.
		if r := mustRun(t, start(30)); len(r.Trials) != 30 || r.Replayed != 25 {
			t.Errorf("%d trials, %d replayed", len(r.Trials), r.Replayed)
		}
	})
}
