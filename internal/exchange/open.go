package exchange

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/assay-run/assay"
)

// Open reads the sides of a comparison, each a file or a list of files with commas between them. One file alone has
// its own sides if it is one of hyperfine with several commands, the first of which is the one that the others are
// compared with.
func Open(sides []string) ([]Side, error) {
	if len(sides) == 1 {
		return openAlone(sides[0])
	}
	var all []Side
	for _, text := range sides {
		s := Side{Name: text}
		files := paths(text)
		for i, path := range files {
			if slices.Contains(files[:i], path) {
				return nil, assay.Errorf(assay.ClassUsage, "%s: %s is in there twice", text, path)
			}
			f, err := Read(path)
			if err != nil {
				return nil, err
			}
			s.Files = append(s.Files, f)
		}
		all = append(all, s)
	}
	return all, nil
}

// paths returns the files of a side.
func paths(text string) []string {
	if _, err := os.Stat(text); !errors.Is(err, fs.ErrNotExist) {
		return []string{text}
	}
	var all []string
	for _, p := range strings.Split(text, ",") {
		if p != "" {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return []string{text}
	}
	return all
}

func openAlone(path string) ([]Side, error) {
	if isDir(path) {
		return nil, assay.Errorf(assay.ClassUsage, "%s: this is one side: a baseline of criterion is %s:NAME, and the last "+
			"measurement %s alone", path, path, path)
	}
	if len(paths(path)) > 1 {
		return nil, assay.Errorf(assay.ClassUsage, "%s: this is one side: with a space between them files are two", path)
	}
	f, err := Read(path)
	switch {
	case err != nil:
		return nil, err
	case f.Format == "hyperfine" && len(f.Benchmarks) > 1:
		var all []Side
		for _, b := range f.Benchmarks {
			all = append(all, Side{b.Name, []*File{{f.Path, f.Format, []Benchmark{b}}}})
		}
		return all, nil
	}
	return nil, assay.Errorf(assay.ClassUsage,
		"%s: need two files to compare: BEFORE AFTER", path)
}

// IsResults reports whether an argument is meant as results of another tool: a directory, a list, or a file whose text
// is JSON by its first byte. Files of benchmarks that assay runs are YAML.
func IsResults(arg string) bool {
	if isDir(arg) || len(paths(arg)) > 1 {
		return true
	}
	if dir, _, ok := cutLast(arg, ":"); ok && isDir(dir) {
		return true
	}
	f, err := os.Open(arg)
	if err != nil {
		return strings.HasSuffix(arg, ".json")
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head)
	text := strings.TrimLeft(string(head[:n]), " \t\r\n")
	return strings.HasSuffix(arg, ".json") || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}
