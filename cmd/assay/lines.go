package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
)

// lines is a report of labelled lines.
type lines struct{ b strings.Builder }

func (l *lines) add(label, format string, args ...any) {
	fmt.Fprintf(&l.b, "%-11s%s\n", label, fmt.Sprintf(format, args...))
}

func (l *lines) write(w io.Writer) error {
	_, err := io.WriteString(w, l.b.String())
	return err
}

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

// newStatus returns a status line on w, which does nothing unless w is a
// terminal that can draw one.
func newStatus(w io.Writer) *term.Status {
	f, tty := terminal(w)
	if !tty {
		return term.NewStatus(w, false, nil)
	}
	return term.NewStatus(w, !term.Dumb(os.Getenv), term.Columns(f))
}

// showMetric returns a metric's value for people, in its unit.
func showMetric(x float64, unit string) string {
	switch unit {
	case "s":
		return report.Seconds(x)
	case "":
		return report.Number(x, 4)
	}
	return report.SI(x, unit)
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

func seconds(d time.Duration) float64 { return d.Seconds() }

// grace is how long a program has from SIGTERM to SIGKILL.
const grace = time.Second
