package setup

import (
	"database/sql"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/exchange"
	"github.com/assay-run/assay/internal/testbed"
)

// optunaTables has the columns of Optuna's storage that are read.
const optunaTables = `
CREATE TABLE version_info (schema_version INTEGER);
CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name VARCHAR(512) NOT NULL);
CREATE TABLE study_directions (study_id INTEGER, direction VARCHAR(8), objective INTEGER);
CREATE TABLE study_system_attributes (study_id INTEGER, "key" VARCHAR(512), value_json TEXT);
CREATE TABLE trials (trial_id INTEGER PRIMARY KEY, number INTEGER, study_id INTEGER, state VARCHAR(8),
	datetime_start DATETIME, datetime_complete DATETIME);
CREATE TABLE trial_user_attributes (trial_id INTEGER, "key" VARCHAR(512), value_json TEXT);
CREATE TABLE trial_params (param_id INTEGER PRIMARY KEY, trial_id INTEGER, param_name VARCHAR(512),
	param_value FLOAT, distribution_json TEXT);
CREATE TABLE trial_values (trial_id INTEGER, objective INTEGER, value FLOAT, value_type VARCHAR(7));
`

// optunaTwo fills them: a study of one trial, and one of two objectives with each state there is.
const optunaTwo = `
INSERT INTO studies VALUES (1, 'small'), (2, 'kiln');
INSERT INTO study_directions VALUES (1, 'MINIMIZE', 0), (2, 'MAXIMIZE', 1), (2, 'MINIMIZE', 0);
INSERT INTO study_system_attributes VALUES (2, 'study:metric_names', '["time", "score"]');
INSERT INTO trials VALUES (1, 0, 2, 'COMPLETE', '2026-01-02 03:04:05.5', '2026-01-02 03:04:08'), (2, 0, 1,
	'COMPLETE', NULL, NULL),
	(3, 1, 2, 'PRUNED', '2026-01-02 03:04:05', NULL), (4, 2, 2, 'FAIL', NULL, NULL), (5, 3, 2, 'RUNNING', NULL, NULL),
		(6, 4, 2, 'WAITING', NULL, NULL),
	(7, 5, 2, 'COMPLETE', NULL, NULL), (8, 6, 2, 'FAIL', NULL, NULL);
INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES
	(1, 'kind', 1, '{"name": "CategoricalDistribution", "attributes": {"choices": ["flat", "tree"]}}'),
	(1, 'depth', 4, '{"name": "IntDistribution", "attributes": {}}'),
	(2, 'x', 0.25, '{"name": "FloatDistribution", "attributes": {}}'),
	(3, 'kind', 0, '{"name": "CategoricalDistribution", "attributes": {"choices": ["flat", "tree"]}}'),
	(5, 'kind', 0, '{"name": "CategoricalDistribution", "attributes": {"choices": ["flat", "tree"]}}'),
	(7, 'kind', 0, '{"name": "CategoricalDistribution", "attributes": {"choices": ["flat", "tree"]}}'),
	(8, 'kind', 0, '{"name": "CategoricalDistribution", "attributes": {"choices": ["flat", "tree"]}}');
INSERT INTO trial_values VALUES (1, 1, 9, 'FINITE'), (1, 0, 3.5, 'FINITE'), (2, 0, 1, 'FINITE'), (3, 0, 8, 'FINITE'),
	(7, 0, NULL, 'INF_POS'), (7, 1, NULL, 'INF_NEG');
INSERT INTO trial_user_attributes VALUES (1, 'watts', '12.5'), (1, 'who', '"me"'), (3, 'watts', 'null'), (2, 'other',
	'1');
`

