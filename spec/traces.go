package spec

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/assay-run/assay"
)

// This file is the traces of a workbench: levels of a resource that vary while a run goes on. A trace has a name,
// which is a value of the resource's parameter as a level is.

// maxTrace is the most rows of a trace: its content is part of the study on record.
const maxTrace = 10_000

// readTraces reads `traces: {NAME: TRACE}`. A TRACE is a file, a list of [seconds, level], or a mapping with
// file or points, and every.
func readTraces(d *decoder, n *yaml.Node) map[string]assay.Trace {
	all := map[string]assay.Trace{}
	d.mark("workbench.traces", n)
	d.pairs(n, "workbench.traces", func(key, value *yaml.Node) {
		name := key.Value
		path, what := "workbench.traces."+name, "trace "+clip(name)
		d.mark(path, key)
		if _, ok := assay.Number(name); ok {
			d.fail(key, "%s: the name of a trace must not be a number: it is used in place of a level", what)
			return
		}
		if m := nameFlaw(name); m != "" {
			d.fail(key, "%s: %s", what, m)
			return
		}
		flaws := len(d.flaws)
		all[name] = assay.Trace{Points: []assay.TracePoint{{}}} // a flaw of it is reported once
		var t assay.Trace
		file, points := (*yaml.Node)(nil), value
		switch follow(value).Kind {
		case yaml.ScalarNode:
			file, points = value, nil
		case yaml.MappingNode:
			points = nil
			d.mapping(value, what, []field{
				{"file", func(n *yaml.Node) { file = n }},
				{"points", func(n *yaml.Node) { points = n }},
				{"every", func(n *yaml.Node) { t.Every, _ = d.duration(n, what+": every") }},
			}, nil)
		}
		switch {
		case len(d.flaws) > flaws:
		case file != nil && points != nil:
			d.fail(value, "%s: it has a file or points, not both", what)
		case file != nil:
			t.Points = readTraceFile(d, path, what, file)
		case points != nil:
			t.Points = readTracePoints(d, path, what, points)
		default:
			d.fail(value, "%s: a file or points are needed, such as [[0, 100Mbit], [20, 10Mbit]]", what)
		}
		if len(d.flaws) > flaws {
			return
		}
		if point, err := t.Check(); err != nil {
			d.failAt(tracePlace(path, point), "%s: %v", what, err)
			return
		}
		all[name] = t
	})
	return all
}

// tracePlace is the path of a point of a trace, or of the whole.
func tracePlace(path string, point int) string {
	if point < 0 {
		return path
	}
	return fmt.Sprintf("%s[%d]", path, point)
}

// readTracePoints reads [[SECONDS, LEVEL], ...].
func readTracePoints(d *decoder, path, what string, n *yaml.Node) (points []assay.TracePoint) {
	for _, e := range d.list(n, what) {
		pair := follow(e)
		if pair.Kind != yaml.SequenceNode || len(pair.Content) != 2 {
			d.fail(e, "%s: a point is [seconds, level], such as [20, 10Mbit]", what)
			return nil
		}
		d.mark(tracePlace(path, len(points)), e)
		at, okAt := d.text(pair.Content[0], what+": seconds")
		level, okLevel := d.text(pair.Content[1], what+": level")
		if !okAt || !okLevel {
			return nil
		}
		p, err := tracePoint(at, level)
		if err == nil && len(points) == maxTrace {
			err = errLongTrace
		}
		if err != nil {
			d.fail(e, "%s: %v", what, err)
			return nil
		}
		points = append(points, p)
	}
	return points
}

var errLongTrace = errors.New("more than 10,000 levels")

// tracePoint reads a point. Seconds may be a duration as well.
func tracePoint(at, level string) (p assay.TracePoint, err error) {
	if s, err := strconv.ParseFloat(at, 64); err == nil {
		const most = 366 * 24 * 3600 // so that it is a duration
		if !(s >= 0 && s <= most) {
			return p, fmt.Errorf("%s is no time of a trace, in seconds from 0", clip(at))
		}
		p.At = time.Duration(s * float64(time.Second))
	} else if p.At, err = ParseDuration(at); err != nil {
		return p, fmt.Errorf("%q is no time of a trace, in seconds from 0", clip(at))
	}
	var ok bool
	if p.Level, ok = assay.Number(level); !ok {
		return p, fmt.Errorf("%q is no level: a number is needed, such as 0.5 or 10Mbit", clip(level))
	}
	return p, nil
}

