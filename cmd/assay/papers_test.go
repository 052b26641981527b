package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
		if len(f) != 5 || !strings.Contains(f[2], "`") {
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
			for _, pkg := range []string{"stats", "search", "model", "workflow", "workflow/site", "assay"} {
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
