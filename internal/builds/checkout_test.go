package builds

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// repository makes one with two commits, tagged one and two, and a directory sub since two.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing: nothing is checked out")
	}
	dir, tmp := t.TempDir(), t.TempDir()
	for name, value := range map[string]string{
		"TMPDIR": tmp, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
	} {
		t.Setenv(name, value)
	}
	writeFile(t, dir, "file", "1")
	shell(t, dir, "git init -q . && git add . && git commit -q -m one && git tag one")
	writeFile(t, dir, "sub/file", "2")
	shell(t, dir, "git add . && git commit -q -m two && git tag two")
	return dir
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func shell(t *testing.T, dir, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// left returns the entries of the directory for temporary files.
func left(t *testing.T) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// Commits are checked out side by side, and go with everything that was built in them.
func TestOpen(t *testing.T) {
	testbed.Outside(t)
	dir := repository(t)
	// A hook of the user's is not run.
	writeFile(t, dir, ".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n")
	if err := os.Chmod(filepath.Join(dir, ".git/hooks/post-checkout"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), dir, []string{"two", "one", "one"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Trees) != 3 || s.Trees[1].Commit != s.Trees[2].Commit || s.Trees[1].Dir == s.Trees[2].Dir {
		t.Fatalf("%+v", s.Trees)
	}
	for i, want := range []bool{true, false, false} {
		if _, err := os.Stat(filepath.Join(s.Trees[i].Dir, "sub/file")); (err == nil) != want {
			t.Errorf("tree %d: sub/file: %v", i, err)
		}
		if _, err := os.Stat(filepath.Join(s.Trees[i].Dir, "hooked")); err == nil {
			t.Error("a hook was run")
		}
	}
	shell(t, s.Trees[0].Dir, "mkdir -p build/deep && touch build/deep/x && chmod 500 build/deep build")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if l := left(t); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
	if list := shell(t, dir, "git worktree list"); strings.Contains(list, prefix) {
		t.Errorf("left: %s", list)
	}
}

func TestRefuses(t *testing.T) {
	testbed.Outside(t)
	dir := repository(t)
	for _, c := range []struct {
		in, want  string
		revisions []string
	}{
		{"", `revision "nix" is no commit`, []string{"one", "nix"}},
		{"", `revision "--all" is no commit`, []string{"--all", "one"}},
		{"", `revision "" is no commit`, []string{"", "one"}},
		{"", `revision "one:file" is no commit`, []string{"one:file", "two"}},
		{"", "cannot be checked out", []string{"one-dirty", "two"}},
		{"sub", "revision one has no directory sub/", []string{"two", "one"}},
	} {
		_, err := Open(t.Context(), filepath.Join(dir, c.in), c.revisions)
		if err == nil || !strings.Contains(err.Error(), c.want) || assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%q: %v, want %q", c.revisions, err, c.want)
		}
	}
	writeFile(t, dir, "file", "changed")
	if _, err := Open(t.Context(), dir, []string{"one", "HEAD"}); err == nil ||
		!strings.HasPrefix(err.Error(), "revision HEAD is dirty") || assay.HintOf(err) == "" {
		t.Errorf("HEAD with changes: %v", err)
	}
	if _, err := Open(t.Context(), t.TempDir(), []string{"one", "two"}); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("no repository: %v", err)
	}
	for _, e := range left(t) {
		if strings.HasPrefix(e.Name(), prefix) {
			t.Errorf("left: %v", e)
		}
	}
}

// The next process removes the trees of a killed process, and keeps the trees of a
// live one.
func TestSweep(t *testing.T) {
	testbed.Outside(t)
	dir := repository(t)
	dead, err := Open(t.Context(), dir, []string{"one"})
	if err != nil {
		t.Fatal(err)
	}
	alive, err := Open(t.Context(), dir, []string{"one"})
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	dead.lock.Close() // as the end of its process does
	next, err := Open(t.Context(), dir, []string{"two"})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if _, err := os.Stat(dead.dir); err == nil {
		t.Error("what a dead process has left is still there")
	}
	for _, s := range []*Set{alive, next} {
		if _, err := os.Stat(s.Trees[0].Dir); err != nil {
			t.Error(err)
		}
	}
}
