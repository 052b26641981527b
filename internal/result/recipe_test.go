package result

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/spec"
)

// recipe returns the recipe of n=3 and word="it's 1" of a study in dir.
func recipe(t *testing.T, dir, text string, at Place) Recipe {
	t.Helper()
	params, c := "parameters: {n: 1..9}\n", assay.Config{3}
	if strings.Contains(text, "word") {
		params, c = "parameters: {n: 1..9, word: [\"it's 1\", b]}\n", assay.Config{3, 0}
	}
	s, _, err := spec.Parse("s.yaml", []byte(params+text), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Dir = dir
	p, err := s.Program()
	if err != nil {
		t.Fatal(err)
	}
	r := NewRecipe(s, p, c, at)
	r.Study = "my study"
	return r
}

// shell runs a text with an empty environment but for PATH, and returns its output.
func shell(t *testing.T, dir, text string) string {
	t.Helper()
	testbed.Outside(t)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", text)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v of\n%s\n%s", err, text, out)
	}
	return string(out)
}

// The line of a recipe has all that the parameters go through: arguments, variables of env:, the shell's variables, the
// prepare command, and the folder of a setup, whether or not it was made here. In an empty environment it runs as the
// study would.
func TestRecipeLine(t *testing.T) {
	made := t.TempDir()
	if err := os.WriteFile(filepath.Join(made, "p"), []byte("#!/bin/sh\necho made $1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	there := Place{Folder: func(*assay.Setup) string { return made }}
	build := "setup: 'printf \"#!/bin/sh\\necho built $N by \\$1\\n\" > \"$SETUP\"/p; chmod +x \"$SETUP\"/p'\n"
	for _, c := range []struct {
		name, text string
		at         Place
		line, want string
	}{
		{"arguments", "command: [echo, '{n}', '{word}']\n", Place{}, `echo 3 'it'\\''s 1'`, "3 it's 1\n"},
		{"variables", "command: [sh, -c, 'echo $N $GO']\nenv: {N: '{n}', GO: '{word}'}\n", Place{}, "", "3 it's 1\n"},
		{"a shell line", "command: echo $N $word $X\nenv: {X: 'x{n}'}\nshell: true\n", Place{}, "", "3 it's 1 x3\n"},
		{"prepared", "command: [cat, made]\nprepare: echo $N > made\n", Place{}, "", "3\n"},
		{"a setup that is made", "command: ['{setup}/p', '{n}']\n" + build, there, made + "/p 3", "made 3\n"},
		{"a setup that is not", "command: ['{setup}/p', '{word}']\n" + build, Place{}, "", "built 3 by it's 1\n"},
	} {
		dir := t.TempDir()
		line := recipe(t, dir, c.text, c.at).Line()
		if c.line != "" && line != "cd "+dir+" && "+strings.ReplaceAll(c.line, `\\`, `\`) {
			t.Errorf("%s: %s", c.name, line)
		}
		if got := shell(t, "/", line); got != c.want {
			t.Errorf("%s: %q from\n%s", c.name, got, line)
		}
	}
}

// With files or a service the line is the command that writes them down, and the script of that runs as the study
// would: with the files from a directory, or written by itself.
func TestRecipeScript(t *testing.T) {
	text := "command: [sh, -c, 'cat a.conf conf/b served; echo $N']\nprepare: 'rm -f served; echo prepared'\n" +
		"files: {a.conf: \"n={n}\\n\", conf/b: '{word}'}\n" +
		"service: {start: [sh, -c, 'echo serves $0 > served; sleep 1', '{n}'], ready: {command: [test, -s, served]}, stop: " +
		"[kill, '1']}\n"
	dir, out := t.TempDir(), t.TempDir()
	r := recipe(t, dir, text, Place{})
	if got, want := r.Line(), "assay study apply 'my study'"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if r.Trial = 7; r.Line() != "assay study apply 'my study' --trial 7" {
		t.Error(r.Line())
	}
	files, ok := r.Files()
	if !ok || len(files) != 2 || files[0].Text != "n=3\n" || files[1].Text != "it's 1" {
		t.Fatalf("%+v, %v", files, ok)
	}
	for _, f := range files {
		path := filepath.Join(out, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, in := range []string{"", out} {
		script := r.Script(in)
		if got, want := shell(t, "/", script), "prepared\nn=3\nit's 1serves 3\n3\n"; got != want {
			t.Errorf("got %q, want %q from\n%s", got, want, script)
		}
		if !strings.HasSuffix(script, "# to end the service: kill 1\n") || strings.Contains(script, "cp ") != (in != "") {
			t.Error(script)
		}
	}
}
