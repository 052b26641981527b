package testbed

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// RunPage runs every line of the console blocks of a page that starts one of our programs, python3 or kill, in their
// order, in one directory that holds the files which the page shows under their names. A command must succeed, and
// print the lines shown, in their order: each is compared up to its first digit, since measurements follow. A line of a
// gain may be missing, and the best configuration or a verdict may have other words: a busy machine decides them.
func RunPage(t *testing.T, page string) {
	t.Helper()
	dir, fs := lay(t, page)
	for _, shown := range []string{"examples", "clients"} {
		if err := os.Symlink(filepath.Join(root(t), shown), filepath.Join(dir, shown)); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	for _, b := range fs {
		b.write(t, dir)
		if b.language == "console" {
			ran += runBlock(t, dir, b)
		}
	}
	if ran == 0 {
		t.Error("the page shows no command")
	}
}

// RunSession makes the calls of the blocks of a page in the language mcp, in their order, in one directory that holds
// the files which the page shows. A line "> TOOL ARGUMENTS" is a call. The lines below it are lines of its result, in
// their order, which are compared as [RunPage] does; a result in JSON is indented first.
func RunSession(t *testing.T, page string, connect func(dir string) func(tool, args string) string) {
	t.Helper()
	dir, fs := lay(t, page)
	for _, b := range fs {
		b.write(t, dir)
	}
	call := connect(dir)
	calls := 0
	for _, b := range fs {
		if b.language != "mcp" {
			continue
		}
		for part := range strings.SplitSeq("\n"+b.body, "\n> ") {
			if part == "" {
				continue
			}
			line, want, _ := strings.Cut(strings.TrimSuffix(part, "\n"), "\n")
			tool, args, _ := strings.Cut(line, " ")
			got := call(tool, args)
			var indented bytes.Buffer
			if json.Indent(&indented, []byte(got), "", "  ") == nil {
				got = indented.String()
			}
			inOrder(t, b.line, line, strings.Split(want, "\n"), got)
			calls++
		}
	}
	if calls == 0 {
		t.Error("the page shows no call")
	}
}

// lay returns a directory for the commands of a page, and its blocks.
func lay(t *testing.T, page string) (dir string, fs []fence) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return t.TempDir(), fences(string(text))
}

// write writes a block that is a file.
func (b fence) write(t *testing.T, dir string) {
	t.Helper()
	if b.file == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, b.file), []byte(b.body), 0o600); err != nil {
		t.Fatal(err)
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

// runBlock runs the commands of a console block and returns their number.
func runBlock(t *testing.T, dir string, b fence) (n int) {
	t.Helper()
	var command string
	var want []string
	flush := func() {
		if program, _, _ := strings.Cut(command, " "); slices.Contains([]string{"assay", "assay-lab", "python3", "kill"},
			program) {
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
	// The commands of fakeslurm stand in for the commands of Slurm.
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"XDG_RUNTIME_DIR="+filepath.Join(dir, "run"), "FAKESLURM="+dir)
	out, err := cmd.Output()
	if err != nil {
		stderr := ""
		if e, ok := err.(*exec.ExitError); ok {
			stderr = string(e.Stderr)
		}
		t.Errorf("line %d: %s: %v\n%s%s", line, command, err, out, stderr)
		return
	}
	inOrder(t, line, command, want, string(out))
}

// inOrder holds an output to the lines that a page shows, in their order.
func inOrder(t *testing.T, line int, command string, want []string, out string) {
	t.Helper()
	got := strings.Split(out, "\n")
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
	for _, decided := range []string{"best", "verdict"} {
		if strings.HasPrefix(line, decided+" ") {
			return decided
		}
	}
	if i := strings.IndexFunc(line, unicode.IsDigit); i >= 0 {
		line = line[:i]
	}
	return strings.TrimRight(line, " -+~[")
}

func fold(line string) string { return strings.Join(strings.Fields(line), " ") }

var papersCell = regexp.MustCompile("`([^`]+)`( \\(minutes\\))?")

// RunPapers runs the wanted commands and keys of the last column of a page such as docs/papers.md, each once, in a
// directory of its own with a copy of files, and returns how many there are. Commands that are marked as taking minutes
// are not run. run returns the output and whether the command ended well.
func RunPapers(
	t *testing.T, page, files string, wanted func(cell string) bool, run func(cell string) (string, bool),
) int {
	t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(page) {
		f := strings.Split(line, "|")
		if len(f) != 6 || !strings.Contains(f[2], "`") {
			continue
		}
		found := papersCell.FindAllStringSubmatch(f[4], -1)
		if found == nil && strings.TrimSpace(f[4]) != "–" {
			t.Errorf("%s: no command, nor – for none", strings.TrimSpace(f[1]))
		}
		for _, m := range found {
			if seen[m[1]] || !wanted(m[1]) {
				continue
			}
			seen[m[1]] = true
			t.Run(m[1], func(t *testing.T) {
				if m[2] != "" {
					t.Skip("NOT RUN: it takes minutes")
				}
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(files)); err != nil {
					t.Fatal(err)
				}
				t.Chdir(dir)
				t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
				if out, ok := run(m[1]); !ok || out == "" {
					t.Errorf("it fails, or prints nothing:\n%s", out)
				}
			})
		}
	}
	return len(seen)
}
