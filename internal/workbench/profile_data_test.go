package workbench

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestProfileData(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, n int) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a", 0)
	write("b/c", 100)
	write("b/d/e", 300)
	if err := os.Symlink("b", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	p, err := ProfileData(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Bytes != 400 || p.Files != 3 || p.Directories != 2 || p.Others != 1 {
		t.Errorf("got %+v", p)
	}
	if q := p.Quantiles; len(q) != len(QuantileLevels()) || q[0] != 0 ||
		q[2] != 100 || q[6] != 300 || !slices.IsSorted(q) {
		t.Errorf("quantiles %v", q)
	}
	if a := p.Attributes(); a["data_bytes"] != 400 || a["data_files"] != 3 || a["data_file_median_bytes"] != 100 {
		t.Errorf("attributes %v", a)
	}

	// A file, and a link to a directory, are profiled as such.
	if p, err := ProfileData(t.Context(), filepath.Join(dir, "b/c")); err != nil ||
		p.Bytes != 100 || p.Files != 1 || p.Directories != 0 {
		t.Errorf("a file: %+v, %v", p, err)
	}
	if p, err := ProfileData(t.Context(), filepath.Join(dir, "link")); err != nil || p.Bytes != 400 || p.Files != 2 {
		t.Errorf("a link: %+v, %v", p, err)
	}
	if p, err := ProfileData(t.Context(), t.TempDir()); err != nil ||
		p.Files != 0 || p.Quantiles != nil || len(p.Attributes()) != 2 {
		t.Errorf("nothing: %+v, %v", p, err)
	}
	if _, err := ProfileData(t.Context(), filepath.Join(dir, "none")); err == nil ||
		!strings.Contains(err.Error(), "data set") {
		t.Errorf("no directory: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ProfileData(ctx, dir); err == nil {
		t.Error("goes on after it was cancelled")
	}
}
