package main

import (
	"context"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/run"
)

// withMetrics returns a Runner that adds the metrics of the study, whose files
// may depend on the configuration.
func (p *problem) withMetrics(inner assay.Runner) (assay.Runner, error) {
	for _, m := range p.study.Metrics {
		if _, err := assay.ParseMetricSource(m.Name, m.Source); err != nil {
			return nil, usageError(err)
		}
	}
	return &metered{inner: inner, p: p, parsed: map[string]assay.MetricSource{}}, nil
}

// metered measures with the sources of each job's own configuration.
type metered struct {
	inner assay.Runner
	p     *problem

	mu     sync.Mutex
	parsed map[string]assay.MetricSource // by name and text
}

// Run implements [assay.Runner].
func (m *metered) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	sources, err := m.sources(job.Config)
	if err != nil {
		return assay.Measurement{}, err
	}
	missing := map[string]string{}
	r := run.Metrics(m.inner, sources)
	r.Missed = func(_ assay.Job, e *run.MetricError) { missing[e.Metric] = e.Err.Error() }
	got, err := r.Run(ctx, job, observe)
	if len(missing) > 0 {
		got.Missing = missing
	}
	return got, err
}

func (m *metered) sources(c assay.Config) ([]assay.MetricSource, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var sources []assay.MetricSource
	for _, of := range m.p.program.Metrics(c) {
		key := of.Name + "=" + of.Source
		s, ok := m.parsed[key]
		if !ok {
			var err error
			if s, err = assay.ParseMetricSource(of.Name, of.Source); err != nil {
				return nil, err
			}
			m.parsed[key] = s
		}
		sources = append(sources, s)
	}
	return sources, nil
}
