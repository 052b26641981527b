package run

import (
	"bytes"
	"context"
	"maps"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// A live is the metrics of one run that are found while it goes on. Its methods may be called while the observer is.
type live struct {
	r       metered
	sources []assay.MetricSource
	job     assay.Job // without metrics
	before  []stamp

	mu     sync.Mutex
	last   map[string]float64
	polled []time.Time  // by source; zero until then
	curve  *assay.Curve // of the source with one; nil before its first point
	file   stamp        // of the file of that source, when it was read last
}

// newLive returns the follower of a run with these sources, nil if none is to be read during the run.
func newLive(r metered, sources []assay.MetricSource, job assay.Job, before []stamp) *live {
	if !polls(sources) {
		return nil
	}
	return &live{
		r: r, sources: sources, job: job, before: before, last: map[string]float64{},
		polled: make([]time.Time, len(sources)),
	}
}

// polls reports whether any source is found while a run goes on.
func polls(sources []assay.MetricSource) bool {
	for _, s := range sources {
		if s.Poll > 0 || s.Curve {
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
				l.follow(s, m, x, false)
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

// follow adds the new points of its source to the curve, x at last. During a run the last line of its output may be
// half of one, and waits. The lock is held.
func (l *live) follow(s assay.MetricSource, m assay.Measurement, x float64, ended bool) {
	if !s.Curve {
		return
	}
	if l.curve == nil {
		l.curve = &assay.Curve{Metric: s.Name}
	}
	switch output := m.Stdout; s.Kind {
	case assay.FromStderr:
		output = m.Stderr
		fallthrough
	case assay.FromStdout:
		if !ended {
			output = output[:bytes.LastIndexByte(output, '\n')+1]
		}
		for i, match := range s.Pattern.FindAllSubmatchIndex(output, -1) {
			if i < l.curve.Last() || match[2] < 0 {
				continue
			}
			if v, err := number(string(output[match[2]:match[3]])); err == nil {
				l.curve.Add(i+1, m.Elapsed, v)
			}
		}
	default:
		if now := stampOf(inDir(l.job.Dir, s.File)); now != l.file {
			l.file = now
			l.curve.Add(l.curve.Last()+1, m.Elapsed, x)
		}
	}
}

// ended adds the curve to the measurement of a run that has ended by itself, with its last report.
func (l *live) ended(m *assay.Measurement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sources {
		if x, ok := m.Metrics[s.Name]; ok {
			l.follow(s, *m, x, true)
		}
	}
	if l.curve.Last() > 0 {
		m.Curve = l.curve
	}
}

// add adds the values that were found last to a measurement.
func (l *live) add(m *assay.Measurement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.curve.Last() > 0 {
		m.Curve = l.curve.Clone()
	}
	if len(l.last) == 0 {
		return
	}
	m.Metrics = maps.Clone(m.Metrics)
	if m.Metrics == nil {
		m.Metrics = map[string]float64{}
	}
	maps.Copy(m.Metrics, l.last)
}
