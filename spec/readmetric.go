package spec

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"go.yaml.in/yaml/v4"
)

// readMetrics reads the mapping of metrics in file order.
func readMetrics(d *decoder, n *yaml.Node) []Metric {
	var metrics []Metric
	if follow(n).Kind == yaml.SequenceNode {
		return readToldNames(d, n)
	}
	d.pairs(n, "metrics", func(key, value *yaml.Node) {
		m := Metric{Name: key.Value}
		if flaw := nameFlaw(key.Value); flaw != "" {
			d.fail(key, "metric %q: %s", clip(key.Value), flaw)
			return
		}
		what := "metric " + key.Value
		path := "metrics." + key.Value
		before := len(d.flaws)
		if follow(value).Kind == yaml.ScalarNode {
			if t, ok := d.text(value, what); ok {
				d.mark(path, value)
				m.Source = t
			}
		} else {
			m.read(d, what, path, value)
		}
		if len(d.flaws) == before {
			metrics = append(metrics, m)
		}
	})
	return metrics
}

// read reads a metric that is a mapping.
func (m *Metric) read(d *decoder, what, path string, n *yaml.Node) {
	count := 0
	fields := []field{
		{"unit", func(n *yaml.Node) { m.Unit, _ = d.text(n, what+": unit") }},
		{"poll", func(n *yaml.Node) {
			if m.Poll, _ = d.duration(n, what+": poll"); m.Poll < minPoll {
				d.fail(n, "%s: poll: at least %v is needed", what, minPoll)
			}
		}},
		{"grows", func(n *yaml.Node) { m.Grows = d.boolean(n, what+": grows") }},
	}
	for _, k := range assay.SourceKinds() {
		kind := k.String()
		fields = append(fields, field{kind, func(n *yaml.Node) {
			count++
			t, ok := d.text(n, what+": "+kind)
			if !ok {
				return
			}
			d.mark(path, n)
			if k.Argument() == assay.PatternArgument {
				t = "/" + t + "/"
			}
			m.Source = kind + ":" + t
		}})
	}
	before := len(d.flaws)
	d.mapping(n, what, fields, nil)
	switch {
	case len(d.flaws) > before:
	case count > 1:
		d.fail(n, "%s: one of %s is needed", what, sourceKinds())
	case count == 0: // see asked
		d.mark(path, n)
	}
	if m.Grows && m.Poll == 0 && len(d.flaws) == before {
		d.fail(n, "%s: grows: poll is needed: without it the metric is not read during a run", what)
	}
}

// sourceKinds lists the kinds of sources of a metric.
func sourceKinds() string {
	var kinds []string
	for _, k := range assay.SourceKinds() {
		kinds = append(kinds, k.String())
	}
	return strings.Join(kinds, ", ")
}

// minPoll is the shortest time between two looks at a metric during a run: more frequent looks would dominate the
// measurement.
const minPoll = 10 * time.Millisecond

// progressPoll is the Poll of the progress of a study: it is looked at with every observation.
const progressPoll = 1 * time.Nanosecond

// readProgress reads {metric, source, unit, grows}: a metric that is looked at with every observation.
func readProgress(d *decoder, n *yaml.Node) (m Metric) {
	m.Poll = progressPoll
	before := len(d.flaws)
	d.mapping(n, "progress", []field{
		{"metric", func(n *yaml.Node) {
			if m.Name = d.string("progress.metric", n); nameFlaw(m.Name) != "" {
				d.fail(n, "progress: metric: %s", nameFlaw(m.Name))
			}
		}},
		{"source", func(n *yaml.Node) { m.Source = d.string("progress.source", n) }},
		{"unit", func(n *yaml.Node) { m.Unit, _ = d.text(n, "progress: unit") }},
		{"grows", func(n *yaml.Node) { m.Grows = d.boolean(n, "progress: grows") }},
	}, nil)
	switch kind, _, _ := strings.Cut(m.Source, ":"); {
	case len(d.flaws) > before:
	case m.Name == "" || m.Source == "":
		d.fail(n, "progress: metric and source are needed")
	case kind == assay.FromGPU.String():
		d.fail(n, "progress: the use of graphics cards is known only at the end of a run")
	case kind == assay.FromCommand.String():
		d.fail(n, "progress: a command is looked at with metrics: {%s: {cmd: ..., poll: 1s}}", m.Name)
	}
	d.places["metrics."+m.Name] = d.places["progress.source"]
	return m
}

// MetricSpec reads NAME=SOURCE, the argument of the --metric flag; see
// [Metric]. The error is an [*Error].
func MetricSpec(text string) (Metric, error) {
	name, source, ok := strings.Cut(text, "=")
	m := Metric{Name: name, Source: source}
	flaw := m.flaw()
	if !ok {
		flaw = "a metric is written NAME=SOURCE, such as fps=stdout:/fps: ([0-9.]+)/"
	}
	if flaw != "" {
		return Metric{}, newError([]Flaw{{Where: "--metric " + strconv.Quote(clip(text)), Message: flaw}})
	}
	return m, nil
}

// flaw returns the flaw of the metric, or "".
func (m Metric) flaw() string {
	if f := nameFlaw(m.Name); f != "" {
		return f
	}
	_, err := assay.ParseMetricSource(m.Name, m.Source)
	if e, ok := errors.AsType[*assay.SourceError](err); ok {
		return e.Err.Error()
	}
	return ""
}
