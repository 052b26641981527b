package whole

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var errHalf = errors.New("no more")

// half writes a part and fails.
func half(w io.Writer) error {
	if _, err := io.WriteString(w, strings.Repeat("new", 10_000)); err != nil {
		return err
	}
	return errHalf
}

// A writer that fails leaves what was there, and nothing else.
func TestFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.json")
	if err := Write(path, 0o644, half); !errors.Is(err, errHalf) {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a file: %v", err)
	}
	if err := WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, 0o644, half); !errors.Is(err, errHalf) {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if b, e := os.ReadFile(path); e != nil || string(b) != "old" || err != nil || len(entries) != 1 {
		t.Errorf("%q, %d files, %v, %v", b, len(entries), e, err)
	}
}

func TestWriteKeepsModeAndLinks(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	b, e := os.ReadFile(path)
	to, l := os.Readlink(link)
	if err != nil || e != nil || l != nil || string(b) != "two" || info.Mode().Perm() != 0o600 || to != "a" {
		t.Errorf("%q, %v, %q: %v, %v, %v", b, info.Mode(), to, err, e, l)
	}
	if err := WriteFile("/dev/null", []byte("x"), 0o644); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
	err = WriteFile(filepath.Join(dir, "none", "a"), nil, 0o644)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), filepath.Join("none", "a")) || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("no directory: %v", err)
	}
}

func TestReadIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, 100); err != nil || len(b) != 100 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := Read(path, 99); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := Read("/dev/zero", 1000); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}
