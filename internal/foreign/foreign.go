// Package foreign reads what other tuners have measured, so that it can be a study of ours: for its own sake, as a
// recorded table to judge searches on, and as an earlier study that helps a new one.
//
//  1. A reader, one a file, makes a [Study] of what a tool has written: [ParseKernelTuner], [ReadMLOS],
//     [ParseOptunaJournal].
//  2. [Study.Objective] says which metric counts.
//  3. [Study.WriteTable] and [Study.WriteDefinition] write it as a recorded table and the study file of that, which is
//     all that the other packages need to know of it.
//
// To add a tool: a reader that fills a Study, a row where package setup recognises files, and a test with a file that
// the tool has written.
package foreign

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
	// Types are those of parameters, as study files have them: int, real, ordinal, ... One that has none here is
	// ordinal if its values are numbers, and as the table has it else.
	Types map[string]string
	// When says of parameters that are not always in force where they are, as study files have it. Their names are those
	// of parameters: a tool whose names are no columns has none here.
	When map[string]string
}

// A Metric is what was measured.
type Metric struct {
	Name     string
	Unit     string // a base unit, or ""
	Maximize bool
	// Known says that the tool says which way is better, or that everybody knows.
	Known bool
}

// A Run is one configuration that was tried.
type Run struct {
	Config  []string  // of the parameters, as the tool writes them
	Values  []float64 // of the metrics, in base units; NaN where there is none
	Elapsed float64   // what trying it took, in seconds; NaN where that is not on record
	Failed  string    // why it failed, or ""
}

// unknown returns the error of a study that has none of what is needed.
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

// Objective makes a metric the objective, and says which way is better: "minimize", "maximize", or "" for the way
// that the tool has on record. name may be "", for the one that the tool has. The error is of the class usage.
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
		return assay.Errorf(assay.ClassUsage, "%s: is less or more of %s better? Say --minimize %s or --maximize %s",
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

// columns returns the names of the columns: those of parameters, of metrics, of the time and of the state, all
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

// hasElapsed reports whether the time of the runs is on record, and no metric of that name says something else.
func (s *Study) hasElapsed() bool {
	return !slices.ContainsFunc(s.Metrics, func(m Metric) bool { return m.Name == "elapsed" }) &&
		!slices.ContainsFunc(s.Runs, func(r Run) bool { return math.IsNaN(r.Elapsed) })
}

// WriteTable writes the runs as a table in CSV.
func (s *Study) WriteTable(w io.Writer) error {
	params, metrics, elapsed, state := s.columns()
	out := csv.NewWriter(w)
	write := func(cells ...string) { out.Write(cells) } //nolint:errcheck // Error says it
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
		if t == "" && !slices.ContainsFunc(s.Runs, func(r Run) bool {
			_, err := strconv.ParseFloat(r.Config[i], 64)
			return err != nil
		}) {
			t = "ordinal"
		}
		var keys []string
		if t == "" && s.When[p] != "" {
			t = "categorical"
		}
		if t != "" {
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
