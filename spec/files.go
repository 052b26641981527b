package spec

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"go.yaml.in/yaml/v4"
)

// A File is a file that is written into the working directory before each run.
type File struct {
	Name string `json:"name"` // a path below the working directory
	Text string `json:"text"` // a template
}

// readFiles reads a mapping of names and texts, in file order.
func readFiles(d *decoder, n *yaml.Node) (files []File) {
	d.pairs(n, "files", func(key, value *yaml.Node) {
		path := "files." + key.Value
		d.mark(path, key)
		if t, ok := d.text(value, "file "+clip(key.Value)); ok {
			d.mark(path+".text", value)
			files = append(files, File{key.Value, t})
		}
	})
	return files
}

// checkFiles checks the files, and adds to used the parameters that they name.
func (c *checker) checkFiles(names []string, used []bool) {
	s := c.study
	seen := map[string]string{}
	for _, f := range s.Files {
		path, where := "files."+f.Name, "file "+clip(f.Name)
		clean := filepath.Clean(f.Name)
		switch {
		case !filepath.IsLocal(f.Name) || clean == "." || strings.ContainsRune(f.Name, 0):
			c.add(path, "", where, 0, "%q is no path below the working directory", clip(f.Name))
		case seen[clean] != "":
			c.add(path, "", where, 0, "it is the same file as %q", clip(seen[clean]))
		}
		seen[clean] = f.Name
		t, err := parseTemplate(f.Text, names, s.folder())
		if e, ok := errors.AsType[*TemplateError](err); ok {
			before := string([]rune(f.Text)[:e.Column-1])
			line := strings.Count(before, "\n") + 1
			c.add(path+".text", f.Text, where, e.Column, "line %d: %s", line, e.Message)
		}
		for _, i := range t.Params() {
			used[i] = true
		}
	}
	if len(s.Files) > 0 && s.Parallel > 1 {
		c.add("files."+s.Files[0].Name, "", "files", 0,
			"runs side by side would write over the files of each other: parallel is %d (give the files to the command "+
				"by arguments, or leave parallel out)", s.Parallel)
	}
}

// A fileTemplate is a file whose text has placeholders: line by line if a parameter has a
// condition, for a line that names one which is not in force is left out.
type fileTemplate struct {
	name  string
	lines []Template
}

func (t *templates) files() (out []fileTemplate) {
	for _, f := range t.study.Files {
		texts := []string{f.Text}
		if slices.ContainsFunc(t.study.Params, func(p Param) bool { return p.When != "" }) {
			texts = strings.SplitAfter(f.Text, "\n")
		}
		file := fileTemplate{name: f.Name}
		for _, text := range texts {
			file.lines = append(file.lines, t.inFolder(text))
		}
		out = append(out, file)
	}
	return out
}

// Files returns the files of a configuration, nil if there are none.
func (p *Program) Files(c assay.Config) (files []assay.File) {
	for _, f := range p.files {
		var b strings.Builder
		for _, line := range f.lines {
			if text, ok := line.Expand(p.params, c); ok || len(f.lines) == 1 {
				b.WriteString(text)
			}
		}
		files = append(files, assay.File{Name: f.name, Text: b.String()})
	}
	return files
}

// Verify returns the command that checks the output of a run, or nil.
func (p *Program) Verify(c assay.Config) []string { return p.hook(p.verify, c) }
