package spec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/expr"
)

// CheckMetric returns nil if the runs of the study may have the metric, else an error that lists the metrics they
// have.
func (s *Study) CheckMetric(metric string) error {
	known := s.metricNames()
	if slices.Contains(known, metric) {
		return nil
	}
	return errors.New(unknownMetric(metric, known))
}

// Grows reports whether a metric of that name can only grow while a run goes
// on: elapsed, user, system, cpu, energy, read_bytes, write_bytes, cost and cpu_hours.
func Grows(metric string) bool {
	switch metric {
	case "elapsed", "user", "system", "cpu", "energy", "read_bytes", "write_bytes", "cost", "cpu_hours":
		return true
	}
	return false
}

// grows is [Grows] of a metric of the study, which may declare it itself.
func (s *Study) grows(metric string) bool {
	return Grows(metric) || slices.ContainsFunc(s.Metrics, func(m Metric) bool { return m.Name == metric && m.Grows })
}

// metricNames returns the metrics that the runs of the study may have.
func (s *Study) metricNames() []string {
	var names []string
	if s.Replay != nil {
		for m := range s.Replay.Metrics {
			names = append(names, m)
		}
		slices.Sort(names)
		if !slices.Contains(names, "elapsed") {
			names = append(names, "elapsed")
		}
		return append(names, "exit_code")
	}
	if s.Asked {
		return told(s, nil)
	}
	for _, b := range builtin {
		names = append(names, b.Name)
	}
	if s.Workbench != nil {
		names = append(names, "data_flow", "network_time", "disk_time")
		if s.Workbench.varies() {
			names = append(names, "data_bytes", "data_files")
		}
	}
	if s.Placement.Batch.CPUs != "" {
		for _, m := range ofBatch {
			names = append(names, m.Name)
		}
	}
	if s.Service != nil {
		for _, m := range ofService {
			names = append(names, m.Name)
		}
	}
	for _, m := range s.Metrics {
		names = append(names, m.Name)
	}
	return names
}

// Unit returns the unit of a metric, or "".
func (s *Study) Unit(metric string) string { return s.Units()[metric] }

// Units returns the units of the metrics that have one, by the names of the metrics. The size of a file is in bytes.
func (s *Study) Units() map[string]string {
	units := map[string]string{}
	for _, b := range BuiltinMetrics() {
		units[b.Name] = b.Unit
	}
	for _, m := range s.Metrics {
		units[m.Name] = m.Unit
		if m.Unit == "" && strings.HasPrefix(m.Source, "size:") {
			units[m.Name] = "B"
		}
	}
	maps.DeleteFunc(units, func(_, unit string) bool { return unit == "" })
	return units
}

// Space returns the space of the study: the parameters with their relations,
// or the listed configurations of a table that satisfy them. The study must
// have been checked, and resolved if it is a replay.
func (s *Study) Space() (*assay.Space, error) {
	if !s.resolved() {
		return nil, fmt.Errorf("the table of the study has not been read")
	}
	params := s.Parameters()
	var relations []assay.Relation
	for _, text := range s.Where {
		r, err := expr.Relation(text, params)
		if err != nil {
			return nil, err
		}
		relations = append(relations, r)
	}
	if len(s.Configs) > 0 {
		return assay.NewList(params, s.Configs, relations...)
	}
	return assay.NewSpace(params, relations...)
}

// Goal returns the goal of the study: elapsed is minimized unless the study has another objective. The study must
// have been checked.
func (s *Study) Goal() (assay.Goal, error) {
	g := assay.Goal{Metric: s.Objective.Metric, Maximize: s.Objective.Maximize}
	if g.Metric == "" {
		g.Metric = "elapsed"
	}
	g.Grows = !g.Maximize && !s.Asked && s.grows(g.Metric)
	for _, o := range s.Others {
		g.Others = append(g.Others, assay.Objective{Metric: o.Metric, Maximize: o.Maximize, Unit: s.Unit(o.Metric)})
		g.Grows = g.Grows && !o.Maximize && s.grows(o.Metric)
	}
	g.Unit, g.Level = s.Unit(g.Metric), s.goalLevel()
	for _, text := range s.SubjectTo {
		l, _, err := expr.Limit(text, s.metricNames()...)
		if err != nil {
			return assay.Goal{}, err
		}
		for i := range l.Bounds {
			b := &l.Bounds[i]
			// The greatest memory so far never exceeds the greatest memory of the whole run.
			b.Unit = s.Unit(cmp.Or(b.Metric, b.Least))
			b.Grows = b.Metric != "" && (s.grows(b.Metric) || b.Metric == "max_rss")
		}
		g.Limits = append(g.Limits, l)
	}
	return g, nil
}

// HasDefault reports whether a parameter has a default, so that [Study.Default] returns a configuration.
func (s *Study) HasDefault() bool {
	return slices.ContainsFunc(s.Params, func(p Param) bool { return p.Default != nil })
}

// Default returns the user's default configuration, made of the defaults of the parameters. If only some parameters
// have a default, the others take the middle of their range, or their first value, or the nearest admissible value.
// ok is false if no parameter has a default. It is an error if the given defaults are not admissible together.
func (s *Study) Default(space *assay.Space) (c assay.Config, ok bool, err error) {
	c = make(assay.Config, len(s.Params))
	given := make([]bool, len(c))
	for i, p := range s.Params {
		switch q := space.Params[i]; {
		case p.Default != nil:
			if c[i], err = q.Parse(*p.Default); err != nil {
				return nil, false, fmt.Errorf("default of %w", err)
			}
			given[i], ok = true, true
		case q.Numeric():
			c[i] = q.Unscale(0.5)
		}
	}
	if l := s.goalLevel(); l != nil && s.Params[l.Param].Default == nil {
		c[l.Param] = l.Full
		given[l.Param] = true
	}
	c = space.Rested(c) // a default of an inactive parameter has no effect
	if !ok {
		return nil, false, nil
	}
	if space.Contains(c) {
		return c, true, nil
	}
	near := space.Nearest(c)
	for i := range c {
		if given[i] && near[i] != c[i] && space.Active(c, i) {
			return nil, false, fmt.Errorf("the default configuration is not admissible: %w", space.Check(c))
		}
	}
	return near, true, nil
}
