package view

import (
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// Columns are trials as one list a field, each in order of the ids: a tenth of the size of as many [Trial].
type Columns struct {
	ID           []int64            `json:"id" nullable:"false"`
	State        []string           `json:"state" nullable:"false"`
	Nth          []int32            `json:"nth" nullable:"false" doc:"in the order of the ends, from 1; 0: it has none"`
	Config       map[string]Values  `json:"config" doc:"a list for each parameter; null where it is not active"`
	Value        Numbers            `json:"value,omitempty"`
	Elapsed      Numbers            `json:"elapsed_s,omitempty"`
	Spent        Numbers            `json:"spent_s,omitempty" doc:"of the time budget when it ended"`
	Predicted    Numbers            `json:"predicted,omitempty" doc:"the metric as an early stop expected it"`
	Reason       []string           `json:"reason,omitempty" nullable:"false"`
	Started      []int64            `json:"started_ms,omitempty" nullable:"false" doc:"Unix time"`
	Ended        Numbers            `json:"ended_ms,omitempty" doc:"Unix time"`
	Worker       []string           `json:"worker,omitempty" nullable:"false" doc:"of its last attempt, where known"`
	MachineClass []string           `json:"class,omitempty" nullable:"false" doc:"of that worker's machine"`
	Metrics      map[string]Numbers `json:"metrics,omitempty" doc:"a list for each metric; null where it was not measured"`
}

// rows are lines of a table.
type rows struct {
	*assay.Table
	places []int
}

// metric returns the metrics of a line.
func (r rows) metric(k int) func(name string) (float64, bool) {
	return func(name string) (float64, bool) {
		all := r.Metrics[name]
		if all == nil || math.IsNaN(all[k]) {
			return 0, false
		}
		return all[k], true
	}
}

// list returns a column of rows.
func list[T any](r rows, of func(l *assay.Line) T) []T {
	out := make([]T, len(r.places))
	for i, k := range r.places {
		out[i] = of(&r.Lines[k])
	}
	return out
}

// shown returns a column of values as the metric is measured.
func shown(r rows, of func(l *assay.Line) float64) Numbers {
	return list(r, func(l *assay.Line) float64 { return r.Goal.Show(of(l)) })
}

// fields are the columns that may be left out, by the names that requests have for them. A column is added here, in
// [Columns] and in [assay.Table].
var fields = []struct {
	name string
	fill func(c *Columns, r rows)
}{
	{"value", func(c *Columns, r rows) { c.Value = shown(r, func(l *assay.Line) float64 { return l.Value }) }},
	{"predicted", func(c *Columns, r rows) {
		c.Predicted = shown(r, func(l *assay.Line) float64 { return l.Predicted })
	}},
	{"elapsed", func(c *Columns, r rows) {
		c.Elapsed = list(r, func(l *assay.Line) float64 { return l.Elapsed.Seconds() })
	}},
	{"spent", func(c *Columns, r rows) { c.Spent = list(r, func(l *assay.Line) float64 { return l.Spent }) }},
	{"reason", func(c *Columns, r rows) {
		c.Reason = make([]string, len(r.places))
		for i, k := range r.places {
			c.Reason[i] = reason(r.Goal, r.Lines[k].State, r.Lines[k].Reason, r.metric(k))
		}
	}},
	{"started", func(c *Columns, r rows) { c.Started = list(r, func(l *assay.Line) int64 { return l.Started }) }},
	{"ended", func(c *Columns, r rows) { c.Ended = list(r, ended) }},
	{"worker", func(c *Columns, r rows) {
		c.Worker = list(r, func(l *assay.Line) string { return l.Worker })
		c.MachineClass = list(r, func(l *assay.Line) string { return l.MachineClass })
	}},
	{"metrics", func(c *Columns, r rows) {
		c.Metrics = make(map[string]Numbers, len(r.Metrics))
		for name, all := range r.Metrics {
			some := make(Numbers, len(r.places))
			for i, k := range r.places {
				some[i] = all[k]
			}
			c.Metrics[name] = some
		}
	}},
}

// Fields returns the names of the columns that a request may leave out.
func Fields() []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// ended returns when a trial ended, NaN while it runs.
func ended(l *assay.Line) float64 {
	if !l.State.Final() {
		return math.NaN()
	}
	return float64(l.Ended)
}

// NewColumns returns the lines of a table at some places, with the fields that are wanted: all if there are none. It
// shares no memory with the table, but for texts.
func NewColumns(t *assay.Table, places []int, want []string) *Columns {
	r := rows{t, places}
	c := &Columns{
		ID:     list(r, func(l *assay.Line) int64 { return l.ID }),
		State:  list(r, func(l *assay.Line) string { return l.State.String() }),
		Nth:    list(r, func(l *assay.Line) int32 { return l.Nth }),
		Config: make(map[string]Values, len(t.Params)),
	}
	for i := range t.Params {
		c.Config[t.Params[i].Name] = values(r, i)
	}
	for _, f := range fields {
		if len(want) == 0 || slices.Contains(want, f.name) {
			f.fill(c, r)
		}
	}
	return c
}

// values returns the values of the i-th parameter. One that is of a list is made once.
func values(r rows, i int) Values {
	p := r.Params[i]
	known := map[float64]any{}
	out := make(Values, len(r.places))
	for j, k := range r.places {
		c := r.Lines[k].Config
		if !assay.Active(r.Params, c, i) {
			continue
		}
		if p.Numeric() || p.Kind == assay.Permutation {
			out[j] = p.Value(c[i])
			continue
		}
		v, ok := known[c[i]]
		if !ok {
			v = p.Value(c[i])
			known[c[i]] = v
		}
		out[j] = v
	}
	return out
}

// Places returns the numbers from a to b, without b: the places of lines that follow each other.
func Places(a, b int) []int {
	all := make([]int, b-a)
	for i := range all {
		all[i] = a + i
	}
	return all
}
