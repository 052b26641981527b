package planning

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/workflow"
)

// run is a recorded execution of three tasks that took 9 s.
const run = `{"name":"w","makespan_s":9,"cores":2,"tasks":[{"id":"a","kind":"k","run_s":1,"in_B":10},
{"id":"b","kind":"k","run_s":2,"in_B":20,"parents":["a"]},{"id":"c","kind":"k","run_s":4,"in_B":40,"parents":["b"]}]}`

// folder returns a folder with files given as name, content.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	dir := folder(t, "w.json", run, "t.csv", "id,run_s\na,1\n", "a,b.csv", "id,run_s\nx,5\n",
		"dag/d.dag", "JOB a a.sub\nJOB b b.sub\nPARENT a CHILD b\n", "dag/.hidden", "not a workflow",
		"dag/job.log", "1335477450 a EXECUTE 1.0 local - 1\n1335477455 a JOB_SUCCESS 0 local - 1\n"+
			"1335477455 b EXECUTE 2.0 local - 2\n1335477458 b JOB_SUCCESS 0 local - 2\n")
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, tt := range []struct {
		arg, name string
		work      workflow.Seconds
	}{
		{at("w.json"), "w", 7},
		{at("t.csv"), "t.csv", 1},
		{at("a,b.csv"), "a,b.csv", 5}, // a comma in a name is no list
		{at("dag"), "dag", 8},
		{at("dag/d.dag") + "," + at("dag/job.log"), "job.log", 8},
	} {
		w, err := Read(Disk, tt.arg, nil, workflow.FillOptions{})
		if err != nil || w.Work() != tt.work || w.Name != tt.name {
			t.Errorf("%s: %+v, %v; want %s with %v s of work", tt.arg, w, err, tt.name, tt.work)
		}
	}
	w, err := Read(Disk, "-", strings.NewReader("id,run_s\nz,3\n"), workflow.FillOptions{})
	if err != nil || w.Work() != 3 {
		t.Errorf("standard input: %v, %v", w, err)
	}
	var in *workflow.InputError
	if _, err := Read(Disk, "-", strings.NewReader("id,run_s\nz,x\n"), workflow.FillOptions{}); !errors.As(err, &in) ||
		!strings.HasPrefix(err.Error(), "<stdin>:2:1: ") {
		t.Errorf("standard input that is wrong: %v", err)
	}
	if _, err := Read(Disk, at("nothing"), nil, workflow.FillOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Read(Disk, t.TempDir(), nil, workflow.FillOptions{}); err == nil ||
		!strings.HasSuffix(err.Error(), ": no files") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestFiles(t *testing.T) {
	dir := folder(t, "b", "", "a/c", "", "a/.x", "", "d", "")
	got, err := Disk.Files(dir)
	for i := range got {
		got[i], _ = filepath.Rel(dir, got[i])
	}
	if want := []string{"a/c", "b", "d"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if got, err := Disk.Files(filepath.Join(dir, "b")); err != nil || len(got) != 1 {
		t.Errorf("a file: %v, %v", got, err)
	}
}

// TestCalibration checks that a saved calibration is read as it was fitted, and
// stands alone.
func TestCalibration(t *testing.T) {
	dir := folder(t, "runs/w-001.json", run, "runs/w-002.json", run, "runs/x-001.json", run)
	runs := filepath.Join(dir, "runs")
	c, err := Calibration(Disk, []string{runs})
	if err != nil || c.Executions != 3 || c.Configs != 2 {
		t.Fatalf("%+v, %v; want three executions of two configurations", c, err)
	}
	saved := filepath.Join(dir, "c.json")
	file, err := os.Create(saved)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Write(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	back, err := Calibration(Disk, []string{saved})
	if err != nil || back.Executions != 3 || len(back.Models) != len(c.Models) {
		t.Errorf("read back: %+v, %v", back, err)
	}
	for _, args := range [][]string{{saved, saved}, {saved, runs}, {runs, saved}} {
		if _, err := Calibration(Disk, args); err == nil || !strings.Contains(err.Error(), "c.json is a saved calibration") {
			t.Errorf("%v: %v", args, err)
		}
	}
	bad := folder(t, "c.json", `{"assay":"calibration","version":9}`, "t.csv", "id,run_s\na,1\n")
	if _, err := Calibration(Disk, []string{filepath.Join(bad, "c.json")}); err == nil ||
		!strings.Contains(err.Error(), "version 9") {
		t.Errorf("a later version: %v", err)
	}
	if _, err := Calibration(Disk, []string{filepath.Join(bad, "t.csv")}); !errors.Is(err, workflow.ErrNoMakespan) {
		t.Errorf("no makespan: %v", err)
	}
}

func TestKindTimes(t *testing.T) {
	m, err := KindTimes(Disk, []string{folder(t, "a.json", run)})
	if err != nil {
		t.Fatal(err)
	}
	if x, ok := m.Run(&workflow.Task{Kind: "k", In: 100}, nil); !ok || x < 9.9 || x > 10.1 {
		t.Errorf("100 B take %v s, want 10", x)
	}
	if _, err := KindTimes(Disk, []string{folder(t, "a.csv", "id,run_s\na,x\n")}); err == nil {
		t.Error("a bad file gives times")
	}
}

// TestRecorded checks that an execution is JSON with a makespan.
func TestRecorded(t *testing.T) {
	dir := folder(t, "app/x-001.json", run, "app/y.json", strings.Replace(run, `"makespan_s":9,`, "", 1),
		"app/meta.json", "{", "app/notes.csv", "nothing")
	runs, skipped, err := Recorded(Disk, []string{dir})
	if err != nil || len(runs) != 1 || skipped != 1 {
		t.Fatalf("%d executions, %d skipped, %v", len(runs), skipped, err)
	}
	if r := runs[0]; r.Name != "app/x-001.json" || r.App != "app" || r.Config != "app/x" {
		t.Errorf("%+v", r)
	}
	if _, _, err := Recorded(Disk, []string{t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), "no executions with a makespan") {
		t.Errorf("an empty folder: %v", err)
	}
}
