package api

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// A table of configurations is read, or refused with its place.
func FuzzReadConfigs(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a,a\n1,2\n", "a\n\"", "a\n", "", "\n\n", "a,b\n1\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := readConfigs("in", bytes.NewReader(b))
		if (err == nil) != (len(all) > 0) || err != nil && assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%d configurations and %v", len(all), err)
		}
	})
}

// A file of keys, whatever is in it, is opened, and its keys are remembered again.
func FuzzKeysFile(f *testing.F) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	line, err := lineOf(replayKey{"a", "POST", "/x", "k"}, &replay{at: now, done: true, status: 200, answer: []byte("{}")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte("{\n\n{}\nnull\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, "keys")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, known, err := openKeys(path, now)
		if err != nil {
			if assay.ClassOf(err) != assay.ClassIO {
				t.Error(err)
			}
			return
		}
		if _, again, err := openKeys(path, now); err != nil || len(again) != len(known) {
			t.Errorf("%d keys, and again %d, %v", len(known), len(again), err)
		}
	})
}
