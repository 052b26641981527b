// This file turns the values of the root package into columns and back. The columns of trials
// and heads are derived from the events, so their text must be the same whenever it is made
// from the same events: Fsck compares it with ==.
//
// The format of each column is in docs/format/store.md.

package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
	driver "modernc.org/sqlite"
)

// trialColumns are the columns of a row of trials after the study's number.
// Fsck compares two of them with ==, so every field is comparable and NaN is kept as NULL.
type trialColumns struct {
	// id is the trial's, seq is that of the event that the row comes from.
	id, seq int64
	state   string
	value   sql.NullFloat64 // NULL is NaN
	// Both are JSON: an array of coordinates, and an object with its keys sorted.
	config, metrics string
	reason          string
	// Both are as timeText makes them.
	started, ended string
	attempts       int64
}

// newTrialColumns returns the columns of a row. It returns an error if a coordinate is not
// finite, which the encoding of the event has refused before.
func newTrialColumns(r assay.TrialRow) (trialColumns, error) {
	t := r.Trial
	// Without a copy, a nil configuration would become null rather than [].
	config, err := json.Marshal(append([]float64{}, t.Config...))
	if err != nil {
		return trialColumns{}, err
	}
	// A metric that JSON cannot write becomes a string; see store.NumberText.
	metrics := make(map[string]any, len(t.Measurement.Metrics))
	for name, x := range t.Measurement.Metrics {
		if metrics[name] = any(x); store.NumberText(x) != "" {
			metrics[name] = store.NumberText(x)
		}
	}
	m, err := json.Marshal(metrics)
	if err != nil {
		return trialColumns{}, err
	}
	return trialColumns{
		t.ID, r.Seq, t.State.String(), nullable(t.Value, !math.IsNaN(t.Value)),
		string(config), string(m), t.Reason, timeText(t.Started), timeText(t.Ended), int64(t.Attempts),
	}, nil
}

// args returns the columns in the order of the statement that inserts them.
func (c trialColumns) args() []any {
	return []any{c.id, c.seq, c.state, c.value, c.config, c.metrics, c.reason, c.started, c.ended, c.attempts}
}

// nullable returns x, or NULL if it is not valid, comparable with ==.
// NULL rather than NaN, because NaN is not equal to itself.
func nullable(x float64, valid bool) sql.NullFloat64 {
	if !valid {
		return sql.NullFloat64{}
	}
	return sql.NullFloat64{Float64: x, Valid: true}
}

// headColumns are the columns of a row of heads after study, seq and hash.
// Like trialColumns they are compared with ==: counts is text because a map has no ==.
type headColumns struct {
	counts string // JSON, states without a trial left out
	best   int64
	value  sql.NullFloat64 // NULL is none
	// spent is in nanoseconds.
	spent       int64
	first, last string
	checks      int64
	ended       string
}

// newHeadColumns returns the columns of a summary. A summary whose Best is 0 has no best
// value, and its +Inf is stored as NULL.
func newHeadColumns(sum assay.Summary) headColumns {
	return headColumns{
		countsText(sum.Counts), sum.Best, nullable(sum.Value, sum.Best != 0),
		int64(sum.Spent), timeText(sum.First), timeText(sum.Last), sum.Checks, sum.Ended,
	}
}

// args returns the columns in the order of summaryColumns.
func (c headColumns) args() []any {
	return []any{c.counts, c.best, c.value, c.spent, c.first, c.last, c.checks, c.ended}
}

// countsText returns the numbers of trials as they are stored: a JSON object of
// the states of which there are any, by name.
// The keys are sorted, as encoding/json does it for maps.
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

// parseCounts is the inverse of countsText. States of which there are none may
// stand in the text.
// It returns an error for a name that is not a state's.
func parseCounts(text string) (map[assay.State]int64, error) {
	counts := map[assay.State]int64{}
	if err := json.Unmarshal([]byte(text), &counts); err != nil {
		return nil, fmt.Errorf("numbers of trials: %w", err)
	}
	// The migration from format 1 has written zeros; a summary has none.
	maps.DeleteFunc(counts, func(_ assay.State, n int64) bool { return n == 0 })
	return counts, nil
}

// askedBefore returns a trial as far as its proposal, from columns of trials.
// It is what a withdrawal keeps of a trial. The columns have no checksum, so text that does
// not parse is damage; the caller says so.
func askedBefore(id int64, state assay.State, config, started string) (t assay.Trial, err error) {
	t.ID, t.State = id, state
	if err := json.Unmarshal([]byte(config), &t.Config); err != nil {
		return t, err
	}
	t.Started, err = parseTime(started)
	return t, err
}

// summaryColumns are the names of headColumns, of a table called h.
// Their order is that of headColumns.args and of the Scan in scanHead.
const summaryColumns = `h.counts, h.best, h.best_value, h.spent_ns, h.first, h.last, h.checks, h.ended`

// scanHead reads id, name and created of studies, seq and hash of heads, the
// hash of the event of that seq, and summaryColumns.
// The queries join heads from the left. If a study has no row there, its columns are NULL,
// which an int64 does not take: the error matches [ErrDamaged]. hash and last belong to the
// caller. scanHead does not compare them: a query that has no use for the hash of the event
// selects the head's twice.
func scanHead(row interface{ Scan(...any) error }) (id int64, hash, last []byte, sum assay.Summary, err error) {
	var c headColumns
	var name, created string
	var seq int64
	err = row.Scan(&id, &name, &created, &seq, &hash, &last, &c.counts,
		&c.best, &c.value, &c.spent, &c.first, &c.last, &c.checks, &c.ended)
	if err != nil {
		return 0, nil, nil, assay.Summary{}, scanError(err)
	}
	// Without a best trial the value stays the +Inf of an empty summary.
	sum = store.NewSummary(name, time.Time{})
	if sum.Counts, err = parseCounts(c.counts); err != nil {
		return 0, nil, nil, assay.Summary{}, fmt.Errorf("%w: study %q: %w", ErrDamaged, name, err)
	}
	sum.Events, sum.Best, sum.Spent = seq, c.best, time.Duration(c.spent)
	sum.Checks, sum.Ended = c.checks, c.ended
	if c.value.Valid {
		sum.Value = c.value.Float64
	}
	for _, t := range []struct {
		to   *time.Time
		text string
	}{{&sum.Created, created}, {&sum.First, c.first}, {&sum.Last, c.last}} {
		if *t.to, err = parseTime(t.text); err != nil {
			return 0, nil, nil, assay.Summary{}, fmt.Errorf("%w: study %q: %w", ErrDamaged, name, err)
		}
	}
	return id, hash, last, sum, nil
}

// scanError returns err, in the class [ErrDamaged] if it comes from a value
// that its column cannot have, rather than from SQLite.
// Three kinds of errors stay as they are:
//   - nil, no row, and the end of a context
//   - an error of the driver, which classify puts in its class
//   - one that is damage already
//
// Any other comes from the conversion of a column or from the text in it.
func scanError(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*driver.Error](err); ok || errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// timeText returns t as text, or "" for the zero time.
// The offset from UTC stays as it was given, and zeros at the end of the fraction are left
// out, so the text of two times does not sort as the times do.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

// parseTime is the inverse of timeText.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339Nano, text)
}

// parseTimeOr returns the zero time for what is none.
// Fsck and Salvage use it on columns that may be damaged, and go on.
func parseTimeOr(text string) time.Time {
	t, err := parseTime(text)
	if err != nil {
		return time.Time{}
	}
	return t
}
