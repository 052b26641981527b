package pietri

import (
	"math"
	"strings"
	"testing"
)

// The table of the paper comes once, after the last report; an error that is not known
// is an empty cell.
func TestWriteText(t *testing.T) {
	row := func(app string) Row {
		return Row{
			App: app, Executions: 3, Median: 0.05, P75: 0.1, P90: 0.2, Max: 0.5, Within10: 0.75, Within20: 1,
			Covered: math.NaN(), PaperMed: 0.3, PaperIn20: 0.25,
		}
	}
	grids := row("grids")
	one := &Report{Hold: "execution", Apps: []Row{row("montage")}, All: row("all"), Runs: make([]Run, 3)}
	two := &Report{Hold: "config", Apps: []Row{row("montage")}, All: row("all"), Grids: &grids, Runs: make([]Run, 3)}
	one.Table1 = []TableEntry{
		{App: "montage", Model: "published", Method: "tda", Error: 0.1, In10: 0.5, In15: 0.75, In20: 1},
	}
	two.Table1 = one.Table1
	var b strings.Builder
	if err := WriteText(&b, []*Report{one, two}); err != nil {
		t.Fatal(err)
	}
	head := "application  runs  median    75 %    90 %     max  in 10 %  in 20 %  in interval  Alg. 1 median  in 20 %\n"
	cells := "     3   5.0 %  10.0 %  20.0 %  50.0 %   75.0 %  100.0 %                      30.0 %   25.0 %\n"
	want := "leave-one-execution-out, 3 executions (Alg. 1 with all cores and 25 s a level beside)\n" +
		head + "montage    " + cells + "all        " + cells + "\n" +
		"leave-one-config-out, 3 executions (Alg. 1 with all cores and 25 s a level beside)\n" +
		head + "montage    " + cells + "all        " + cells + "grids      " + cells + "\n" +
		"Table I: share of predictions within 10, 15 and 20 %; published: Alg. 1 with all cores and 25 s a level; " +
		"calibrated: from all executions of the application and site\n" +
		"application  model      levels  run time error  in 10 %  in 15 %  in 20 %\n" +
		"montage      published  tda              ±10 %     50.0     75.0    100.0\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
