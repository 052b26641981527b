package exchange

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/assay-run/assay"
)

// This file reads the SQLite database of Optuna's RDBStorage, as Optuna writes it since 3.0. A value that is not finite
// has its kind in value_type.

// optunaParams has the parameters of the trials of a study in the order in which they were asked for, trials without
// any too.
const optunaParams = `SELECT t.trial_id, t.number, t.state, t.datetime_start, t.datetime_complete,
	p.param_name, p.param_value, p.distribution_json
	FROM trials t LEFT JOIN trial_params p ON p.trial_id = t.trial_id WHERE t.study_id = ?
	ORDER BY t.number, t.trial_id, p.param_id`

// IsOptunaStorage reports whether a database is a storage of Optuna.
func IsOptunaStorage(ctx context.Context, db *sql.DB) bool {
	var n int
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table'
		AND name IN ('studies', 'study_directions', 'trials', 'trial_params', 'trial_values', 'version_info')`).Scan(&n)
	return err == nil && n == 6
}

// ReadOptunaStorage reads a study of a storage; name may be "" where there is one alone. The error is of the class
// usage; file is for messages.
func ReadOptunaStorage(ctx context.Context, db *sql.DB, file, name string) (*Study, error) {
	o, err := readOptunaStorage(ctx, db, file, name)
	if err != nil {
		return nil, err
	}
	return o.study(file)
}

// readOptunaStorage reads all of a study at one instant: Optuna may be writing.
func readOptunaStorage(ctx context.Context, db *sql.DB, file, name string) (o *optunaStudy, err error) {
	defer func() {
		if err != nil && assay.ClassOf(err) != assay.ClassUsage {
			err = assay.WithClass(assay.ClassUsage, fmt.Errorf("%s: the storage of Optuna: %w", file, err))
		}
	}()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	var typed bool
	if err := tx.QueryRowContext(ctx,
		"SELECT count(*) > 0 FROM pragma_table_info('trial_values') WHERE name = 'value_type'").Scan(&typed); err != nil {
		return nil, err
	}
	if !typed {
		return nil, assay.WithHint(assay.Errorf(assay.ClassUsage, "%s: this storage is of Optuna before 3.0", file),
			"optuna storage upgrade --storage sqlite:///"+file)
	}
	var studies []*optunaStudy
	ids := map[*optunaStudy]int64{}
	err = query(ctx, tx, "SELECT study_id, study_name FROM studies ORDER BY study_id", nil, func(scan scanner) error {
		var id int64
		s := &optunaStudy{}
		err := scan(&id, &s.name)
		studies, ids[s] = append(studies, s), id
		return err
	})
	if err != nil {
		return nil, err
	}
	if o, err = chooseOptuna(studies, file, name); err != nil {
		return nil, err
	}
	return o, o.read(ctx, tx, ids[o])
}

// A scanner reads a row.
type scanner func(to ...any) error

// query has each row of a query read.
func query(ctx context.Context, tx *sql.Tx, text string, args []any, row func(scanner) error) (err error) {
	rows, err := tx.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return nil
}

// read reads the content of a study.
func (o *optunaStudy) read(ctx context.Context, tx *sql.Tx, id int64) error {
	err := query(ctx, tx, "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective", []any{id},
		func(scan scanner) error {
			var way string
			err := scan(&way)
			o.maximize = append(o.maximize, way == "MAXIMIZE")
			return err
		})
	if err != nil {
		return err
	}
	err = query(ctx, tx, `SELECT value_json FROM study_system_attributes
		WHERE study_id = ? AND key = 'study:metric_names'`, []any{id}, func(scan scanner) error {
		var text string
		return errors.Join(scan(&text), json.Unmarshal([]byte(text), &o.metrics))
	})
	if err != nil {
		return err
	}
	by := map[int64]*optunaTrial{}
	err = query(ctx, tx, optunaParams, []any{id}, func(scan scanner) error { return o.readParam(scan, by) })
	if err != nil {
		return err
	}
	err = query(ctx, tx, `SELECT v.trial_id, v.objective, v.value, v.value_type
		FROM trial_values v JOIN trials t ON t.trial_id = v.trial_id
		WHERE t.study_id = ?`, []any{id}, func(scan scanner) error { return o.readValue(scan, by) })
	if err != nil {
		return err
	}
	return query(ctx, tx, `SELECT a.trial_id, a.key, a.value_json
		FROM trial_user_attributes a JOIN trials t ON t.trial_id = a.trial_id
		WHERE t.study_id = ?`, []any{id}, func(scan scanner) error {
		var trial int64
		var key, value sql.NullString
		if err := scan(&trial, &key, &value); err != nil {
			return err
		}
		by[trial].attributes(map[string]json.RawMessage{key.String: json.RawMessage(value.String)})
		return nil
	})
}

// readParam reads a row of optunaParams.
func (o *optunaStudy) readParam(scan scanner, by map[int64]*optunaTrial) error {
	var id int64
	var number sql.NullInt64
	var state string
	var start, end, name, distribution sql.NullString
	var value sql.NullFloat64
	if err := scan(&id, &number, &state, &start, &end, &name, &value, &distribution); err != nil {
		return err
	}
	t := by[id]
	if t == nil {
		t = &optunaTrial{
			number: int(number.Int64), state: state, start: start.String, end: end.String,
			params: map[string]string{}, attrs: map[string]float64{}, values: make([]float64, len(o.maximize)),
		}
		for i := range t.values {
			t.values[i] = math.NaN()
		}
		by[id], o.trials = t, append(o.trials, t)
	}
	switch {
	case !name.Valid:
		return nil
	case !value.Valid:
		return fmt.Errorf("trial %d, parameter %s: it has no value", t.number, name.String)
	}
	return t.set(name.String, value.Float64, distribution.String)
}

// readValue reads the value of an objective.
func (o *optunaStudy) readValue(scan scanner, by map[int64]*optunaTrial) error {
	var id, objective int64
	var value sql.NullFloat64
	var kind string
	if err := scan(&id, &objective, &value, &kind); err != nil {
		return err
	}
	t := by[id]
	if objective < 0 || objective >= int64(len(t.values)) {
		return fmt.Errorf("trial %d has a value of objective %d, of %d", t.number, objective, len(t.values))
	}
	switch {
	case kind == "INF_POS":
		value.Float64 = math.Inf(1)
	case kind == "INF_NEG":
		value.Float64 = math.Inf(-1)
	case !value.Valid:
		value.Float64 = math.NaN()
	}
	t.values[objective] = value.Float64
	return nil
}
