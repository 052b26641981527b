package report

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// studies is a table like the list of the studies on record.
func studies(width int) *Table {
	t := NewTable(Palette{}, "study", ">done", ">outside limits", ">best", "objective", "last run")
	t.Width = width
	t.Wrap("study")
	t.Spare("last run", "objective")
	t.Add("compress", "12", "3", "1.23 s", "minimize elapsed", "2026-03-04 15:04")
	return t
}

func ExampleTable_Spare() {
	studies(80).Write(os.Stdout)
	fmt.Println()
	studies(50).Write(os.Stdout)
	fmt.Println()
	studies(40).Write(os.Stdout)
	// Output:
	// study     done  outside limits    best  objective         last run
	// compress    12               3  1.23 s  minimize elapsed  2026-03-04 15:04
	//
	//                 outside
	// study     done   limits    best  objective
	// compress    12        3  1.23 s  minimize elapsed
	// (no room for: last run)
	//
	//                 outside
	// study     done   limits    best
	// compress    12        3  1.23 s
	// (no room for: last run, objective)
}

func trials(width int) *Table {
	t := NewTable(Palette{}, ">id", "state", ">elapsed", "configuration", "reason")
	t.Width = width
	t.Wrap("configuration", "reason")
	t.Add("1", "done", "1.02 s", "level=3 threads=2 window=512", "")
	t.Add("2", "outside limits", "> 1.2 s", "level=19 threads=1 window=1024", "max_rss is 1.2 GB, and the limit 1 GB")
	return t
}

func ExampleTable_Wrap() {
	trials(80).Write(os.Stdout)
	fmt.Println()
	trials(60).Write(os.Stdout)
	// Output:
	// id  state           elapsed  configuration             reason
	//  1  done             1.02 s  level=3 threads=2
	//                              window=512
	//  2  outside limits  > 1.2 s  level=19 threads=1        max_rss is 1.2 GB, and
	//                              window=1024               the limit 1 GB
	//
	// id  state           elapsed  configuration
	//  1  done             1.02 s  level=3 threads=2 window=512
	//  2  outside limits  > 1.2 s  level=19 threads=1 window=1024
	//                              max_rss is 1.2 GB, and the
	//                              limit 1 GB
}

// A table with a width takes no more, and shows every character of a column that it has not
// left out.
func TestTableFits(t *testing.T) {
	word := rapid.StringMatching(`[a-z日é=]{1,30}`)
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(50, 130).Draw(t, "width")
		palette := Palette{Color: rapid.Bool().Draw(t, "color")}
		table := NewTable(palette, ">id", "state of it", ">value", "configuration", "reason")
		table.Width = width
		table.Wrap("configuration", "reason")
		table.Spare("value")
		var rows [][]string
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			row := []string{
				"7", "outside limits", "> 1.234 s",
				strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "configuration"), " "),
				strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "reason"), " "),
			}
			rows = append(rows, row)
			table.Add(row...)
		}
		text := textOf(table)
		for line := range strings.Lines(text) {
			if n := Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Fatalf("%d columns of %d:\n%s", n, width, text)
			}
		}
		// Each letter is there as often as it was put in, whatever is broken where.
		shown := map[rune]int{}
		for _, r := range text {
			shown[r]++
		}
		for r := range strings.SplitSeq("日 = é", " ") {
			want := 0
			for _, row := range rows {
				want += strings.Count(strings.Join(row, ""), r)
			}
			if got := shown[[]rune(r)[0]]; got != want {
				t.Fatalf("%d of %d %q:\n%s", got, want, r, text)
			}
		}
	})
}

// A table that stays wider than the terminal whatever is done is shown whole.
func TestTableTooNarrow(t *testing.T) {
	table := NewTable(Palette{}, ">id", "state")
	table.Width = 5
	table.Add("1", "outside")
	if got, want := textOf(table), "id  state\n 1  outside\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLinesFit(t *testing.T) {
	l := Lines{Width: 30}
	l.Add("best", "%s", "level=3 threads=2 window=512")
	l.Add("", "%s", strings.Repeat("x", 25))
	l.AddCommand("command", "zstd -T2 -3 --long=27 --memory=512MB in out")
	l.Add("short", "  two")
	var b strings.Builder
	if err := l.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := `best       level=3 threads=2
           window=512
           xxxxxxxxxxxxxxxxxxx
           xxxxxx
command    zstd -T2 -3 --long=27 --memory=512MB in out
short        two
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	if e := l.Entries(); len(e) != 4 || e[0].Text != "level=3 threads=2 window=512" {
		t.Errorf("entries %+v", e)
	}
	if l.Room(60) != 19 || (&Lines{}).Room(60) != 60 {
		t.Errorf("room %d", l.Room(60))
	}
}