// database makes one of statements.
func database(t *testing.T, statements ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "o.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// The database of Optuna's RDBStorage is read as its journal is.
func TestImportOptunaStorage(t *testing.T) {
	path := database(t, optunaTables, optunaTwo)
	if !IsForeign(path) {
		t.Fatal("it is not recognised")
	}
	s, err := ReadForeign(t.Context(), path, "kiln")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Parameters, []string{"kind", "depth"}) || s.When["depth"] != "kind == 'tree'" ||
		!slices.Equal(s.Metrics, []exchange.Metric{
			{Name: "time", Known: true}, {Name: "score", Known: true, Maximize: true}, {Name: "watts"},
		}) {
		t.Errorf("%+v", s)
	}
	var got []string
	for _, r := range s.Runs {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %v %v %s", r.Config[0], r.Values, r.Elapsed, r.Failed)))
	}
	if want := []string{
		"tree [3.5 9 12.5] 2.5", "flat [NaN NaN NaN] NaN PRUNED", "flat [NaN NaN NaN] NaN no finite value",
		"flat [NaN NaN NaN] NaN FAIL",
	}; !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if s, err := ReadForeign(t.Context(), path, "small"); err != nil || len(s.Runs) != 1 || s.Runs[0].Config[0] != "0.25" {
		t.Errorf("%+v, %v", s, err)
	}
}

// The import reports a flaw of a storage once, with the file.
func TestImportOptunaStorageRefuses(t *testing.T) {
	for change, want := range map[string]string{
		"": "o.db: the studies are small, kiln",
		"DELETE FROM studies WHERE study_id = 1; UPDATE trial_params SET param_value = 2 WHERE trial_id = 3": "the storage " +
			"of Optuna: trial 1, parameter kind: there is no choice 2 of 2",
		"DELETE FROM studies WHERE study_id = 1; UPDATE trial_params SET param_value = NULL": "trial 0, parameter " +
			"kind: it has no value",
		"DELETE FROM studies WHERE study_id = 1; UPDATE trial_params SET distribution_json = NULL": "trial 0, parameter " +
			"kind: the distribution",
		"DELETE FROM studies WHERE study_id = 1; UPDATE trial_values SET objective = 2": "has a value " +
			"of objective 2, of 2",
		"DELETE FROM studies WHERE study_id = 1; UPDATE trial_values SET value = 'x'": "the storage " +
			"of Optuna: ",
		"DELETE FROM studies WHERE study_id = 1; UPDATE study_system_attributes SET value_json = '{'": "the storage " +
			"of Optuna: ",
		"DELETE FROM studies WHERE study_id = 1; ALTER TABLE trial_values DROP COLUMN value_type": "o.db: this " +
			"storage is of Optuna before 3.0",
		"DELETE FROM studies": "the studies are ",
		"DELETE FROM trials":  "the studies are small, kiln",
		"DELETE FROM studies WHERE study_id = 1; DELETE FROM trials": "o.db: the study has no parameters",
	} {
		path := database(t, optunaTables, optunaTwo, change)
		s, err := ReadForeign(t.Context(), path, "")
		if err == nil || assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(), want) ||
			strings.Count(err.Error(), "o.db") != 1 {
			t.Errorf("%s: %v, %+v; want %s", change, err, s, want)
		}
	}
}

// Optuna itself writes the same study into a journal and into a database.
func TestOptunaWritesBoth(t *testing.T) {
	testbed.Outside(t)
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import optuna").Run() != nil {
		t.Skip("NOT CHECKED WITH OPTUNA: pip install optuna")
	}
	dir := t.TempDir()
	read := func(name, study string) *exchange.Study {
		t.Helper()
		s, err := ReadForeign(t.Context(), filepath.Join(dir, name), study)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Runs {
			s.Runs[i].Elapsed = 0 // of two processes
			for j, v := range s.Runs[i].Values {
				if math.IsNaN(v) {
					s.Runs[i].Values[j] = math.MaxFloat64
				}
			}
		}
		return s
	}
	for _, name := range []string{"o.log", "o.db"} {
		if out, err := exec.Command(python, foreignFiles+"make_optuna.py",
			filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for study, runs := range map[string]int{"forest": 24, "two": 10} {
		journal, database := read("o.log", study), read("o.db", study)
		if len(journal.Runs) != runs || !reflect.DeepEqual(journal, database) {
			t.Errorf("%s: the journal has %+v\nthe database %+v", study, journal, database)
		}
	}
}
