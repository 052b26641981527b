package report

import (
	"fmt"
	"io"
	"strings"
)

// A Column is one column of a [Table].
type Column struct {
	Title string
	Right bool // align to the right, as numbers want

	wrap  bool // see Wrap
	spare int  // see Spare: the greatest is left out first, never if 0
}

// A Table is rows of cells in aligned columns. Without a Width nothing is wrapped or cut: a
// line is as wide as its cells.
type Table struct {
	Columns []Column
	Palette Palette // of the titles
	// Width is the width of the terminal, 0 for no limit. A table that is wider has titles of several
	// lines, then lacks columns (see Spare), and wraps cells (see Wrap). Cells of other columns are never
	// cut.
	Width int
	rows  [][]string
}

// NewTable returns an empty table. A title that starts with ">" belongs to a column aligned to the
// right, without the sign.
func NewTable(palette Palette, titles ...string) *Table {
	t := &Table{Palette: palette}
	for _, title := range titles {
		name, right := strings.CutPrefix(title, ">")
		t.Columns = append(t.Columns, Column{Title: name, Right: right})
	}
	return t
}

// Add appends a row; cells that are missing are empty. It panics if there are
// more cells than columns. Cells are shown as [Visible] has them, so that no value breaks
// the table.
func (t *Table) Add(cells ...string) {
	if len(cells) > len(t.Columns) {
		panic(fmt.Sprintf("report: %d cells for %d columns", len(cells), len(t.Columns)))
	}
	row := make([]string, len(t.Columns))
	for i, c := range cells {
		row[i] = Visible(c)
	}
	t.rows = append(t.rows, row)
}

// Paint paints a cell of the row that was added last, by a method of a [Palette].
func (t *Table) Paint(column int, paint func(string) string) {
	row := t.rows[len(t.rows)-1]
	row[column] = paint(row[column])
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Write writes the titles, unless all are empty, and the rows. Columns are two
// spaces apart and lines have no trailing spaces.
func (t *Table) Write(w io.Writer) error {
	head, titled := make([]string, len(t.Columns)), false
	for i, c := range t.Columns {
		head[i] = t.Palette.Bold(Visible(c.Title))
		titled = titled || c.Title != ""
	}
	l := t.layOut(append([][]string{head}, t.rows...))
	if !titled {
		l.rows = l.rows[1:]
	}
	var b strings.Builder
	for _, row := range l.rows {
		for _, line := range row {
			l.write(&b, line)
		}
	}
	if len(l.without) > 0 {
		text := "(no room for: " + strings.Join(l.without, ", ") + ")"
		b.WriteString(strings.Join(wrapped(text, t.Width), "\n") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteOr writes the table, or the line none if it has no rows.
func (t *Table) WriteOr(w io.Writer, none string) error {
	if t.Len() > 0 {
		return t.Write(w)
	}
	_, err := fmt.Fprintln(w, none)
	return err
}

// write writes a line of cells.
func (l *layout) write(b *strings.Builder, cells []string) {
	pad := 0 // spaces owed before the next cell that is not empty
	for i, c := range cells {
		fill := l.widths[i] - Width(c)
		if l.right[i] {
			pad += fill
			fill = 0
		}
		if c != "" {
			b.WriteString(strings.Repeat(" ", max(0, pad)))
			b.WriteString(c)
			pad = 0
		}
		pad += fill + 2
	}
	b.WriteByte('\n')
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
