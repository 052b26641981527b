package access_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/assay-run/assay/internal/access"
)

// The file that a shell made for a token is made secret; a pipe and a buffer are left alone.
func TestConceal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := access.Conceal(f); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := access.Conceal(w); err != nil {
		t.Errorf("a pipe: %v", err)
	}
	if err := access.Conceal(&bytes.Buffer{}); err != nil {
		t.Errorf("a buffer: %v", err)
	}
}
