package arch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

const root = "../.."

// A copied tree is one in which the page is followed.
type copied struct {
	t   *testing.T
	dir string
}

// One extension of each kind is added to a copy of the tree from its template, by the steps of CONTRIBUTING.md and
// nothing else, and used by the command line. The templates are in testdata/extensions, one folder a kind, with the
// paths of the tree in it. make test checks that the page has every step of a recipe; make system follows the steps.
func TestExtensions(t *testing.T) {
	text, err := os.ReadFile(root + "/CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	sections, err := parsePage(string(text))
	if err != nil {
		t.Fatalf("CONTRIBUTING.md: %v", err)
	}
	if checkSections(t, sections); t.Failed() {
		return
	}
	testbed.System(t)
	c := copied{t, filepath.Join(t.TempDir(), "assay")}
	c.fill()
	for _, s := range sections {
		for _, st := range s.steps {
			if err := c.apply(st); err != nil {
				t.Fatalf("CONTRIBUTING.md, line %d, %q: %v", st.line, s.title, err)
			}
		}
	}
	c.checkNames(string(text))
	c.test(sections)
	if t.Failed() {
		return
	}
	bin := t.TempDir()
	c.must(nil, "go", "build", "-o", bin+"/assay", "./cmd/assay")
	for _, s := range sections {
		if s.template() == "" {
			continue
		}
		t.Run(s.title, func(t *testing.T) {
			copied{t, c.dir}.use(s, bin)
		})
	}
}

// checkSections holds the page to have whole recipes, one a template, which name the suites that the
// template's test calls.
func checkSections(t *testing.T, sections []section) {
	t.Helper()
	kinds := map[string]bool{}
	for _, s := range sections {
		kind := s.template()
		if kind == "" {
			continue
		}
		kinds[kind] = true
		for _, flaw := range s.flaws() {
			t.Errorf("CONTRIBUTING.md, %q, lacks %s", s.title, flaw)
		}
		// The files of the template, those with a row, and one generated page.
		if n := len(filesOf(t, "testdata/extensions/"+kind)) + len(s.edited()) + 1; kind == "route" && n > 5 {
			t.Errorf("CONTRIBUTING.md, %q, touches %d files", s.title, n)
		}
		suite := regexp.MustCompile(`assaytest\.Test\w+`)
		named := suite.FindAllString(s.prose, -1)
		var called []string
		for _, file := range filesOf(t, "testdata/extensions/"+kind) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			called = append(called, suite.FindAllString(string(b), -1)...)
		}
		slices.Sort(named)
		slices.Sort(called)
		if !slices.Equal(slices.Compact(named), slices.Compact(called)) {
			t.Errorf("CONTRIBUTING.md, %q, names the suites %q, and its template calls %q", s.title, named, called)
		}
	}
	entries, err := os.ReadDir("testdata/extensions")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !kinds[e.Name()] {
			t.Errorf("CONTRIBUTING.md does not say how the template %s is added", e.Name())
		}
	}
}

