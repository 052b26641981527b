// This file turns the values of the root package into columns and back. The columns of trials and heads are derived
// from the events, so their text must be the same whenever it is made from the same events: Fsck compares it with ==.
//
// The format of each column is in docs/format/store.md.

package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/assay-run/assay"
)

// TrialColumns are the columns of a row of trials after the study's number.
// Two of them are compared with ==, so every field is comparable and NaN is kept as NULL.
type TrialColumns struct {
	ID, Seq int64 // of the trial, and of the event that the row comes from
	State   string
	Value   sql.NullFloat64 // NULL is NaN
	// Both are JSON: an array of coordinates, and an object with its keys sorted.
	Config, Metrics string
	Reason          string
	// Both are as TimeText makes them.
	Started, Ended string
	Attempts       int64
}

// NewTrialColumns returns the columns of a row. It returns an error if a coordinate is not
// finite, which the encoding of the event has refused before.
func NewTrialColumns(r assay.TrialRow) (TrialColumns, error) {
	t := r.Trial
	// Without a copy, a nil configuration would become null rather than [].
	config, err := json.Marshal(append([]float64{}, t.Config...))
	if err != nil {
		return TrialColumns{}, err
	}
	// A metric that JSON cannot write becomes a string; see NumberText.
	metrics := make(map[string]any, len(t.Measurement.Metrics))
	for name, x := range t.Measurement.Metrics {
		if metrics[name] = any(x); NumberText(x) != "" {
			metrics[name] = NumberText(x)
		}
	}
	m, err := json.Marshal(metrics)
	if err != nil {
		return TrialColumns{}, err
	}
	return TrialColumns{
		t.ID, r.Seq, t.State.String(), nullable(t.Value, !math.IsNaN(t.Value)),
		string(config), string(m), t.Reason, TimeText(t.Started), TimeText(t.Ended), int64(t.Attempts),
	}, nil
}

// Args returns the columns in the order of the fields, as in the statements that insert them.
func (c TrialColumns) Args() []any {
	return []any{c.ID, c.Seq, c.State, c.Value, c.Config, c.Metrics, c.Reason, c.Started, c.Ended, c.Attempts}
}

// In returns the columns with their free text as a database can hold it: text is nil for one that can hold any.
func (c TrialColumns) In(text func(string) string) TrialColumns {
	if text != nil {
		c.Reason = text(c.Reason)
	}
	return c
}

// nullable returns x, or NULL if it is not valid, comparable with ==.
// NULL rather than NaN, because NaN is not equal to itself.
func nullable(x float64, valid bool) sql.NullFloat64 {
	if !valid {
		return sql.NullFloat64{}
	}
	return sql.NullFloat64{Float64: x, Valid: true}
}

// HeadColumns are the columns of a row of heads after study, seq and hash.
// Like TrialColumns they are compared with ==: Counts is text because a map has no ==.
type HeadColumns struct {
	Counts string // JSON, states without a trial left out
	Best   int64
	Value  sql.NullFloat64 // NULL without a value
	// Spent is in nanoseconds.
	Spent       int64
	First, Last string
	Checks      int64
	Ended       string
	Steered     string
	Priority    int64
	Lost        int64 // in nanoseconds
}

// NewHeadColumns returns the columns of a summary. A summary whose Best is 0 has no best
// value, and its +Inf is stored as NULL.
func NewHeadColumns(sum assay.Summary) HeadColumns {
	return HeadColumns{
		countsText(sum.Counts), sum.Best, nullable(sum.Value, sum.Best != 0),
		int64(sum.Spent), TimeText(sum.First), TimeText(sum.Last), sum.Checks, sum.Ended,
		sum.Steered, int64(sum.Priority), int64(sum.Lost),
	}
}

// Args returns the columns in the order of [SummaryColumns].
func (c HeadColumns) Args() []any {
	return []any{
		c.Counts, c.Best, c.Value, c.Spent, c.First, c.Last, c.Checks, c.Ended, c.Steered, c.Priority, c.Lost,
	}
}

// In returns the columns with their free text as a database can hold it, as [TrialColumns.In] does.
func (c HeadColumns) In(text func(string) string) HeadColumns {
	if text != nil {
		c.Ended, c.Steered = text(c.Ended), text(c.Steered)
	}
	return c
}

