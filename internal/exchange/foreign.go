// Package exchange reads the files of other tuners and benchmark tools, and the settings of installed programs.
//
// This file reads the measurements of other tuners, so that they can be a study of ours: for their own sake, as a
// recorded table to judge searches on, and as an earlier study that helps a new one.
//
//  1. A reader, one a file, makes a [Study] of the files of a tool: [ParseKernelTuner], [ReadMLOS],
//     [ParseOptunaJournal].
//  2. [Study.Objective] selects the metric that counts.
//  3. [Study.WriteTable] and [Study.WriteDefinition] write it as a recorded table and its study file, which is
//     all that the other packages need.
//
// To add a tool: a reader that fills a Study, a row where package setup recognises files, and a test with a file that
// the tool has written.
package exchange

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
)

// A Study is the runs that another tool has on record, of one space.
type Study struct {
	Tool       string // such as Kernel Tuner
	Name       string
	Parameters []string // in order; at least one
	Metrics    []Metric // at least one; the first is the objective
	Runs       []Run    // in order; at least one
	// Types are the types of parameters, as in study files: int, real, ordinal, ... A parameter without a
	// type is ordinal if its values are numbers, and else of the type in the table.
	Types map[string]string
	// Ranges are the ranges of the parameters that the tool has on record. A type takes precedence.
	Ranges map[string]Range
	// When holds the condition of each parameter that is not always in force, as in study files. Its names
	// are parameters: a tool whose names are no columns has no entry.
	When map[string]string
}

// A Range has the numbers from which a tool draws the values of a parameter.
type Range struct {
	Integer, Log bool
	Low, High    float64
	Step         float64 // 0 without one
}

// keys returns the range as in study files.
func (r Range) keys() string {
	kind := "real"
	if r.Integer {
		kind = "int"
	}
	text := fmt.Sprintf("type: %s, min: %s, max: %s", kind, number(r.Low), number(r.High))
	if r.Step != 0 {
		text += ", step: " + number(r.Step)
	}
	if r.Log {
		text += ", log: true"
	}
	return text
}

// A Metric is a measured quantity.
type Metric struct {
	Name     string
	Unit     string // a base unit, or ""
	Maximize bool
	// Known reports that the better direction is in the tool's files or common knowledge.
	Known bool
}

// A Run is one configuration that was tried.
type Run struct {
	Config  []string  // of the parameters, as the tool writes them
	Values  []float64 // of the metrics, in base units; NaN if not measured
	Elapsed float64   // the time to try it, in seconds; NaN if not recorded
	Failed  string    // why it failed, or ""
}

// check returns the error of a study without the needed parts.
func (s *Study) check(file string) error {
	switch {
	case len(s.Parameters) == 0:
		return assay.Errorf(assay.ClassUsage, "%s: the study has no parameters", file)
	case len(s.Runs) == 0:
		return assay.Errorf(assay.ClassUsage, "%s: there is no run that has ended", file)
	case len(s.Metrics) == 0:
		return assay.Errorf(assay.ClassUsage, "%s: nothing was measured: no run has a number", file)
	}
	return nil
}

// Objective makes a metric the objective, and sets the better direction: "minimize", "maximize", or ""
// for the direction in the tool's files. name may be "", for the metric in the tool's files. The error
// is of the class usage.
func (s *Study) Objective(name, way string) error {
	i := 0
	if name != "" {
		i = slices.IndexFunc(s.Metrics, func(m Metric) bool { return m.Name == name })
	}
	if i < 0 {
		var have []string
		for _, m := range s.Metrics {
			have = append(have, m.Name)
		}
		return assay.Errorf(assay.ClassUsage, "%s: no metric %q: there is %s", s.Name, name, strings.Join(have, ", "))
	}
	m := s.Metrics[i]
	switch {
	case way != "":
		m.Maximize, m.Known = way == "maximize", true
	case !m.Known:
		return assay.Errorf(assay.ClassUsage, "%s: is less or more of %s better? Give --minimize %s or --maximize %s",
			s.Name, m.Name, m.Name, m.Name)
	}
	s.Metrics = slices.Delete(slices.Clone(s.Metrics), i, i+1)
	s.Metrics = slices.Insert(s.Metrics, 0, m)
	for r := range s.Runs {
		values := slices.Clone(s.Runs[r].Values)
		v := values[i]
		s.Runs[r].Values = slices.Insert(slices.Delete(values, i, i+1), 0, v)
	}
	return nil
}

