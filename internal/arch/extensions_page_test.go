package arch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A section is a part of the page under one heading of the second level.
type section struct {
	title string
	prose string // without the blocks
	steps []step
}

// A step is a block of code of the page.
type step struct {
	line     int    // of the page, where the block begins
	language string // sh, go, markdown, yaml or console
	body     string // without the indentation of the block
	// Where the block goes: go is a row of the table of that name in the file, markdown a row of the table
	// under that heading, yaml is the file.
	table, file string
}

// templates is the folder of the templates, one a kind of extension.
const templates = "internal/arch/testdata/extensions/"

var (
	inTable    = regexp.MustCompile("`([^`]+)` of `([^`]+\\.(?:go|md))`")
	inYAML     = regexp.MustCompile("`([^`]+\\.yaml)`")
	ofTemplate = regexp.MustCompile(`cp -r ` + templates + `([a-z]+)/\. \.`)
)

// parsePage reads the sections of a page. It returns an error for a block without its place, and for
// one of another language.
func parsePage(text string) (sections []section, err error) {
	var at *section
	var open *step
	var before []string // the prose since the last block
	indent := ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case open != nil && trimmed == "```":
			at.steps, open, before = append(at.steps, *open), nil, nil
		case open != nil:
			open.body += strings.TrimPrefix(line, indent) + "\n"
		case strings.HasPrefix(line, "## "):
			sections = append(sections, section{title: strings.TrimPrefix(line, "## ")})
			at, before = &sections[len(sections)-1], nil
		case at != nil && strings.HasPrefix(trimmed, "```"):
			open = &step{line: i + 1, language: strings.TrimPrefix(trimmed, "```")}
			indent, _, _ = strings.Cut(line, "`")
			if err := open.place(strings.Join(before, " ")); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		case at != nil:
			at.prose += line + "\n"
			before = append(before, trimmed)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block has no end", open.line)
	}
	return sections, nil
}

// place reads where a block goes from the prose before it.
func (s *step) place(prose string) error {
	switch s.language {
	case "sh", "console":
		return nil
	case "go", "markdown":
		all := inTable.FindAllStringSubmatch(prose, -1)
		if all == nil {
			return fmt.Errorf("before a block of %s there is no `TABLE` of `FILE`: %q", s.language, prose)
		}
		s.table, s.file = all[len(all)-1][1], all[len(all)-1][2]
		return nil
	case "yaml":
		all := inYAML.FindAllStringSubmatch(prose, -1)
		if all == nil {
			return fmt.Errorf("before a block of yaml there is no name of a file: %q", prose)
		}
		s.file = all[len(all)-1][1]
		return nil
	}
	return fmt.Errorf("a block of %q: nobody knows what to do with it", s.language)
}

// template returns the name of the template that the section begins with, or "".
func (s section) template() string {
	for _, st := range s.steps {
		if m := ofTemplate.FindStringSubmatch(st.body); st.language == "sh" && m != nil {
			return m[1]
		}
	}
	return ""
}

// edited returns the files that the section adds rows to.
func (s section) edited() (files []string) {
	for _, st := range s.steps {
		if (st.language == "go" || st.language == "markdown") && !slices.Contains(files, st.file) {
			files = append(files, st.file)
		}
	}
	return files
}

// flaws returns the missing parts of a section that begins with a template: a reader that follows it must
// end with an extension that is tested, documented and can be used.
func (s section) flaws() (flaws []string) {
	need := map[string]bool{
		"a test: go test ./PACKAGE -run NAME":                                false,
		"a row: a block of go":                                               false,
		"a documented row: UPDATE_DOCS=1 go test …, or a block of markdown":  false,
		"a use of it: a console block with a line that begins with $ assay ": false,
	}
	meet := func(prefix string) {
		for n := range need {
			if strings.HasPrefix(n, prefix) {
				need[n] = true
			}
		}
	}
	for _, st := range s.steps {
		switch {
		case st.language == "sh" && strings.HasPrefix(st.body, "UPDATE_DOCS=1 go test "), st.language == "markdown":
			meet("a documented row")
		case st.language == "sh" && strings.HasPrefix(st.body, "go test "):
			meet("a test")
		case st.language == "go":
			meet("a row")
			if st.table == "Routes" { // the test of a route uses it through the client
				meet("a use")
			}
		case st.language == "console" && strings.HasPrefix(st.body, "$ assay "):
			meet("a use")
		}
	}
	for n, met := range need {
		if !met {
			flaws = append(flaws, n)
		}
	}
	slices.Sort(flaws)
	return flaws
}

