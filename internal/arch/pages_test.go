package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	blocks  = regexp.MustCompile("(?s)```.*?```")
	cells   = regexp.MustCompile(`(?m)^\|.*\n?`)
	target  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	linked  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	marks   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestResults holds the form of a page of results: at most 400 words outside commands and tables, one table, a command
// and limits, and a place in the site. lab/notes has everything else that was measured.
func TestResults(t *testing.T) {
	pages, err := filepath.Glob("../../docs/results/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	site := read(t, "../../site/mkdocs.yml")
	for _, page := range pages {
		if !strings.Contains(site, "- results/"+filepath.Base(page)+"\n") {
			t.Errorf("%s is not in site/mkdocs.yml", page)
		}
		text := read(t, page)
		for _, fault := range faultsOfResult(text) {
			t.Errorf("%s: %s", page, fault)
		}
	}
	for fault, text := range map[string]string{
		"a page without a table":   "# A claim\n```sh\nassay version\n```\n## Limits\n",
		"a page of two tables":     "# A claim\n|a|\n|-|\n\n|b|\n|-|\n```sh\nassay version\n```\n## Limits\n",
		"a page without a command": "# A claim\n|a|\n|-|\n## Limits\n",
		"a page without limits":    "# A claim\n|a|\n|-|\n```sh\nassay version\n```\n",
		"a page of 401 words":      "|a|\n|-|\n```sh\nassay version\n```\n## Limits\n" + strings.Repeat("word ", 399),
	} {
		if len(faultsOfResult(text)) != 1 {
			t.Errorf("%s: faults %q, want one", fault, faultsOfResult(text))
		}
	}
}

func faultsOfResult(text string) (faults []string) {
	prose := blocks.ReplaceAllString(text, "")
	if tables := strings.Count("\n"+prose, "\n|-") + strings.Count("\n"+prose, "\n|:-"); tables != 1 {
		faults = append(faults, strconv.Itoa(tables)+" tables, want one")
	}
	if !strings.Contains(text, "```sh\n") {
		faults = append(faults, "no command")
	}
	if !strings.Contains(text, "## Limits\n") && !strings.Contains(text, "## Where assay is not better\n") {
		faults = append(faults, "no limits")
	}
	if n := len(strings.Fields(cells.ReplaceAllString(prose, ""))); n > 400 {
		faults = append(faults, strconv.Itoa(n)+" words, at most 400")
	}
	return faults
}

// TestLinks holds every link of a document to a file and a heading of this repository.
func TestLinks(t *testing.T) {
	links := 0
	documents(t, func(path, text string) {
		for _, m := range target.FindAllStringSubmatch(blocks.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], ":") {
				continue // elsewhere
			}
			links++
			if fault := broken(t, path, m[1]); fault != "" {
				t.Errorf("%s: %s: %s", path, m[1], fault)
			}
		}
	})
	if links < 500 {
		t.Errorf("%d links", links)
	}
	for _, link := range []string{"docs/nowhere.md", "docs/guide.md#nowhere"} {
		if broken(t, "../../README.md", link) == "" {
			t.Errorf("%s passes for a link that holds", link)
		}
	}
}

// documents calls do with the path and the text of each document of this repository.
func documents(t *testing.T, do func(path, text string)) {
	t.Helper()
	files(t, func(path string) {
		if filepath.Ext(path) == ".md" {
			do(path, read(t, path))
		}
	})
}

// files calls do with the path of each file of this repository that is no test data and is not made by a build.
func files(t *testing.T, do func(path string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case "testdata", "node_modules", "dist", "bin", ".git":
				return fs.SkipDir
			}
			return nil
		}
		do(path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// broken returns the fault of a link on a page, or "".
func broken(t *testing.T, page, link string) string {
	file, anchor, _ := strings.Cut(link, "#")
	if file == "" {
		file = page
	} else {
		file = filepath.Join(filepath.Dir(page), file)
	}
	if _, err := os.Stat(file); err != nil {
		return "there is no such file"
	}
	if anchor == "" || filepath.Ext(file) != ".md" {
		return ""
	}
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(blocks.ReplaceAllString(read(t, file), ""), -1) {
		text := strings.ToLower(strings.TrimSpace(linked.ReplaceAllString(m[1], "$1")))
		slug := strings.ReplaceAll(marks.ReplaceAllString(text, ""), " ", "-")
		n := seen[slug]
		seen[slug]++
		if slug == anchor && n == 0 || slug+"-"+strconv.Itoa(n) == anchor {
			return ""
		}
	}
	return "there is no such heading"
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
