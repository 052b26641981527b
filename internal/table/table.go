package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// A Spec defines which rows and columns of a CSV file with a header line are recorded runs.
type Spec struct {
	File       string              // path; gzip if it ends in .gz
	Where      map[string]string   // column: value of the rows that count; 10 and 10.0 are equal
	Parameters []string            // columns that make a configuration
	Metrics    map[string][]string // metric: columns; several are repetitions
	UnitScale  map[string]float64  // metric: column value times this is in base units; 1 if absent
	OKColumn   string              // rows where this column is not OKEquals are failed runs; "" if all are good
	OKEquals   string
	Digest     string // SHA-256 of the file in hexadecimal if it must be that one, or ""
}

// A Table is a set of recorded runs: for every configuration at least one. It
// is immutable and safe for concurrent use.
type Table struct {
	Params  []assay.Param  // in the order of Spec.Parameters
	Configs []assay.Config // each once, in order of appearance
	Metrics []string       // names, ascending
	Digest  string         // SHA-256 of the file as it is, in hexadecimal

	runs    *runs // of Configs, in order of appearance; at least one of each
	index   index // of Configs
	elapsed int   // index of elapsed in Metrics, or -1
}

// recordedRun is one run of a configuration.
type recordedRun struct {
	failed bool
	values []float64 // of Metrics; NaN if not recorded
}

// unitDuration is the time of a run in a table without times.
const unitDuration = time.Second

// Runs returns how often a configuration was recorded, 0 if it was not.
func (t *Table) Runs(c assay.Config) int {
	i, ok := t.index.find(t.Configs, c)
	if !ok {
		return 0
	}
	return t.runs.count(i)
}

// Space returns the space of the recorded configurations that satisfy the relations: a list, in the order of the
// table. It returns an error that matches [assay.ErrEmpty] if none does.
func (t *Table) Space(relations ...assay.Relation) (*assay.Space, error) {
	return assay.NewList(t.Params, t.Configs, relations...)
}

// duration returns how long a recorded run takes: its elapsed time; 1 s if the
// table has no elapsed time at all; 0 if it has none for this run.
func (t *Table) duration(r recordedRun) time.Duration {
	switch {
	case t.elapsed < 0:
		return unitDuration
	case math.IsNaN(r.values[t.elapsed]):
		return 0
	}
	return asDuration(r.values[t.elapsed])
}

// asDuration converts seconds, to the nearest nanosecond.
func asDuration(x float64) time.Duration { return time.Duration(math.Round(x * 1e9)) }

// measurement returns the measurement of a run at its end. Its map is new: callers may add to it.
func (t *Table) measurement(r recordedRun) assay.Measurement {
	m := assay.Measurement{Elapsed: t.duration(r), Metrics: make(map[string]float64, len(t.Metrics))}
	for k, name := range t.Metrics {
		if !math.IsNaN(r.values[k]) {
			m.Metrics[name] = r.values[k]
		}
	}
	if r.failed {
		m.ExitCode = 1
	}
	return m
}

// mean returns the measurement with the mean of every metric over the good runs
// of a configuration that have it. ok is false if no run is good.
func (t *Table) mean(i int) (m assay.Measurement, ok bool) {
	sum, n := make([]float64, len(t.Metrics)), make([]float64, len(t.Metrics))
	var elapsed float64
	good := 0.0
	for k := range t.runs.count(i) {
		r := t.runs.at(i, k)
		if r.failed {
			continue
		}
		good++
		elapsed += t.duration(r).Seconds()
		for k, x := range r.values {
			if !math.IsNaN(x) {
				sum[k] += x
				n[k]++
			}
		}
	}
	if good == 0 {
		return assay.Measurement{}, false
	}
	r := recordedRun{values: sum}
	for k := range sum {
		r.values[k] /= n[k] // NaN without any
	}
	m = t.measurement(r)
	m.Elapsed = asDuration(elapsed / good)
	return m, true
}

// An Optimum is the best recorded configuration of a table.
type Optimum struct {
	Config  assay.Config
	Value   float64           // of the goal, which is minimized
	Metrics assay.Measurement // the means over the repetitions
}

// Optimum returns the configuration of space whose mean over its good repetitions is best among configurations that
// satisfy the limits of the goal on the mean; the first of equals. A nil space stands for the whole table. It returns
// an error if no configuration does.
func (t *Table) Optimum(goal assay.Goal, space *assay.Space) (Optimum, error) {
	best := Optimum{Value: math.Inf(1)}
	for i, c := range t.Configs {
		if space != nil && !space.Contains(c) {
			continue
		}
		m, ok := t.mean(i)
		if !ok {
			continue
		}
		v, err := goal.Value(m)
		if err != nil || v >= best.Value {
			continue
		}
		if broken, err := goal.Broken(m); err == nil && broken == "" {
			best = Optimum{c, v, m}
		}
	}
	if best.Config == nil {
		return Optimum{}, fmt.Errorf("no recorded run has metric %q within the limits", goal.Metric)
	}
	return best, nil
}

// MedianElapsed returns the median over the configurations of their mean elapsed
// time in good runs, the mean of the two in the middle of an even number; it is
// the unit of budgets that are multiples of a run. A table without elapsed times
// has 1 s.
func (t *Table) MedianElapsed() time.Duration {
	var all []time.Duration
	for i := range t.Configs {
		if m, ok := t.mean(i); ok && m.Elapsed > 0 {
			all = append(all, m.Elapsed)
		}
	}
	if len(all) == 0 {
		return unitDuration
	}
	slices.SortFunc(all, cmp.Compare[time.Duration])
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
