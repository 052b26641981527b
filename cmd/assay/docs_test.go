package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/assay-run/assay/internal/testbed"
)

// TestDocs runs every `$ assay`, `$ python3` and `$ kill` line of the documentation's console blocks, in
// order, in one directory for each page that holds the files which the page
// shows under their names. A command must succeed, and print the lines shown, in
// their order: each is compared up to its first digit, since measurements follow.
// A line of a gain may be missing: a busy machine decides which configuration is best.
func TestDocs(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	for _, page := range []string{
		"../../README.md", "../../docs/guide.md", "../../docs/gate.md", "../../docs/compare-files.md", "../../docs/import.md",
		"../../docs/online.md", "../../docs/costmodel.md",
		"../../docs/ask.md", "../../docs/python.md", "../../docs/slurm.md", "../../docs/batch.md", "../../docs/index.md", "../../docs/install.md",
		"../../docs/tutorials/cluster.md", "../../docs/tutorials/workflow.md",
		"../../docs/tutorials/python.md", "../../docs/tutorials/ci.md",
		"../../docs/explain/noise.md", "../../docs/explain/censoring.md", "../../docs/explain/pruning.md",
	} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			runPage(t, page)
		})
	}
}

// The pages whose studies have a budget of time are run alone: how many trials they come to is a matter of what else
// the machine does.
func TestDocsByTime(t *testing.T) {
	testbed.System(t)
	for _, page := range []string{"../../docs/tutorials/performance.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) { runPage(t, page) })
	}
}

func runPage(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, shown := range []string{"examples", "clients"} {
		if err := os.Symlink(filepath.Join(root, shown), filepath.Join(dir, shown)); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	for _, b := range fences(string(text)) {
		if b.file != "" {
			if err := os.WriteFile(filepath.Join(dir, b.file), []byte(b.body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if b.language == "console" {
			ran += runBlock(t, dir, b)
		}
	}
	if ran == 0 {
		t.Error("the page shows no command")
	}
}

// A fence is a block of a page. file is the name that the line before it gives.
type fence struct {
	language, file, body string
	line                 int
}

var named = regexp.MustCompile("^`([a-zA-Z0-9_.-]+)`:$")

func fences(text string) (fs []fence) {
	var open *fence
	file := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case open == nil && strings.HasPrefix(line, "```"):
			open = &fence{language: strings.TrimPrefix(line, "```"), file: file, line: i + 1}
		case open != nil && line == "```":
			fs, open = append(fs, *open), nil
		case open != nil:
			open.body += line + "\n"
		}
		file = ""
		if m := named.FindStringSubmatch(line); m != nil {
			file = m[1]
		}
	}
	return fs
}

// runBlock runs the assay commands of a console block and returns their number.
func runBlock(t *testing.T, dir string, b fence) (n int) {
	t.Helper()
	var command string
	var want []string
	flush := func() {
		if slices.ContainsFunc([]string{"assay ", "python3 ", "kill "}, func(p string) bool { return strings.HasPrefix(command, p) }) {
			n++
			runLine(t, dir, b.line, command, want)
		}
		want = nil
	}
	for line := range strings.Lines(b.body) {
		line = strings.TrimSuffix(line, "\n")
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			flush()
			command = c
			continue
		}
		want = append(want, line)
	}
	flush()
	return n
}

func runLine(t *testing.T, dir string, line int, command string, want []string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	// The commands of fakeslurm stand in for those of Slurm.
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_RUNTIME_DIR="+filepath.Join(dir, "run"),
		"FAKESLURM="+dir)
	out, err := cmd.Output()
	if err != nil {
		stderr := ""
		if e, ok := err.(*exec.ExitError); ok {
			stderr = string(e.Stderr)
		}
		t.Errorf("line %d: %s: %v\n%s%s", line, command, err, out, stderr)
		return
	}
	got := strings.Split(string(out), "\n")
	for _, w := range want {
		prefix := shape(w)
		i := 0
		for i < len(got) && !strings.HasPrefix(fold(got[i]), prefix) {
			i++
		}
		if i == len(got) && strings.HasPrefix(w, "gain ") {
			continue
		}
		if i == len(got) {
			t.Errorf("line %d: %s\nprints no line like %q (%q) in its place, but:\n%s", line, command, w, prefix, out)
			return
		}
		got = got[i+1:]
	}
}

// shape returns a line up to its first digit, with single spaces.
func shape(line string) string {
	if strings.HasPrefix(line, "{") {
		return line // JSON, up to where the page cuts it
	}
	line = fold(line)
	if i := strings.IndexFunc(line, unicode.IsDigit); i >= 0 {
		line = line[:i]
	}
	return strings.TrimRight(line, " -+~[")
}

func fold(line string) string { return strings.Join(strings.Fields(line), " ") }