// The columns of a table that are no parameters and no metrics.
const (
	stateColumn = "state"
	stateOK     = "ok"
)

// columns returns the names of the columns of parameters, of metrics, of the time and of the state, all
// different.
func (s *Study) columns() (params, metrics []string, elapsed, state string) {
	taken := map[string]bool{}
	free := func(name string) string {
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		return name
	}
	for _, p := range s.Parameters {
		params = append(params, free(p))
	}
	for _, m := range s.Metrics {
		metrics = append(metrics, free(m.Name))
	}
	return params, metrics, free("elapsed"), free(stateColumn)
}

// hasElapsed reports whether the time of the runs is on record, and no metric of that name differs from
// it.
func (s *Study) hasElapsed() bool {
	return !slices.ContainsFunc(s.Metrics, func(m Metric) bool { return m.Name == "elapsed" }) &&
		!slices.ContainsFunc(s.Runs, func(r Run) bool { return math.IsNaN(r.Elapsed) })
}

// WriteTable writes the runs as a table in CSV.
func (s *Study) WriteTable(w io.Writer) error {
	params, metrics, elapsed, state := s.columns()
	out := csv.NewWriter(w)
	write := func(cells ...string) { out.Write(cells) } //nolint:errcheck // Error reports it
	write(append(append(slices.Clone(params), metrics...), elapsed, state)...)
	for _, r := range s.Runs {
		cells := slices.Clone(r.Config)
		for _, v := range append(slices.Clone(r.Values), r.Elapsed) {
			cells = append(cells, number(v))
		}
		is := stateOK
		if r.Failed != "" {
			is = r.Failed
		}
		write(append(cells, is)...)
	}
	out.Flush()
	return out.Error()
}

func number(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// WriteDefinition writes the study file of the table, whose path relative to it is table.
func (s *Study) WriteDefinition(w io.Writer, table string) error {
	params, metrics, elapsed, state := s.columns()
	var b strings.Builder
	fmt.Fprintf(&b, "# From %s.\nname: %s\nreplay:\n  file: %s\n  parameters: %s\n  metrics:\n", s.Tool, quoted(s.Name),
		quoted(table), quoted(params))
	for i, m := range s.Metrics {
		fmt.Fprintf(&b, "    %s: %s\n", quoted(m.Name), quoted(metrics[i]))
	}
	if s.hasElapsed() {
		fmt.Fprintf(&b, "    elapsed: %s\n", quoted(elapsed))
	}
	fmt.Fprintf(&b, "  ok: {column: %s, equals: %s}\n", quoted(state), quoted(stateOK))
	s.writeTypes(&b, params)
	way := "minimize"
	if s.Metrics[0].Maximize {
		way = "maximize"
	}
	fmt.Fprintf(&b, "objective: {%s: %s}\n", way, quoted(s.Metrics[0].Name))
	_, err := io.WriteString(w, b.String())
	return err
}

// writeTypes writes the types of the parameters that are known.
func (s *Study) writeTypes(b *strings.Builder, columns []string) {
	title := "parameters:\n"
	for i, p := range s.Parameters {
		t := s.Types[p]
		drawn, ranged := s.Ranges[p]
		if ranged = ranged && t == ""; !ranged && t == "" && !slices.ContainsFunc(s.Runs, func(r Run) bool {
			_, err := strconv.ParseFloat(r.Config[i], 64)
			return err != nil
		}) {
			t = "ordinal"
		}
		var keys []string
		if t == "" && s.When[p] != "" {
			t = "categorical"
		}
		if ranged {
			keys = append(keys, drawn.keys())
		} else if t != "" {
			keys = append(keys, "type: "+t)
		}
		if when := s.When[p]; when != "" {
			keys = append(keys, "when: "+quoted(when))
		}
		if keys != nil {
			fmt.Fprintf(b, "%s  %s: {%s}\n", title, quoted(columns[i]), strings.Join(keys, ", "))
			title = ""
		}
	}
}

// quoted returns a value as JSON, which YAML reads as it is.
func quoted(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // texts and lists of texts
	}
	return strings.TrimSpace(b.String())
}
