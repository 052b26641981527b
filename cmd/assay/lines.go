package main

import (
	"io"
	"os"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
)

// palette returns the colours for w: none unless it is a terminal that wants them.
func palette(w io.Writer) report.Palette {
	_, tty := terminal(w)
	return report.Palette{Color: term.Color(tty, os.Getenv)}
}

// terminal returns the file behind w and whether it is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(f)
}

// columns returns the width of the terminal w, or 0 if w is not a terminal: then lines are not fitted.
func columns(w io.Writer) int {
	f, tty := terminal(w)
	if !tty {
		return 0
	}
	return term.Columns(f)()
}

// names writes the names of a list.
func names[E any](list []E, name func(E) string) string {
	var s []string
	for _, e := range list {
		s = append(s, name(e))
	}
	return strings.Join(s, ", ")
}

// listed writes the names of the rows of a table.
func listed(table []setup.Row) string { return strings.Join(setup.Names(table), ", ") }
