package table

import (
	"fmt"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// Nothing is allocated for each row of a table, but by the csv reader: a million rows would need several
// times their room. The rows of a configuration may stand anywhere.
func TestReadAllocatesAtOnce(t *testing.T) {
	const rows = 4000
	text := func(n int) string {
		var b strings.Builder
		b.WriteString("x,y,z,t\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,%d,%d,%d\n", i%10, i/10%10, i/100%10, i)
		}
		return b.String()
	}
	read := func(text string) *Table {
		got, err := Read(strings.NewReader(text), Spec{
			File: "t.csv", Parameters: []string{"x", "y", "z"}, Metrics: map[string][]string{"elapsed": {"t"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	few, many := text(rows/2), text(rows)
	more := testing.AllocsPerRun(3, func() { read(many) }) - testing.AllocsPerRun(3, func() { read(few) })
	// The csv reader makes one string of a record.
	if most := 1.2 * rows / 2; more > most {
		t.Errorf("%v allocations for %d rows more, want at most %v", more, rows/2, most)
	}
	tab := read(many)
	if len(tab.Configs) != 1000 {
		t.Fatalf("%d configurations, want 1000", len(tab.Configs))
	}
	for i, c := range tab.Configs {
		if tab.Runs(c) != rows/1000 {
			t.Fatalf("%v: %d runs", c, tab.Runs(c))
		}
		for k, m := range tab.Measurements(c) {
			if want := float64(i + 1000*k); m.Metrics["elapsed"] != want {
				t.Fatalf("%v: run %d took %v, want %v", c, k, m.Metrics["elapsed"], want)
			}
		}
	}
	if tab.Runs(assay.Config{0, 0}) != 0 || tab.Runs(assay.Config{0, 0, 77}) != 0 {
		t.Error("runs of what is not there")
	}
}
