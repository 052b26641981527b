package assay

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// A Line is a trial as tables and charts show it.
type Line struct {
	ID           int64
	Config       Config // shared with the event; equal to the proposal's
	State        State
	Nth          int32         // place in the order of results, from 1; 0 without a result
	Value        float64       // as it is minimized; NaN without a value
	Elapsed      time.Duration // of its run
	Spent        float64       // time budget used at its result, in seconds; NaN before
	Predicted    float64       // expected by the stopping rule, as it is minimized; NaN without a prediction
	Reason       string
	Started      int64 // Unix time in ms
	Ended        int64 // likewise; means nothing until the state is final
	Worker       string
	MachineClass string // of the worker's machine
}

// A Repeat is a run outside the search: see [Event.Checked].
type Repeat struct {
	Trial   int64 // that it repeats
	State   State
	Value   float64 // as it is minimized; NaN without a value
	Elapsed time.Duration
	Reason  string
	Race    bool
	At      time.Time // of the event
}

// A Table is the state of each trial of a study, built from its events, in memory. It advances with each appended
// event, so that a study that is read repeatedly is read from the store once. It is not safe for concurrent use.
type Table struct {
	Params  []Param
	Goal    Goal
	Summary Summary // of the same events
	Lines   []Line  // in the order of the IDs
	// Metrics has a list for each metric, with a value for each line: NaN where it was not measured. The objectives are
	// among them, and elapsed.
	Metrics map[string][]float64
	Repeats []Repeat // in the order in which they were made
	Cuts    []Pruned // likewise

	place map[int64]int // of an ID in Lines
	told  int32
}

// NewTable returns the table of a study without events.
func NewTable(params []Param, goal Goal, study string, created time.Time) *Table {
	return &Table{
		Params: params, Goal: goal, Summary: NewSummary(study, created),
		Metrics: map[string][]float64{}, place: map[int64]int{},
	}
}

// Place returns where the line of a trial is.
func (t *Table) Place(id int64) (place int, ok bool) {
	place, ok = t.place[id]
	return place, ok
}

// Take takes in the next event. changed reports whether the line of trial id is new, or another one now. It returns an
// error if the trial is not one of the parameters; the table is of no use then.
func (t *Table) Take(e Event) (id int64, changed bool, err error) {
	switch {
	case e.Started != nil:
		id = e.Started.Trial
		if k, ok := t.place[id]; ok && t.Lines[k].State == Running {
			t.Lines[k].Worker, t.Lines[k].MachineClass, changed = e.Started.Worker, e.Started.MachineClass, true
		}
	case e.Checked != nil:
		if err := Fits(t.Params, *e.Checked); err != nil {
			return 0, false, err
		}
		c := e.Checked
		t.Repeats = append(t.Repeats, Repeat{
			c.ID, c.State, measured(c), c.Measurement.Elapsed, c.Reason, e.Race, e.At,
		})
	case e.Pruned != nil:
		t.Cuts = append(t.Cuts, *e.Pruned)
	}
	about, is := TrialOf(e)
	k, known := t.place[about]
	var old Trial
	if known = known && is; known {
		old = t.Lines[k].asked()
	}
	row, moved := Project(&t.Summary, e, old, known)
	if !moved {
		return id, changed, nil
	}
	if err := Fits(t.Params, row.Trial); err != nil {
		return 0, false, err
	}
	if !known {
		k = t.insert(row.Trial.Proposal)
	}
	t.put(k, &row.Trial)
	if e.Told != nil {
		t.told++
		t.Lines[k].Nth, t.Lines[k].Spent = t.told, e.Spent.Seconds()
	}
	return about, true, nil
}

// measured returns the value of a trial, NaN if it has none.
func measured(t *Trial) float64 {
	switch t.State {
	case Done, Censored, Infeasible:
		return t.Value
	}
	return math.NaN()
}

// asked returns the trial as far as [Project] needs it.
func (l *Line) asked() Trial {
	began := time.UnixMilli(l.Started).UTC()
	return Trial{Proposal: Proposal{ID: l.ID, Config: l.Config}, State: l.State, Started: began}
}

// insert makes the line of a trial, in the order of the IDs, which is most often the last.
func (t *Table) insert(p Proposal) int {
	k := len(t.Lines)
	if k > 0 && t.Lines[k-1].ID > p.ID {
		k, _ = slices.BinarySearchFunc(t.Lines, p.ID, func(l Line, id int64) int { return cmp.Compare(l.ID, id) })
	}
	t.Lines = slices.Insert(t.Lines, k, Line{ID: p.ID, Config: p.Config, Spent: math.NaN()})
	for name, list := range t.Metrics {
		t.Metrics[name] = slices.Insert(list, k, math.NaN())
	}
	for i := k; i < len(t.Lines); i++ {
		t.place[t.Lines[i].ID] = i
	}
	return k
}

// put writes the present state of a trial into its line.
func (t *Table) put(k int, x *Trial) {
	l := &t.Lines[k]
	l.State, l.Value, l.Elapsed, l.Predicted = x.State, measured(x), x.Measurement.Elapsed, math.NaN()
	l.Reason, l.Started, l.Ended = x.Reason, x.Started.UnixMilli(), x.Ended.UnixMilli()
	if x.Decision != nil {
		l.Predicted = x.Decision.Predicted
	}
	if !x.State.Final() {
		return
	}
	for name, v := range MetricsOf(*x, t.Goal) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if t.Metrics[name] == nil {
			t.Metrics[name] = slices.Repeat([]float64{math.NaN()}, len(t.Lines))
		}
		t.Metrics[name][k] = v
	}
}

// MetricsOf returns the metrics of a trial, the objectives of the goal among them.
func MetricsOf(t Trial, g Goal) map[string]float64 {
	m := make(map[string]float64, len(t.Measurement.Metrics)+1)
	maps.Copy(m, t.Measurement.Metrics)
	if t.Measurement.Elapsed > 0 || t.Attempts > 0 { // else it is not known: an external study measured the run
		m["elapsed"] = t.Measurement.Elapsed.Seconds()
	}
	for _, o := range g.Objectives() {
		if v, ok := t.Measurement.Metric(o.Metric); ok {
			m[o.Metric] = v
		}
	}
	return m
}

// Fits returns an error if a trial is not one of the parameters.
func Fits(params []Param, t Trial) error {
	if len(t.Config) != len(params) {
		return fmt.Errorf("trial %d has %d coordinates for %d parameters (see assay study fsck)",
			t.ID, len(t.Config), len(params))
	}
	for i, p := range params {
		if !p.Contains(t.Config[i]) {
			return fmt.Errorf("trial %d: parameter %s has no value at %v (see assay study fsck)", t.ID, p.Name, t.Config[i])
		}
	}
	return nil
}
