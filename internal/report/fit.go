package report

import (
	"slices"
	"strings"
)

// leastWrap is the least width of a column whose cells are wrapped. Without room for two of them side by
// side, the second goes under the first.
const leastWrap = 20

// Wrap names the columns whose cells may take several lines where the table has a Width.
func (t *Table) Wrap(titles ...string) {
	for _, title := range titles {
		t.column(title).wrap = true
	}
}

// Spare names the columns that are left out if the table is wider than its Width, in that order: the
// first is missed least. A line under the table names them.
func (t *Table) Spare(titles ...string) {
	for i, title := range titles {
		t.column(title).spare = len(titles) - i
	}
}

// column returns the column of a title. It panics without such a column.
func (t *Table) column(title string) *Column {
	return &t.Columns[slices.IndexFunc(t.Columns, func(c Column) bool { return c.Title == title })]
}

// A layout is a table as it is written: which columns there are, and each row as lines of cells, the titles first.
type layout struct {
	right   []bool
	widths  []int
	rows    [][][]string // row, line, column
	without []string     // the titles of the columns that are left out
}

// layOut fits the rows, of which the first has the titles, into the width of the table.
func (t *Table) layOut(rows [][]string) layout {
	keep := make([]int, len(t.Columns))
	for i := range keep {
		keep[i] = i
	}
	widths, least := t.widths(rows)
	if t.Width <= 0 || spanOf(keep, t.widest(rows)) <= t.Width {
		return t.plain(rows, keep)
	}
	var l layout
	for spanOf(keep, widths) > t.Width { // a name is wrapped last
		at := -1
		for k, i := range keep {
			if t.Columns[i].spare > 0 && (at < 0 || t.Columns[i].spare > t.Columns[keep[at]].spare) {
				at = k
			}
		}
		if at < 0 {
			break
		}
		l.without = append(l.without, t.Columns[keep[at]].Title)
		keep = slices.Delete(keep, at, at+1)
	}
	under := t.share(keep, widths, least)
	for _, i := range keep {
		if !slices.Contains(under, i) {
			l.widths, l.right = append(l.widths, widths[i]), append(l.right, t.Columns[i].Right)
		}
	}
	for n, row := range rows {
		l.rows = append(l.rows, t.fold(row, keep, under, widths, n == 0))
	}
	return l
}

// plain is the layout of a table that fits.
func (t *Table) plain(rows [][]string, keep []int) layout {
	l := layout{widths: t.widest(rows)}
	for _, i := range keep {
		l.right = append(l.right, t.Columns[i].Right)
	}
	for _, row := range rows {
		l.rows = append(l.rows, [][]string{row})
	}
	return l
}

// widest returns the widths of the columns with every cell on one line.
func (t *Table) widest(rows [][]string) []int {
	widths := make([]int, len(t.Columns))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], Width(c))
		}
	}
	return widths
}

// widths returns the widths of the columns with titles of one word a line, and the least that they may
// have.
func (t *Table) widths(rows [][]string) (widths, least []int) {
	widths = t.widest(rows[1:])
	least = slices.Clone(widths)
	for i, c := range t.Columns {
		for _, word := range strings.Fields(c.Title) {
			widths[i] = max(widths[i], Width(word))
		}
		least[i] = widths[i]
		if c.wrap {
			widths[i] = max(widths[i], Width(c.Title))
			least[i] = min(widths[i], leastWrap)
		}
	}
	return widths, least
}

// spanOf returns how many terminal columns these columns take.
func spanOf(keep, widths []int) int {
	n := 2 * (len(keep) - 1)
	for _, i := range keep {
		n += widths[i]
	}
	return n
}

// share gives the wrapped columns the rest of the width, each as much as the others or as much as it
// needs. If that is too little for one of them, all but the first go under it; these are returned.
func (t *Table) share(keep, widths, least []int) (under []int) {
	var wraps []int
	room := t.Width - 2*(len(keep)-1)
	for _, i := range keep {
		if t.Columns[i].wrap {
			wraps = append(wraps, i)
		} else {
			room -= widths[i]
		}
	}
	if len(wraps) > 1 {
		need := 0
		for _, i := range wraps {
			need += least[i]
		}
		if need > room {
			room += 2 * (len(wraps) - 1)
			under, wraps = wraps[1:], wraps[:1]
			for _, i := range under {
				widths[wraps[0]] = max(widths[wraps[0]], widths[i])
			}
		}
	}
	slices.SortStableFunc(wraps, func(a, b int) int { return widths[a] - widths[b] })
	for k, i := range wraps {
		fair := max(1, room/(len(wraps)-k))
		widths[i] = min(widths[i], fair)
		room -= widths[i]
	}
	return under
}

// fold returns the lines of a row.
func (t *Table) fold(row []string, keep, under, widths []int, title bool) [][]string {
	var columns [][]string
	first := -1
	for _, i := range keep {
		cell := []string{row[i]}
		switch c := t.Columns[i]; {
		case slices.Contains(under, i):
			if !title && row[i] != "" {
				columns[first] = append(columns[first], wrapped(row[i], widths[keep[first]])...)
			}
			continue
		case c.wrap && !title:
			cell = wrapped(row[i], widths[i])
			if first < 0 {
				first = len(columns)
			}
		case c.wrap && first < 0:
			first = len(columns)
		case title && Width(row[i]) > widths[i]:
			cell = nil
			for _, word := range strings.Fields(c.Title) {
				cell = append(cell, t.Palette.Bold(Visible(word)))
			}
		}
		columns = append(columns, cell)
	}
	return across(columns, title)
}

// across returns the lines of a row whose cells are given line by line. A title stands just above the rows.
func across(columns [][]string, title bool) [][]string {
	height := 1
	for _, c := range columns {
		height = max(height, len(c))
	}
	lines := make([][]string, height)
	for y := range lines {
		lines[y] = make([]string, len(columns))
		for x, c := range columns {
			k := y
			if title {
				k -= height - len(c)
			}
			if k >= 0 && k < len(c) {
				lines[y][x] = c[k]
			}
		}
	}
	return lines
}

// wrapped returns a text in lines of at most that many columns: broken at spaces, and within
// a word only where it is longer than a line. A text without any is one empty line.
func wrapped(text string, width int) []string {
	if Width(text) <= width {
		return []string{text}
	}
	lines := []string{""}
	for word := range strings.SplitSeq(text, " ") {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case Width(*last)+1+Width(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
		for last = &lines[len(lines)-1]; Width(*last) > width; last = &lines[len(lines)-1] {
			head := cut(*last, width)
			rest := (*last)[len(head):]
			if rest == "" {
				break
			}
			*last = head
			lines = append(lines, rest)
		}
	}
	return lines
}
