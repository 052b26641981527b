package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// tree returns the files below a directory, "name=text" with spaces between, in lexical order.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if e.IsDir() {
			all = append(all, name+"/")
			return nil
		}
		text, err := os.ReadFile(path)
		all = append(all, name+"="+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesAreThereForTheRun(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"app.conf": "mine", "other": "x"})
	during := ""
	inner := runnerFunc(func(_ context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
		if during = tree(t, dir); job.Files != nil {
			t.Errorf("inner is given %+v", job.Files)
		}
		lay(t, dir, map[string]string{"app.conf": "changed by the program"})
		return assay.Measurement{}, errors.New("stopped")
	})
	job := assay.Job{Dir: dir, Argv: []string{"job"}, Files: []assay.File{
		{Name: "app.conf", Text: "n = 3"}, {Name: "conf.d/deep/a", Text: ""},
	}}
	if _, err := WithFiles(inner).Run(t.Context(), job, nil); err == nil || err.Error() != "stopped" {
		t.Errorf("got %v", err)
	}
	if want := "app.conf=n = 3 app.conf.assay-before=mine conf.d/ conf.d/deep/ conf.d/deep/a= other=x"; during != want {
		t.Errorf("during the run: %s\nwant %s", during, want)
	}
	if got := tree(t, dir); got != "app.conf=mine other=x" {
		t.Errorf("after the run: %s", got)
	}
}

// A process that is killed leaves its files, and the older files beside them.
func TestFilesAfterAKill(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"app.conf": "n = 3", "app.conf.assay-before": "mine"})
	job := assay.Job{Dir: dir, Argv: []string{"job"}, Files: []assay.File{{Name: "app.conf", Text: "n = 4"}}}
	if _, err := WithFiles(&script{}).Run(t.Context(), job, nil); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, dir); got != "app.conf=mine" {
		t.Errorf("left %s", got)
	}
}

// Nothing is written outside of the directory, and files that were written are taken back.
func TestFilesThatCannotBeWritten(t *testing.T) {
	outside := t.TempDir()
	for name, says := range map[string]string{
		"link/x": "escapes", "../x": "escapes", "folder": "is a folder", "out": "",
	} {
		dir := t.TempDir()
		lay(t, dir, map[string]string{"first": "mine"})
		for link, to := range map[string]string{"link": outside, "out": filepath.Join(outside, "y")} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
			t.Fatal(err)
		}
		inner := &script{}
		job := assay.Job{Dir: dir, Argv: []string{"job"}, Files: []assay.File{
			{Name: "first", Text: "new"}, {Name: name, Text: "secret"},
		}}
		m, err := WithFiles(inner).Run(t.Context(), job, nil)
		if err != nil || (m.Failure == nil) != (says == "") || says != "" && !strings.Contains(m.Failure.Reason, says) {
			t.Errorf("%s: got %+v, %v, want %q", name, m.Failure, err, says)
		}
		if (len(inner.ran) > 0) != (says == "") {
			t.Errorf("%s: ran %v", name, inner.ran)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "first")); err != nil || string(text) != "mine" {
			t.Errorf("%s: first holds %q, %v", name, text, err)
		}
		if got := tree(t, outside); got != "" {
			t.Errorf("%s: outside there is %s", name, got)
		}
	}
}

// Two jobs in one directory run one at a time.
func TestFilesOfTwoJobs(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"f": "mine"})
	job := func(text string) assay.Job {
		return assay.Job{Dir: dir, Argv: []string{text}, Files: []assay.File{{Name: "f", Text: text}}}
	}
	r := WithFiles(runnerFunc(func(_ context.Context, job assay.Job, _ func(assay.Measurement)) (
		assay.Measurement, error,
	) {
		for range 20 {
			if text, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(text) != job.Argv[0] {
				t.Errorf("%s finds %q, %v", job.Argv[0], text, err)
			}
		}
		return assay.Measurement{}, nil
	}))
	done := make(chan error)
	for _, text := range []string{"a", "b", "c"} {
		go func() {
			_, err := r.Run(t.Context(), job(text), nil)
			done <- err
		}()
	}
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := tree(t, dir); got != "f=mine" {
		t.Errorf("left %s", got)
	}
}
