package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A told is a test that keeps its errors.
type told struct {
	testing.TB
	errors []string
}

func (r *told) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestCurrent(t *testing.T) {
	t.Setenv("UPDATE_DOCS", "")
	path := filepath.Join(t.TempDir(), "reference", "page.md")
	check := func(want string) []string {
		r := &told{TB: t}
		Current(r, path, want, "go test .")
		return r.errors
	}
	if e := check("a\n"); len(e) != 1 {
		t.Errorf("a file that is missing: %q", e)
	}
	t.Setenv("UPDATE_DOCS", "1")
	if e := check("a\nb\n"); len(e) != 0 {
		t.Errorf("it is written: %q", e)
	}
	t.Setenv("UPDATE_DOCS", "")
	for want, line := range map[string]string{
		"a\nc\n": `:2 is "b", and "c" by the code`, "a\n": `:2 is "b", and "" by the code`,
		"a\nb\nd\n": `:3 is "", and "d" by the code`, "a\nb": `:3 is "", and "" by the code`,
	} {
		if e := check(want); len(e) != 1 || e[0] != path+line+"\nUPDATE_DOCS=1 go test . writes it" {
			t.Errorf("%q: got %q", want, e)
		}
	}
	if e := check("a\nb\n"); len(e) != 0 {
		t.Errorf("it is as it should be: %q", e)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "a\nb\n" {
		t.Errorf("%q, %v", b, err)
	}
}