// countsText returns the numbers of trials as they are stored: a JSON object of the states of which there are any, by
// name. The keys are sorted, as encoding/json does it for maps.
func countsText(counts map[assay.State]int64) string {
	some := make(map[string]int64, len(counts))
	for state, n := range counts {
		if n != 0 {
			some[state.String()] = n
		}
	}
	b, err := json.Marshal(some)
	if err != nil {
		panic(err) // there is no such map
	}
	return string(b)
}

// parseCounts is the inverse of countsText. States of which there are none may stand in the text. It returns an error
// for a name that is not a state's.
func parseCounts(text string) (map[assay.State]int64, error) {
	counts := map[assay.State]int64{}
	if err := json.Unmarshal([]byte(text), &counts); err != nil {
		return nil, fmt.Errorf("numbers of trials: %w", err)
	}
	// The migration from format 1 has written zeros; a summary has none.
	maps.DeleteFunc(counts, func(_ assay.State, n int64) bool { return n == 0 })
	return counts, nil
}

// AskedBefore returns a trial as far as its proposal, from columns of trials. A withdrawal keeps this part of a
// trial. The columns have no checksum, so text that does not parse is damage; the caller reports it.
func AskedBefore(id int64, state assay.State, config, started string) (t assay.Trial, err error) {
	t.ID, t.State = id, state
	if err := json.Unmarshal([]byte(config), &t.Config); err != nil {
		return t, err
	}
	t.Started, err = ParseTime(started)
	return t, err
}

// SummaryColumns are the names of HeadColumns, of a table called h, in the order of HeadColumns.Args and of the Scan
// in ScanHead.
const SummaryColumns = `h.counts, h.best, h.best_value, h.spent_ns, h.first, h.last, h.checks, h.ended, ` +
	`h.steered, h.priority, h.lost_ns`

// ScanHead reads id, name and created of studies, seq and hash of heads, the hash of the event of that seq, and
// SummaryColumns. The queries join heads from the left. If a study has no row there, its columns are NULL, which an
// int64 does not take: the error matches [ErrDamaged]. hash and last belong to the caller. ScanHead does not compare
// them: a query that has no use for the hash of the event selects the head's twice. An error of row.Scan is returned as
// it is.
func ScanHead(row interface{ Scan(...any) error }) (id int64, hash, last []byte, sum assay.Summary, err error) {
	var c HeadColumns
	var name, created string
	var seq int64
	err = row.Scan(&id, &name, &created, &seq, &hash, &last, &c.Counts,
		&c.Best, &c.Value, &c.Spent, &c.First, &c.Last, &c.Checks, &c.Ended, &c.Steered, &c.Priority, &c.Lost)
	if err != nil {
		return 0, nil, nil, assay.Summary{}, err
	}
	// Without a best trial the value stays the +Inf of an empty summary.
	sum = assay.NewSummary(name, time.Time{})
	if sum.Counts, err = parseCounts(c.Counts); err != nil {
		return 0, nil, nil, assay.Summary{}, fmt.Errorf("%w: study %q: %w", ErrDamaged, name, err)
	}
	sum.Events, sum.Best, sum.Spent = seq, c.Best, time.Duration(c.Spent)
	sum.Checks, sum.Ended = c.Checks, c.Ended
	sum.Steered, sum.Priority, sum.Lost = c.Steered, int(c.Priority), time.Duration(c.Lost)
	if c.Value.Valid {
		sum.Value = c.Value.Float64
	}
	for _, t := range []struct {
		to   *time.Time
		text string
	}{{&sum.Created, created}, {&sum.First, c.First}, {&sum.Last, c.Last}} {
		if *t.to, err = ParseTime(t.text); err != nil {
			return 0, nil, nil, assay.Summary{}, fmt.Errorf("%w: study %q: %w", ErrDamaged, name, err)
		}
	}
	return id, hash, last, sum, nil
}

// TimeText returns t as text, or "" for the zero time. The offset from UTC stays as it was given, and zeros at the end
// of the fraction are left out, so the text of two times does not sort as the times do.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

// ParseTime is the inverse of TimeText.
func ParseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339Nano, text)
}

// ParseTimeOr returns the zero time for an invalid text. Fsck and Salvage use it on columns that may be damaged, and
// go on.
func ParseTimeOr(text string) time.Time {
	t, err := ParseTime(text)
	if err != nil {
		return time.Time{}
	}
	return t
}
