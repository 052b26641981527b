package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Column is one column of a [Table].
type Column struct {
	Title string
	Right bool // align to the right, as numbers want
}

// A Table is rows of cells in aligned columns. Nothing is wrapped or cut: a line
// is as wide as its cells.
type Table struct {
	Columns []Column
	Palette Palette // of the titles, and whether cells may be painted
	rows    [][]string
}

// NewTable returns an empty table. A title that starts with ">" is that of a
// column aligned to the right, without the sign.
func NewTable(palette Palette, titles ...string) *Table {
	t := &Table{Palette: palette}
	for _, title := range titles {
		name, right := strings.CutPrefix(title, ">")
		t.Columns = append(t.Columns, Column{name, right})
	}
	return t
}

// Add appends a row; cells that are missing are empty. It panics if there are
// more cells than columns. Control characters in a cell are shown as escapes such
// as \n, so that no value breaks the table; the colours of a [Palette] are kept if
// the table has colours, and dropped if not.
func (t *Table) Add(cells ...string) {
	if len(cells) > len(t.Columns) {
		panic(fmt.Sprintf("report: %d cells for %d columns", len(cells), len(t.Columns)))
	}
	row := make([]string, len(t.Columns))
	for i, c := range cells {
		row[i] = clean(c, t.Palette.Color)
	}
	t.rows = append(t.rows, row)
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Write writes the titles, unless all are empty, and the rows. Columns are two
// spaces apart and lines have no trailing spaces.
func (t *Table) Write(w io.Writer) error {
	rows := t.rows
	head, titled := make([]string, len(t.Columns)), false
	for i, c := range t.Columns {
		head[i] = t.Palette.Bold(clean(c.Title, false))
		titled = titled || c.Title != ""
	}
	if titled {
		rows = append([][]string{head}, rows...)
	}
	widths := make([]int, len(t.Columns))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], Width(c))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		pad := 0 // spaces owed before the next cell that is not empty
		for i, c := range row {
			fill := widths[i] - Width(c)
			if t.Columns[i].Right {
				pad += fill
				fill = 0
			}
			if c != "" {
				b.WriteString(strings.Repeat(" ", pad))
				b.WriteString(c)
				pad = 0
			}
			pad += fill + 2
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// clean returns s with control characters as escapes. Colour sequences stay, and
// end with s, if colors is set; otherwise they are dropped.
func clean(s string, colors bool) string {
	plain := func(r rune) bool { return r >= 0x20 && r != 0x7f && (r < 0x80 || r >= 0xa0) }
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) || r == utf8.RuneError }) < 0 {
		return s
	}
	var b strings.Builder
	painted := false
	for s != "" {
		if k := escape(s); k > 0 && s[k-1] == 'm' {
			if colors {
				painted = s[:k] != "\x1b[0m"
				b.WriteString(s[:k])
			}
			s = s[k:]
			continue
		}
		r, k := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && k == 1: // not UTF-8
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case !plain(r):
			quoted := fmt.Sprintf("%q", r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
		s = s[k:]
	}
	if painted {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// WriteBlocks writes a table for each block of rows that stand together and have the
// same name, with an empty line between them.
func WriteBlocks[T any](w io.Writer, rows []T, name func(T) string, table func(rows []T) *Table) error {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && name(rows[n]) == name(rows[0]) {
			n++
		}
		if err := table(rows[:n]).Write(w); err != nil {
			return err
		}
		if rows = rows[n:]; len(rows) > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
	}
	return nil
}
