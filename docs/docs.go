// Package docs has the pages of reference that the program carries.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed format/study.md reference/metrics.md reference/searchers.md gate.md
var files embed.FS

// A Page is one page, named by its path in this directory.
type Page struct{ Name, Text string }

// Pages returns the pages, in the order of their names.
func Pages() (all []Page) {
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(path)
		all = append(all, Page{path, string(text)})
		return err
	})
	if err != nil {
		panic("docs: " + err.Error()) // they are part of the program
	}
	return all
}
