package report

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func ExampleTable() {
	t := NewTable(Palette{}, "trial", ">time", "config")
	t.Add("1", "1.23 s", "level=3")
	t.Add("12", "450 ms", "")
	t.Add("13", "2 h 13 min", "level=19 threads=8")
	t.Write(os.Stdout)
	// Output:
	// trial        time  config
	// 1          1.23 s  level=3
	// 12         450 ms
	// 13     2 h 13 min  level=19 threads=8
}

func TestWidth(t *testing.T) {
	for _, c := range []struct {
		s    string
		want int
	}{
		{"", 0},
		{"abc", 3},
		{"é", 1},
		{"e\u0301", 1},
		{"日本", 4},
		{"한", 2},
		{"🚀", 2},
		{"µs ±", 4},
		{"−∞", 2},
		{"\x1b[31mred\x1b[0m", 3},
		{"\x1b[1;31mred", 3},
		{"zero\u200bwidth", 9},
		{"▁█", 2},
	} {
		if got := Width(c.s); got != c.want {
			t.Errorf("Width(%q) = %d, want %d", c.s, got, c.want)
		}
	}
}

func TestTableIsClean(t *testing.T) {
	painted := "\x1b[31mred\x1b[0m"
	plain := NewTable(Palette{}, "name", "x")
	plain.Add("two\nlines\t\x1b[2Jcls", painted)
	plain.Add("\xff\u0085", "日本")
	want := "name                    x\n" +
		"two\\nlines\\t\\x1b[2Jcls  \\x1b[31mred\\x1b[0m\n" +
		"\\xff\\u0085              日本\n"
	if got := textOf(plain); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	colored := NewTable(Palette{Color: true}, "name", "x")
	colored.Add("\x1b[31mred", "yes")
	colored.Paint(1, colored.Palette.Good)
	want = "\x1b[1mname\x1b[0m         \x1b[1mx\x1b[0m\n\\x1b[31mred  \x1b[32myes\x1b[0m\n"
	if got := textOf(colored); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	bare := NewTable(Palette{Color: true}, "", "")
	bare.Add("a", "b")
	if got := textOf(bare); got != "a  b\n" || bare.Len() != 1 {
		t.Errorf("a table without titles is %q", got)
	}
}

func TestTablePanicsOnTooManyCells(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewTable(Palette{}, "a").Add("1", "2")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestTableReportsErrors(t *testing.T) {
	if NewTable(Palette{}, "a").Write(brokenWriter{}) == nil {
		t.Error("no error from a broken writer")
	}
}

// All cells of a column start, or end, in the same terminal column.
func TestTableIsAligned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringMatching(`[a-z日é]{1,8}`)
		table := NewTable(Palette{}, "left", ">right", "last")
		n := rapid.IntRange(1, 8).Draw(t, "rows")
		for range n {
			table.Add(cell.Draw(t, "left"), cell.Draw(t, "right"), cell.Draw(t, "last"))
		}
		lines := strings.Split(strings.TrimSuffix(textOf(table), "\n"), "\n")
		if len(lines) != n+1 {
			t.Fatalf("%d lines, want %d", len(lines), n+1)
		}
		place := func(line string) (end, last int) {
			at := strings.LastIndex(line, "  ") + 2
			return Width(strings.TrimRight(line[:at], " ")), Width(line[:at])
		}
		end, last := place(lines[0])
		for _, l := range lines {
			if e, at := place(l); e != end || at != last || strings.HasSuffix(l, " ") {
				t.Fatalf("not aligned:\n%s", textOf(table))
			}
		}
	})
}

func TestPalette(t *testing.T) {
	for i, f := range []func(Palette, string) string{Palette.Bold, Palette.Good, Palette.Note} {
		if got := f(Palette{}, "x"); got != "x" {
			t.Errorf("%d: painted without colours: %q", i, got)
		}
		if got := f(Palette{Color: true}, "x"); Width(got) != 1 || !strings.HasSuffix(got, "\x1b[0m") {
			t.Errorf("%d: %q", i, got)
		}
	}
}

// textOf returns the text of a table.
func textOf(t *Table) string {
	var b strings.Builder
	_ = t.Write(&b) // a Builder does not fail
	return b.String()
}

// Rows that stand together make one table, with an empty line before the next.
func TestWriteBlocks(t *testing.T) {
	var b strings.Builder
	rows := []int{12, 15, 31, 11}
	err := WriteBlocks(&b, rows, func(x int) string { return fmt.Sprint(x / 10) }, func(rows []int) *Table {
		t := NewTable(Palette{}, "of "+fmt.Sprint(rows[0]/10))
		for _, x := range rows {
			t.Add(fmt.Sprint(x))
		}
		return t
	})
	if want := "of 1\n12\n15\n\nof 3\n31\n\nof 1\n11\n"; err != nil || b.String() != want {
		t.Errorf("got %q, %v; want %q", b.String(), err, want)
	}
}