// The building blocks that the page names are types of package search, and its documentation names them.
func TestBuildingBlocks(t *testing.T) {
	page, err := os.ReadFile(root + "/CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(root + "/search/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, file := range filesOf(t, root+"/search") {
		if strings.HasSuffix(file, "_test.go") || !strings.HasSuffix(file, ".go") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(b)
	}
	blocks := regexp.MustCompile("(?m)^ +- `(\\w+)`").FindAllStringSubmatch(string(page), -1)
	if len(blocks) == 0 {
		t.Error("CONTRIBUTING.md names no building block of searchers")
	}
	for _, b := range blocks {
		if !regexp.MustCompile(`(?m)^type ` + b[1] + `\b`).MatchString(source.String()) {
			t.Errorf("CONTRIBUTING.md names the building block %s: package search has no such type", b[1])
		}
		if !regexp.MustCompile(`\b` + b[1] + `\b`).Match(doc) {
			t.Errorf("search/doc.go does not name the building block %s", b[1])
		}
	}
}

// filesOf returns the files of a folder.
func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// fill copies the tree: the files that git knows of or would add, or all of it if there is no git.
func (c copied) fill() {
	var files []string
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	if out, err := list.Output(); err == nil {
		files = strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	} else {
		for _, path := range filesOf(c.t, root) {
			files = append(files, strings.TrimPrefix(path, root+"/"))
		}
	}
	for _, file := range files {
		from, to := filepath.Join(root, file), filepath.Join(c.dir, file)
		info, err := os.Stat(from)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // deleted, or a link to a folder
		}
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, b, info.Mode().Perm())
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// apply follows one step, unless it tests or uses the added extension.
func (c copied) apply(s step) error {
	path := filepath.Join(c.dir, s.file)
	switch s.language {
	case "sh":
		for line := range strings.Lines(s.body) {
			switch {
			case goTest.MatchString(line):
			case strings.HasPrefix(line, "cp -r "):
				c.must(nil, "sh", "-c", line)
			default:
				return fmt.Errorf("nobody knows how to follow %q", line)
			}
		}
	case "go":
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if b, err = addRow(b, s.table, s.body); err != nil {
			return fmt.Errorf("%s: %w", s.file, err)
		}
		return os.WriteFile(path, b, 0o644)
	case "markdown":
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		page, err := addLine(string(b), s.table, s.body)
		if err != nil {
			return fmt.Errorf("%s: %w", s.file, err)
		}
		return os.WriteFile(path, []byte(page), 0o644)
	case "yaml":
		return os.WriteFile(path, []byte(s.body), 0o644)
	}
	return nil
}

// checkNames holds the page to name files that are there, and tables that are in them.
func (c copied) checkNames(page string) {
	for _, m := range regexp.MustCompile("`([a-z_/]+/[a-z_.]+\\.(?:go|md))`").FindAllStringSubmatch(page, -1) {
		if filepath.Base(m[1]) == "name.go" { // yours
			continue
		}
		if _, err := os.Stat(filepath.Join(c.dir, m[1])); err != nil {
			c.t.Errorf("CONTRIBUTING.md names %s: %v", m[1], err)
		}
	}
	for _, m := range inTable.FindAllStringSubmatch(page, -1) {
		b, err := os.ReadFile(filepath.Join(c.dir, m[2]))
		if err != nil || !strings.Contains(string(b), m[1]) {
			c.t.Errorf("CONTRIBUTING.md names %q of %s, which is not there (%v)", m[1], m[2], err)
		}
	}
}

var goTest = regexp.MustCompile(`^(UPDATE_DOCS=1 )?go test (\./[a-z/]+) -run '?([\w|]+)'?\n$`)

// test runs the tests of all steps: first those that write documentation, then all others in one go. Every
// name after -run must be in the name of a test that passed.
func (c copied) test(sections []section) {
	var update, packages, names []string
	for _, s := range sections {
		for _, st := range s.steps {
			for line := range strings.Lines(st.body) {
				m := goTest.FindStringSubmatch(line)
				switch {
				case st.language != "sh" || m == nil:
				case m[1] != "":
					update = append(update, m[2]+" -run "+m[3])
				default:
					packages = append(packages, m[2])
					names = append(names, strings.Split(m[3], "|")...)
				}
			}
		}
	}
	slices.Sort(update)
	for _, line := range slices.Compact(update) {
		c.must([]string{"UPDATE_DOCS=1"}, "go", append([]string{"test"}, strings.Fields(line)...)...)
	}
	slices.Sort(packages)
	args := []string{"test", "-v", "-run", strings.Join(names, "|")}
	out := c.must(nil, "go", append(args, slices.Compact(packages)...)...)
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^--- PASS: Test\w*` + name).MatchString(out) {
			c.t.Errorf("no test of the name %s passed", name)
		}
	}
}

// use runs the assay lines of a section in the root of the copy.
func (c copied) use(s section, bin string) {
	env := []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"XDG_STATE_HOME=" + c.t.TempDir(), "XDG_RUNTIME_DIR=" + c.t.TempDir(),
	}
	for _, st := range s.steps {
		if st.language != "console" {
			continue
		}
		for _, u := range st.uses() {
			out := c.must(env, "sh", "-c", u.command)
			if w := u.missing(out); w != "" {
				c.t.Errorf("CONTRIBUTING.md, line %d: %s\nprints no line %q in its place, but:\n%s",
					st.line, u.command, w, out)
			}
		}
	}
}

// must runs a program in the root of the copy and returns its output.
func (c copied) must(env []string, name string, args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), name, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		said := regexp.MustCompile(`(?m)^( *--- PASS|=== |PASS$|ok  ).*\n`).ReplaceAllString(string(out), "")
		c.t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, said, stderr.String())
	}
	return string(out)
}
