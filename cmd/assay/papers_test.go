package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// TestPapers checks that every function and test that docs/papers.md names exists.
func TestPapers(t *testing.T) {
	page, err := os.ReadFile("../../docs/papers.md")
	if err != nil {
		t.Fatal(err)
	}
	source := map[string]string{} // by package: its files, tests included
	read := func(pkg string) string {
		if s, ok := source[pkg]; ok {
			return s
		}
		dir := filepath.Join("../..", pkg)
		if pkg == "assay" {
			dir = "../.."
		} else if _, err := os.Stat(dir); err != nil {
			dir = filepath.Join("../../internal", pkg)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("no package %s", pkg)
		}
		var b strings.Builder
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
		}
		source[pkg] = b.String()
		return source[pkg]
	}
	cells := regexp.MustCompile("`([a-z/]+)\\.([A-Z][A-Za-z]*)`")
	tests := regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	rows := 0
	for line := range strings.Lines(string(page)) {
		f := strings.Split(line, "|")
		if strings.HasPrefix(line, "| ") && len(f) != 6 {
			t.Errorf("not four columns: %s", line)
		}
		if len(f) != 6 || !strings.Contains(f[2], "`") {
			continue
		}
		rows++
		var all string
		for _, m := range cells.FindAllStringSubmatch(f[2], -1) {
			text := read(m[1])
			all += text
			if !regexp.MustCompile(`(?m)^(func|type) ` + m[2] + `\b`).MatchString(text) {
				t.Errorf("%s: there is no %s.%s", strings.TrimSpace(f[1]), m[1], m[2])
			}
		}
		for _, m := range tests.FindAllStringSubmatch(f[3], -1) {
			for _, pkg := range []string{"stats", "search", "model", "workflow", "internal/workflow/site", "assay"} {
				all += read(pkg)
			}
			if !strings.Contains(all, "func "+m[1]+"(t *testing.T)") {
				t.Errorf("%s: there is no test %s", strings.TrimSpace(f[1]), m[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("%d rows", rows)
	}
}

// TestPapersByCommand runs every command and every key of a study file that
// docs/papers.md names, with the files of testdata/papers and four studies on record. The
// module lab runs the commands of assay-lab.
func TestPapersByCommand(t *testing.T) {
	testbed.Outside(t)
	page, err := os.ReadFile("../../docs/papers.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Abs("testdata/papers")
	if err != nil {
		t.Fatal(err)
	}
	ready := t.TempDir()
	if err := os.CopyFS(ready, os.DirFS(files)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(ready)
	t.Setenv("XDG_STATE_HOME", filepath.Join(ready, "state"))
	for _, line := range []string{
		"assay tune table.yaml --study old --search grid --stop none --trials 60",
		"assay tune noisy.yaml --study noisy --search random --trials 30",
		"assay learn learn.yaml --study learned --trials 16 --model learned.json",
		"assay tune learn.yaml --study tested --search random --trials 40",
	} {
		if out, ok := inProcess(line); !ok {
			t.Fatalf("%s\n%s", line, out)
		}
	}
	n := testbed.RunPapers(t, string(page), ready,
		func(cell string) bool { return !strings.HasPrefix(cell, "assay-lab ") },
		func(cell string) (string, bool) { return inProcess(asCommand(t, cell)) })
	if n < 30 {
		t.Errorf("%d commands", n)
	}
}

// asCommand returns a command line as it is, and for a key of a study file one that
// tunes a study with it.
func asCommand(t *testing.T, snippet string) string {
	t.Helper()
	if strings.HasPrefix(snippet, "assay ") {
		return snippet
	}
	file := "table.yaml"
	if strings.Contains(snippet, "nimo") {
		file = "learn.yaml"
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("new.yaml", append(text, (snippet+"\n")...), 0o600); err != nil {
		t.Fatal(err)
	}
	if file == "learn.yaml" {
		return "assay learn new.yaml --model new.json"
	}
	return "assay tune new.yaml --trials 20"
}

// inProcess runs a command line in this process, and returns its output and whether it ended well.
// "< FILE" at its end is its standard input.
func inProcess(line string) (string, bool) {
	line, file, _ := strings.Cut(line, " < ")
	var in []byte
	if file != "" {
		var err error
		if in, err = os.ReadFile(file); err != nil {
			return err.Error(), false
		}
	}
	var out bytes.Buffer
	code := execute(streams{bytes.NewReader(in), &out, &out}, strings.Fields(line)[1:])
	return out.String(), code == 0
}
