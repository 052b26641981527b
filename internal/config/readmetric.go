package config

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// sources are the kinds of sources of a metric, in the words of a study file.
var sources = []string{"stdout", "stderr", "json", "size", "cmd"}

// metrics reads the mapping of metrics in file order.
func (d *decoder) metrics(n *yaml.Node) []Metric {
	var metrics []Metric
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
			d.metricMapping(what, path, &m, value)
		}
		if len(d.flaws) == before {
			metrics = append(metrics, m)
		}
	})
	return metrics
}

func (d *decoder) metricMapping(what, path string, m *Metric, n *yaml.Node) {
	count := 0
	fields := []field{{"unit", func(n *yaml.Node) { m.Unit, _ = d.text(n, what+": unit") }}}
	for _, kind := range sources {
		fields = append(fields, field{kind, func(n *yaml.Node) {
			count++
			t, ok := d.text(n, what+": "+kind)
			if !ok {
				return
			}
			d.mark(path, n)
			if kind == "stdout" || kind == "stderr" {
				t = "/" + t + "/"
			}
			m.Source = kind + ":" + t
		}})
	}
	before := len(d.flaws)
	d.mapping(n, what, fields, nil)
	if count != 1 && len(d.flaws) == before {
		d.fail(n, "%s: one of %s is needed", what, strings.Join(sources, ", "))
	}
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

// split returns the kind of the source and what follows it. For stdout and
// stderr that is the expression between the slashes.
func (m Metric) split() (kind, argument, flaw string) {
	kind, argument, ok := strings.Cut(m.Source, ":")
	switch {
	case !ok:
		return "", "", "a source is one of stdout:/regex/, stderr:/regex/, json:FILE#/pointer, size:FILE, cmd:COMMAND"
	case argument == "":
		return "", "", kind + ": nothing follows"
	}
	switch kind {
	case "stdout", "stderr":
		if len(argument) < 2 || argument[0] != '/' || argument[len(argument)-1] != '/' {
			return "", "", kind + ": the regular expression stands between slashes: " + kind + ":/time: ([0-9.]+)/"
		}
		return kind, argument[1 : len(argument)-1], ""
	case "json", "size", "cmd":
		return kind, argument, ""
	}
	return "", "", "unknown source " + clip(kind) + " (known: " + strings.Join(sources, ", ") + ")"
}

// flaw returns what is wrong with the source, or "".
func (m Metric) flaw() string {
	if f := nameFlaw(m.Name); f != "" {
		return f
	}
	kind, argument, flaw := m.split()
	if flaw != "" {
		return flaw
	}
	switch kind {
	case "stdout", "stderr":
		if len(argument) > 10_000 {
			return "a regular expression has at most 10,000 bytes"
		}
		re, err := regexp.Compile(argument)
		if err != nil {
			return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		}
		if re.NumSubexp() != 1 {
			return "the regular expression needs exactly one group ( ) around the number, write (?: ) for others"
		}
	case "json":
		file, pointer, ok := strings.Cut(argument, "#")
		if at := strings.Index(argument, "#/"); at >= 0 { // FILE may have a # in it
			file, pointer = argument[:at], argument[at+1:]
		}
		if !ok || file == "" || pointer != "" && pointer[0] != '/' {
			return "json: is followed by FILE#/pointer"
		}
	}
	return ""
}
