package planning

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/assay-run/assay/workflow"
)

// Files that were sent are found by their names alone, and folders of them by the beginnings of the names.
func TestGiven(t *testing.T) {
	g := Given{"runs/b.json": []byte(run), "runs/a.json": []byte(run), "runs/.x": nil, "w.csv": []byte("id,run_s\na,1\n")}
	for path, want := range map[string][]string{
		"w.csv": {"w.csv"}, "runs": {"runs/a.json", "runs/b.json"}, "runs/": {"runs/a.json", "runs/b.json"},
		"run": nil, "../w.csv": nil, "./w.csv": nil, ".": nil, "": nil, "/etc/passwd": nil,
	} {
		got, err := g.Files(path)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %q, %v; want %q", path, got, err, want)
		}
	}
	if w, err := Read(g, "runs/a.json", nil, workflow.FillOptions{}); err != nil || w.Work() != 7 {
		t.Errorf("%v, %v", w, err)
	}
	if runs, err := Executions(g, []string{"runs"}); err != nil || len(runs) != 2 {
		t.Errorf("%d executions, %v", len(runs), err)
	}
	if _, err := g.Open("/etc/passwd"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file of the machine: %v", err)
	}
}
