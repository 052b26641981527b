package setup

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

const foreignFiles = "../internal/exchange/testdata/"

// The storage is from mlos_bench 0.6.2: an experiment with two objectives, a trial that failed and one that still
// runs.
func TestMLOS(t *testing.T) {
	s, err := ReadForeign(t.Context(), foreignFiles+"mlos.sqlite", "")
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "cache" || !slices.Equal(s.Parameters, []string{"size_mb", "policy", "ratio"}) || len(s.Runs) != 11 {
		t.Errorf("%+v", s)
	}
	if m := s.Metrics; len(m) != 3 || m[0].Name != "latency" || m[0].Maximize || m[1].Name != "throughput" ||
		!m[1].Maximize || m[2].Known {
		t.Errorf("metrics %+v", m)
	}
	first, failed := s.Runs[0], s.Runs[5]
	if !slices.Equal(first.Config, []string{"16", "random", "0.25"}) || first.Values[0] != 20.619955166548078 ||
		first.Elapsed != 20.619955 {
		t.Errorf("%+v", first)
	}
	if failed.Failed != "FAILED" || failed.Elapsed != 30 || failed.Values[0] == failed.Values[0] {
		t.Errorf("%+v", failed)
	}
	for of, want := range map[string]string{"other": "the experiments are cache"} {
		if _, err := ReadForeign(t.Context(), foreignFiles+"mlos.sqlite", of); assay.ClassOf(err) != assay.ClassUsage ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", of, err)
		}
	}
}

// The measurements of another tuner are a study on record that helps one of ours.
func TestImportForeign(t *testing.T) {
	for file, want := range map[string]int64{"mlos.sqlite": 10, "kerneltuner-cache.json": 8, "kerneltuner-t4.json": 8} {
		s := memory(t)
		path := foreignFiles + file
		if !IsForeign(path) {
			t.Fatalf("%s is not recognised", file)
		}
		f, err := ReadForeign(t.Context(), path, "")
		if err != nil {
			t.Fatal(err)
		}
		p, notes, err := ForeignProblem(f, path)
		if err != nil || len(notes) > 0 {
			t.Fatalf("%s: %q, %v", file, notes, err)
		}
		if _, err := p.Import(t.Context(), s, "old"); err != nil {
			t.Fatal(err)
		}
		sum, err := s.Summary(t.Context(), "old")
		if err != nil || sum.Counts[assay.Done] != want {
			t.Errorf("%s: %+v, %v", file, sum, err)
		}
		dir := t.TempDir()
		if err := WriteForeign(f, filepath.Join(dir, "new.yaml")); err != nil {
			t.Fatal(err)
		}
		if err := WriteForeign(f, filepath.Join(dir, "new.yaml")); err == nil {
			t.Error("a file that is there was written over")
		}
		text, err := os.ReadFile(filepath.Join(dir, "new.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		helped, _ := runStudy(t, s, define(t, filepath.Join(dir, "next.yaml"),
			strings.Replace(string(text), "replay:", "prior: auto\nbudget: {trials: 2}\nreplay:", 1)), "", nil)
		if len(helped.Notes) != 1 || helped.Notes[0] != `study "old" helps` {
			t.Errorf("%s: notes %q", file, helped.Notes)
		}
	}
}

// A journal of Optuna is a study on record: a parameter that is not always in force has its condition, and pruned and
// failed trials are failed runs.
func TestImportOptuna(t *testing.T) {
	path := foreignFiles + "optuna-journal.log"
	if !IsForeign(path) {
		t.Fatal("it is not recognised")
	}
	f, err := ReadForeign(t.Context(), path, "forest")
	if err != nil {
		t.Fatal(err)
	}
	p, notes, err := ForeignProblem(f, path)
	if err != nil || len(notes) > 0 {
		t.Fatalf("notes %q, %v", notes, err)
	}
	s := memory(t)
	if _, err := p.Import(t.Context(), s, "old"); err != nil {
		t.Fatal(err)
	}
	sum, err := s.Summary(t.Context(), "old")
	if err != nil || sum.Counts[assay.Done] != 21 || sum.Counts[assay.Failed] != 3 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// ReadForeign refuses a file that is not another tuner's with one error, with its place.
func TestForeignRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other := filepath.Join(dir, "other.db")
	db, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE trial (a); CREATE TABLE experiment (exp_id TEXT)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	half, err := os.ReadFile(foreignFiles + "mlos.sqlite")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		write("a.json", `{"a": 1}`): "a.json:1:1: this is no cache",
		write("b.json", "{\n"):      "b.json:2:1: not JSON",
		other:                       "this database is no storage",
		write("half.db", string(half[:len(half)/3])): "half.db: ",
		filepath.Join(dir, "none.json"):              "no such file",
	} {
		if _, err := ReadForeign(t.Context(), path, ""); assay.ClassOf(err) != assay.ClassUsage ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if IsForeign(write("s.yaml", "replay: {}\n")) || IsForeign(filepath.Join(dir, "none")) {
		t.Error("a study file is taken for one of another tuner")
	}
}