// A use is a command line of a console block and the lines that it prints.
type use struct {
	command string
	want    []string
}

func (s step) uses() (all []use) {
	for line := range strings.Lines(s.body) {
		line = strings.TrimSuffix(line, "\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, use{command: command})
		} else if len(all) > 0 {
			last := &all[len(all)-1]
			last.want = append(last.want, line)
		}
	}
	return all
}

// missing returns the first of the lines that output lacks in its place, "" if there is none. Spaces
// count as one, and ... stands for any text.
func (u use) missing(output string) string {
	fold := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	got := strings.Split(output, "\n")
	for _, w := range u.want {
		like := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(fold(w)), `\.\.\.`, ".*") + "$")
		i := slices.IndexFunc(got, func(line string) bool { return like.MatchString(fold(line)) })
		if i < 0 {
			return w
		}
		got = got[i+1:]
	}
	return ""
}

const samplePage = "# Title\n\n## Add a thing\n1. Copy:\n\n" +
	"   ```sh\n   cp -r internal/arch/testdata/extensions/thing/. .\n   ```\n" +
	"2. Test `a` of `b.go`:\n\n   ```sh\n   go test ./a -run Thing\n   ```\n" +
	"3. A row in `things` of `setup/things.go`:\n\n   ```go\n   {\"x\",\n   \ty},\n   ```\n" +
	"4. Document:\n\n   ```sh\n   UPDATE_DOCS=1 go test ./a\n   ```\n" +
	"5. `f.yaml`:\n\n   ```yaml\n   a: 1\n   ```\n\n" +
	"   ```console\n   $ assay x\n   best  ... 1\n   end\n   $ assay y\n   ```\n\n## Other\ntext\n"

func TestParsePage(t *testing.T) {
	sections, err := parsePage(samplePage)
	if err != nil || len(sections) != 2 || sections[0].title != "Add a thing" || len(sections[0].steps) != 6 {
		t.Fatalf("%+v, %v", sections, err)
	}
	s := sections[0]
	if s.template() != "thing" || sections[1].template() != "" || s.flaws() != nil {
		t.Errorf("template %q, flaws %q", s.template(), s.flaws())
	}
	if row := s.steps[2]; row.table != "things" || row.file != "setup/things.go" || row.body != "{\"x\",\n\ty},\n" {
		t.Errorf("the row is %+v", row)
	}
	if s.steps[4].file != "f.yaml" || s.steps[4].body != "a: 1\n" {
		t.Errorf("the file is %+v", s.steps[4])
	}
	uses := s.steps[5].uses()
	if len(uses) != 2 || uses[0].command != "assay x" || len(uses[0].want) != 2 || uses[1].want != nil {
		t.Errorf("the uses are %q", uses)
	}
	for output, missing := range map[string]string{
		"best n=1 1\nmore\nend\n": "", "end\nbest n=1 1\n": "end", "best 2\nend": "best  ... 1", "": "best  ... 1",
	} {
		if got := uses[0].missing(output); got != missing {
			t.Errorf("%q: missing is %q, want %q", output, got, missing)
		}
	}
}

// The flaws of a section name the step that it lacks, and a block that cannot be followed is an error.
func TestPageFlaws(t *testing.T) {
	for cut, says := range map[string]string{
		"   go test ./a -run Thing\n":    "a test: ",
		"   UPDATE_DOCS=1 go test ./a\n": "a documented row",
		"   $ assay x\n":                 "a use of it",
	} {
		sections, err := parsePage(strings.Replace(samplePage, cut, "   cd .\n", 1))
		if err != nil || len(sections[0].flaws()) != 1 || !strings.HasPrefix(sections[0].flaws()[0], says) {
			t.Errorf("without %q: flaws %q, %v", cut, sections[0].flaws(), err)
		}
	}
	for _, c := range []struct{ old, new, says string }{
		{"`things` of `setup/things.go`", "a table", "line 16: before a block of go there is no `TABLE` of `FILE`"},
		{"`f.yaml`", "A file", "no name of a file"},
		{"```console", "```perl", "perl"},
		{"```\n\n## Other", "\n## Other", "the block has no end"},
	} {
		_, err := parsePage(strings.Replace(samplePage, c.old, c.new, 1))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("with %q: %v", c.new, err)
		}
	}
}
