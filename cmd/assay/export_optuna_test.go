package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// TestOptunaLoadsTheJournal lets Optuna load an exported study and go on with it,
// where Python has Optuna.
func TestOptunaLoadsTheJournal(t *testing.T) {
	python := testbed.Module(t, "optuna", "optuna")
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	tune := exec.Command("assay", "tune", "-p", "n=1..9", "-p", "z=a,b", "-p", "r=0.1..0.9",
		"--trials", "6", "--check", "0", "--study", "o", "--", "true", "{n}", "{z}", "{r}")
	if out, err := tune.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	journal, err := exec.Command("assay", "study", "export", "o", "--format", "optuna").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "o.journal")
	if err := os.WriteFile(file, journal, 0o600); err != nil {
		t.Fatal(err)
	}
	script := `
import sys, optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
study = optuna.load_study(study_name="o", storage=JournalStorage(JournalFileBackend(sys.argv[1])))
before = len(study.trials)
study.optimize(lambda t: t.suggest_int("n", 1, 9) * t.suggest_float("r", 0.1, 0.9) + ` +
		`(t.suggest_categorical("z", ["a", "b"]) == "a"), n_trials=2)
print(before, len(study.trials))
`
	out, err := exec.Command(python, "-c", script, file).Output()
	if err != nil || string(bytes.TrimSpace(out)) != "6 8" {
		t.Errorf("%v\n%s", err, out)
	}
}

// Optuna sees that a trial outside the limits ran to its end and is not feasible, and sees its
// value. It sees the metrics of each trial.
func TestOptunaSeesTheLimits(t *testing.T) {
	python := testbed.Module(t, "optuna", "optuna")
	h := newHouse(t)
	h.run("tune t.yaml --trials 12 --search grid --stop none --subject-to power<=15 --study l")
	file := filepath.Join(h.dir, "l.journal")
	if err := os.WriteFile(file, []byte(h.run("study export l --format optuna")), 0o600); err != nil {
		t.Fatal(err)
	}
	script := `
import sys, optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
study = optuna.load_study(study_name="l", storage=JournalStorage(JournalFileBackend(sys.argv[1])))
done = [t for t in study.trials if t.state.name == "COMPLETE"]
key = "constraints"
for t in done:
    assert t.user_attrs["elapsed"] == t.value and t.user_attrs["power"] > 0, t
    assert (t.system_attrs[key][0] > 0) == (t.user_attrs["power"] > 15), t
assert study.metric_names == ["elapsed"] and study.user_attrs["assay_units"] == {"elapsed": "s"}, study.user_attrs
print(len(done), sum(t.system_attrs[key][0] > 0 for t in done), study.best_trial.user_attrs["power"] <= 15)
`
	out, err := exec.Command(python, "-c", script, file).CombinedOutput()
	if want := "12 4 True"; err != nil || string(bytes.TrimSpace(out)) != want {
		t.Errorf("%v\n%s, want %s", err, out, want)
	}
}
