package exchange

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
)

// This file reads the storage of mlos_bench, a database of SQLAlchemy: experiment, objectives, trial,
// config_param and trial_result, in which all values are texts. A trial that has SUCCEEDED is a run, one
// that FAILED or has TIMED_OUT a failed one; pending, running and cancelled trials are ignored.

// mlosQuery has the runs of an experiment, each as often as it has parameters.
const mlosQuery = `SELECT t.trial_id, t.status, t.ts_start, t.ts_end, p.param_id, p.param_value
	FROM trial t JOIN config_param p ON p.config_id = t.config_id
	WHERE t.exp_id = ? AND t.status IN ('SUCCEEDED', 'FAILED', 'TIMED_OUT') ORDER BY t.trial_id, p.rowid`

// IsMLOS reports whether a database is the storage of mlos_bench.
func IsMLOS(ctx context.Context, db *sql.DB) bool {
	var n int
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table'
		AND name IN ('experiment', 'objectives', 'trial', 'config_param', 'trial_result')`).Scan(&n)
	return err == nil && n == 5
}

// ReadMLOS reads an experiment of a storage; name may be "" where there is one alone. The error is of the class usage;
// file is for messages.
func ReadMLOS(ctx context.Context, db *sql.DB, file, name string) (*Study, error) {
	fail := func(err error) error {
		if err == nil {
			return nil
		}
		return assay.WithClass(assay.ClassUsage, fmt.Errorf("%s: the storage of mlos_bench: %w", file, err))
	}
	names, err := texts(ctx, db, "SELECT exp_id FROM experiment ORDER BY rowid")
	if err != nil {
		return nil, fail(err)
	}
	switch {
	case name == "" && len(names) == 1:
		name = names[0]
	case name == "" || !slices.Contains(names, name):
		return nil, assay.WithHint(assay.Errorf(assay.ClassUsage, "%s: the experiments are %s", file,
			strings.Join(names, ", ")), "name one with --of")
	}
	s := &Study{Tool: "MLOS", Name: name}
	ids, err := s.readMLOSTrials(ctx, db)
	if err != nil {
		return nil, fail(err)
	}
	if err := s.readMLOSResults(ctx, db, ids); err != nil {
		return nil, fail(err)
	}
	return s, s.check(file)
}

func texts(ctx context.Context, db *sql.DB, query string, args ...any) (all []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
}

// readMLOSTrials reads the trials with their configurations, and returns their ids.
func (s *Study) readMLOSTrials(ctx context.Context, db *sql.DB) (ids []int64, err error) {
	rows, err := db.QueryContext(ctx, mlosQuery, s.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	of := map[string]int{} // place of a parameter
	for rows.Next() {
		var id int64
		var status, param string
		var start, end, value sql.NullString
		if err := rows.Scan(&id, &status, &start, &end, &param, &value); err != nil {
			return nil, err
		}
		if len(ids) == 0 || ids[len(ids)-1] != id {
			r := Run{Elapsed: between(start.String, end.String)}
			if status != "SUCCEEDED" {
				r.Failed = status
			}
			ids, s.Runs = append(ids, id), append(s.Runs, r)
		}
		i, known := of[param]
		if !known {
			if len(s.Runs) > 1 {
				return nil, fmt.Errorf("trial %d has a parameter %s, and the trials before it have none", id, param)
			}
			i = len(s.Parameters)
			of[param], s.Parameters = i, append(s.Parameters, param)
		}
		r := &s.Runs[len(s.Runs)-1]
		for len(r.Config) <= i {
			r.Config = append(r.Config, "")
		}
		r.Config[i] = value.String
	}
	for i, r := range s.Runs {
		if len(r.Config) != len(s.Parameters) || slices.Contains(r.Config, "") {
			return nil, fmt.Errorf("trial %d lacks a parameter that others have", ids[i])
		}
	}
	return ids, nil
}

// between returns the seconds between two times, NaN if one is not known.
func between(from, to string) float64 {
	a, okA := moment(from)
	b, okB := moment(to)
	if d := b.Sub(a).Seconds(); okA && okB && d >= 0 {
		return d
	}
	return math.NaN()
}

// moment reads a time as SQLAlchemy writes it, or as a driver has it.
func moment(text string) (time.Time, bool) {
	text = strings.Replace(text, "T", " ", 1)
	for _, layout := range []string{"2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// readMLOSResults reads the measurements of the trials. A value is a metric if it is a number in every
// trial that has it. The objectives are first.
func (s *Study) readMLOSResults(ctx context.Context, db *sql.DB, ids []int64) (err error) {
	ways := map[string]string{}
	order, err := texts(ctx, db, "SELECT optimization_target FROM objectives WHERE exp_id = ? ORDER BY rowid", s.Name)
	if err != nil {
		return err
	}
	directions, err := texts(ctx, db, "SELECT optimization_direction FROM objectives WHERE exp_id = ? ORDER BY rowid",
		s.Name)
	if err != nil {
		return err
	}
	for i, name := range order {
		ways[name] = directions[i]
	}
	rows, err := db.QueryContext(ctx,
		"SELECT trial_id, metric_id, metric_value FROM trial_result WHERE exp_id = ? ORDER BY trial_id, rowid", s.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	values := map[string]map[int64]float64{}
	texts := map[string]bool{}
	for rows.Next() {
		var id int64
		var metric string
		var text sql.NullString
		if err := rows.Scan(&id, &metric, &text); err != nil {
			return err
		}
		x, err := strconv.ParseFloat(text.String, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			texts[metric] = texts[metric] || text.Valid
			continue
		}
		if values[metric] == nil {
			values[metric] = map[int64]float64{}
			if !slices.Contains(order, metric) {
				order = append(order, metric)
			}
		}
		values[metric][id] = x
	}
	for _, name := range order {
		if values[name] == nil || texts[name] && ways[name] == "" {
			continue
		}
		s.Metrics = append(s.Metrics, Metric{Name: name, Maximize: ways[name] == "max", Known: ways[name] != ""})
		for i, id := range ids {
			v, ok := values[name][id]
			if !ok {
				v = math.NaN()
			}
			s.Runs[i].Values = append(s.Runs[i].Values, v)
		}
	}
	return nil
}
