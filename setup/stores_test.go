package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/store/sqlite"
	"github.com/assay-run/assay/store"
)

func TestStoreAddresses(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	standard, err := store.DefaultPath()
	if err != nil {
		t.Fatal(err)
	}
	for at, path := range map[string]string{
		"": standard, "a.db": "a.db", "sqlite:b.db": "b.db", "sqlite:": standard, "./memory": "./memory",
		"sub/odd:name.db": "sub/odd:name.db",
		"memory":          "", "memory:": "",
	} {
		s, err := OpenStore(t.Context(), at)
		if err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		if s.Path != path {
			t.Errorf("%s: path %q, want %q", at, s.Path, path)
		}
		if _, err := os.Stat(path); path != "" && err != nil {
			t.Errorf("%s: %v", at, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	for _, at := range []string{"http://host", "mysql://me:S3cret@host/db"} {
		if _, err := OpenStore(t.Context(), at); assay.ClassOf(err) != assay.ClassUsage ||
			!strings.Contains(err.Error(), "no store of kind") || strings.Contains(err.Error(), "S3cret") {
			t.Errorf("%s: %v", at, err)
		}
		if _, err := ReadStore(t.Context(), at); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("reading %s: %v", at, err)
		}
	}
}

// A database that is not there is said so, by the name that it has in the address and
// without its password.
func TestStoreDatabase(t *testing.T) {
	for _, at := range []string{"postgres://me:S3cret@127.0.0.1:1/db", "postgresql://me:S3cret@127.0.0.1:1/db"} {
		for what, open := range map[string]func(context.Context, string) (*Store, error){
			"opening": OpenStore, "reading": ReadStore,
		} {
			_, err := open(t.Context(), at)
			if assay.ClassOf(err) != assay.ClassUnavailable || strings.Contains(err.Error(), "S3cret") ||
				!strings.Contains(err.Error(), "postgres://me:***@127.0.0.1:1/db") {
				t.Errorf("%s %s: %v", what, at, err)
			}
		}
	}
	if path, err := StorePath("postgres://host/db"); path != "" || err != nil {
		t.Errorf("path %q, %v", path, err)
	}
}

// Who only looks makes nothing.
func TestReadStore(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	t.Setenv("XDG_STATE_HOME", state)
	for _, at := range []string{
		"", filepath.Join(state, "other.db"), "sqlite:" + filepath.Join(state, "third.db"),
		"memory",
	} {
		s, err := ReadStore(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range s.Studies(t.Context()) {
			t.Errorf("%s has a study %s, %v", at, name, err)
		}
		if s.Path != "" {
			t.Errorf("%s: there is a file %s", at, s.Path)
		}
		s.Remember(t.Context()) // keeps nothing
		s.Close()
	}
	if _, err := os.Stat(state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
}

// A store that may not be written is a mistake of who named it; a disk that is full or
// fails is not.
func TestUnopened(t *testing.T) {
	for errno, class := range map[syscall.Errno]assay.Class{
		syscall.EACCES: assay.ClassUsage, syscall.EROFS: assay.ClassUsage, syscall.ENOSPC: assay.ClassIO,
		syscall.EIO: assay.ClassIO,
	} {
		err := unopened(fmt.Errorf("%w: %w", sqlite.ErrIO,
			&fs.PathError{Op: "mkdir", Path: "/closed/locks", Err: errno}))
		if got := assay.ClassOf(err); got != class {
			t.Errorf("%v: class %v, want %v", errno, got, class)
		}
		hinted := assay.HintOf(err) == "--store PATH puts it elsewhere"
		if hinted != (class == assay.ClassUsage) {
			t.Errorf("%v: hint %q", errno, assay.HintOf(err))
		}
		if hinted && err.Error() != "the store cannot be opened: /closed/locks: "+errno.Error() {
			t.Errorf("%v: %v", errno, err)
		}
	}
}

// A directory is no store, and the error names that.
func TestStoreThatIsNone(t *testing.T) {
	if s, err := OpenStore(t.Context(), t.TempDir()); err == nil {
		s.Close()
		t.Error("a directory was opened")
	}
	if _, err := memory(t).Definition(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no study: %v", err)
	}
	if err := memory(t).Remove(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removing no study: %v", err)
	}
}

// The tables have no name twice, and their summaries are one line.
func TestTables(t *testing.T) {
	methods := rows(Methods(), func(m Method) Row { return Row{Name: m.Name, Summary: m.Summary} })
	for what, table := range map[string][]Row{
		"searchers": Searchers(), "stopping rules": Stoppers(), "runners": Runners(), "stores": Stores(),
		"methods": methods,
	} {
		seen := map[string]bool{}
		for _, r := range table {
			if r.Name == "" || seen[r.Name] || r.Summary == "" || strings.ContainsAny(r.Summary, "\n") ||
				strings.HasSuffix(r.Summary, ".") {
				t.Errorf("%s: row %+v", what, r)
			}
			seen[r.Name] = true
		}
	}
	// Whatever can be searched with can be compared.
	for _, s := range Searchers() {
		if m, err := MethodOf(s.Name); err != nil || m.Searcher != s.Name {
			t.Errorf("searcher %s as a method: %+v, %v", s.Name, m, err)
		}
	}
	if _, err := MethodOf("oracle"); assay.ClassOf(err) != assay.ClassUsage ||
		!strings.Contains(err.Error(), "there are rs, bo,") {
		t.Errorf("a method that there is not: %v", err)
	}
}
