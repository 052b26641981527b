package run

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// A live is the metrics of one run that are found while it goes on. Its methods may be called while the
// observer is.
type live struct {
	r       metered
	sources []assay.MetricSource
	job     assay.Job // without metrics
	before  []stamp

	mu     sync.Mutex
	last   map[string]float64
	polled []time.Time // by source; zero until then
}

// polls reports whether any source is found while a run goes on.
func polls(sources []assay.MetricSource) bool {
	for _, s := range sources {
		if s.Poll > 0 {
			return true
		}
	}
	return false
}

// pollLimit is the longest time that a command may take which is run while a run goes on, unless it is
// run less often than that: one that hangs must not hold up the end of the run for long.
const pollLimit = 2 * time.Second

// observer returns a callback that adds the metrics to each observation before it goes to observe, which
// may be nil. A metric that cannot be found yet is absent; one that was found earlier keeps its value. A
// source is found at most every Poll, and at most once each observation.
func (l *live) observer(ctx context.Context, observe func(assay.Measurement)) func(assay.Measurement) {
	return func(m assay.Measurement) {
		for i, s := range l.sources {
			if s.Poll <= 0 || time.Since(l.polled[i]) < s.Poll {
				continue
			}
			l.polled[i] = time.Now()
			job := l.job
			job.Limit = max(s.Poll, pollLimit)
			x, err := l.r.measure(ctx, s, job, m, l.before[i])
			if err == nil {
				l.mu.Lock()
				l.last[s.Name] = x
				l.mu.Unlock()
			}
		}
		m.Stdout, m.Stderr = nil, nil
		l.add(&m)
		if observe != nil && ctx.Err() == nil {
			observe(m)
		}
	}
}

// add adds the values that were found last to a measurement.
func (l *live) add(m *assay.Measurement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) == 0 {
		return
	}
	m.Metrics = maps.Clone(m.Metrics)
	if m.Metrics == nil {
		m.Metrics = map[string]float64{}
	}
	maps.Copy(m.Metrics, l.last)
}