// readTraceFile reads a file of seconds,level. Its first line may name the columns.
func readTraceFile(d *decoder, path, what string, n *yaml.Node) (points []assay.TracePoint) {
	t, ok := d.text(n, what)
	if !ok {
		return nil
	}
	name := besides(d.name, t)
	f, err := os.Open(name)
	if err != nil {
		d.fail(n, "%s: %v", what, err)
		return nil
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.FieldsPerRecord, in.Comment, in.TrimLeadingSpace, in.ReuseRecord = -1, '#', true, true
	for first := true; ; first = false {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		if e, ok := errors.AsType[*csv.ParseError](err); ok {
			d.flaws = append(d.flaws, Flaw{File: name, Line: e.Line, Column: e.Column, Message: what + ": " + e.Err.Error()})
			return nil
		}
		if err != nil { // a directory
			d.fail(n, "%s: %v", what, err)
			return nil
		}
		line, column := in.FieldPos(0)
		bad := func(format string, args ...any) {
			d.flaws = append(d.flaws, Flaw{
				File: name, Line: line, Column: column, Message: what + ": " + fmt.Sprintf(format, args...),
			})
		}
		if len(row) != 2 {
			bad("a line is seconds,level, not %d columns", len(row))
			return nil
		}
		at, level := strings.TrimSpace(row[0]), strings.TrimSpace(row[1])
		if first && at == "seconds" && level == "level" {
			continue
		}
		p, err := tracePoint(at, level)
		if err == nil && len(points) == maxTrace {
			err = errLongTrace
		}
		if err != nil {
			bad("%v", err)
			return nil
		}
		d.places[tracePlace(path, len(points))] = place{file: name, line: line, column: column}
		points = append(points, p)
	}
	if len(points) == 0 {
		d.flaws = append(d.flaws, Flaw{File: name, Message: what + ": no levels: each line is seconds,level"})
	}
	return points
}

// traced reports whether a value of a parameter is the name of a trace.
func (w *Workbench) traced(param, value string) bool {
	if w == nil || !slices.Contains(Resources(), param) {
		return false
	}
	_, ok := w.Traces[value]
	return ok
}

// level returns the number of a value of a resource: for a trace it is the mean level.
func (w *Workbench) level(param, value string) (float64, bool) {
	if w.traced(param, value) {
		return w.Traces[value].Mean(), true
	}
	return assay.Number(value)
}

// Followed returns the traces that the resources of a configuration follow; nil if none does.
func (w *Workbench) Followed(space *assay.Space, c assay.Config) map[string]assay.Trace {
	if w == nil || len(w.Traces) == 0 {
		return nil
	}
	var out map[string]assay.Trace
	for i, p := range space.Params {
		if p.Numeric() || !slices.Contains(Resources(), p.Name) {
			continue
		}
		if t, ok := w.Traces[p.Levels[int(c[i])]]; ok {
			if out == nil {
				out = map[string]assay.Trace{}
			}
			out[p.Name] = t
		}
	}
	return out
}

// typeTraced makes a parameter of levels and traces an ordinal one, unless its type is stated: by their words alone
// they are a category.
func typeTraced(s *Study) {
	for i, p := range s.Params {
		_, stated := s.places["parameters."+p.Name+".type"]
		if stated || p.Type != "categorical" && p.Type != "bool" || !slices.ContainsFunc(p.Values, func(v string) bool {
			return s.Workbench.traced(p.Name, v)
		}) {
			continue
		}
		s.Params[i].Type = "ordinal"
	}
}

// traces checks that each trace is of a resource that can vary.
func (c *checker) traces() {
	s := c.study
	for _, name := range slices.Sorted(maps.Keys(s.Workbench.Traces)) {
		path, where := "workbench.traces."+name, "trace "+name
		used := ""
		for _, p := range s.Params {
			if s.Workbench.traced(p.Name, name) && slices.Contains(p.Values, name) {
				used = p.Name
			}
		}
		switch used {
		case "":
			c.add(path, "", where, 0, "no resource follows it: give it among the values of cpu, rtt, bandwidth or disk")
		case "memory":
			c.add(path, "", where, 0, "memory does not vary during a run: a limit below the memory in use ends the program")
		}
	}
}

// tracesNode writes traces with their points, in base units.
func tracesNode(all map[string]assay.Trace) *yaml.Node {
	n := flow(yaml.MappingNode)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := all[name]
		points := flow(yaml.SequenceNode)
		for _, p := range t.Points {
			points.Content = append(points.Content, flow(yaml.SequenceNode, number(p.At.Seconds()), number(p.Level)))
		}
		if t.Every > 0 {
			points = flow(yaml.MappingNode, scalar("points"), points, scalar("every"), span(t.Every))
		}
		n.Content = append(n.Content, scalar(name), points)
	}
	return n
}
