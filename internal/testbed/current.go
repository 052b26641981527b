package testbed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Current fails the test unless the file is want: a page of the reference, or another file that is made from the code.
// With UPDATE_DOCS=1 in the environment it writes the file instead. again is the command that does so, for people.
func Current(t testing.TB, path, want, again string) {
	t.Helper()
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // pages for everybody
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // likewise
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v\nUPDATE_DOCS=1 %s writes it", err, again)
		return
	}
	if string(got) == want {
		return
	}
	is, should := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	line := 0
	for line < len(is) && line < len(should) && is[line] == should[line] {
		line++
	}
	at := func(lines []string) string { return strings.Join(lines[line:min(line+1, len(lines))], "") }
	t.Errorf("%s:%d is %q, and %q by the code\nUPDATE_DOCS=1 %s writes it", path, line+1, at(is), at(should), again)
}
