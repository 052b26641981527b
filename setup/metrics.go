package setup

import (
	"context"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/run"
)

// withMetrics returns a Runner that adds the metrics of the study, whose files
// may depend on the configuration.
func (p *Problem) withMetrics(inner assay.Runner) (assay.Runner, error) {
	for _, m := range p.Definition.Metrics {
		if _, err := assay.ParseMetricSource(m.Name, m.Source); err != nil {
			return nil, usageError(err)
		}
	}
	return &metered{inner: inner, p: p, parsed: map[string]assay.MetricSource{}}, nil
}

// metered measures with the sources of each job's own configuration.
type metered struct {
	inner assay.Runner
	p     *Problem

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
	for _, of := range m.p.Program.Metrics(c) {
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

// withHooks returns a Runner with what is run before and after each measured run.
func (p *Problem) withHooks(r assay.Runner) assay.Runner {
	hooks := run.Hooks{Warmup: p.Definition.Warmup}
	if len(p.Definition.Prepare.Argv) > 0 {
		hooks.Prepare = func(j assay.Job) []string { return p.Program.Prepare(j.Config) }
	}
	if len(p.Definition.Cleanup.Argv) > 0 {
		hooks.Cleanup = func(j assay.Job) []string { return p.Program.Cleanup(j.Config) }
	}
	if hooks.Prepare != nil || hooks.Cleanup != nil || hooks.Warmup > 0 {
		r = run.WithHooks(r, hooks)
	}
	return r
}
