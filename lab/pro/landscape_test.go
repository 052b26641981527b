package pro

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
)

// seconds is the goal of the tests' tables.
var seconds = assay.Goal{Metric: "elapsed"}

// readTable reads a table of x and y with up to three runs in a row.
func readTable(t *testing.T, text string, runs ...string) *table.Table {
	t.Helper()
	tab, err := table.Read(strings.NewReader(text), table.Spec{
		File: "t.csv", Parameters: []string{"x", "y"}, Metrics: map[string][]string{"elapsed": runs},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

const threeRuns = `x,y,a,b,c
1,1,4,2,6
1,2,1,1,4
2,1,,,
2,2,8,8,8
1,3,3,3,
`

// The value of a configuration is the mean of its runs, or the least if there is noise
// of its own to add; a failed one is missing, and the best is the least value.
func TestLandscapeOfTable(t *testing.T) {
	tab := readTable(t, threeRuns, "a", "b", "c")
	runs, err := runsOf(tab, seconds)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		runs map[string][]float64
		want []float64 // at (1,1), (1,2), (2,2), (1,3)
		best float64
	}{
		{nil, []float64{4, 2, 8, 3}, 2},
		{runs, []float64{2, 1, 8, 3}, 1},
	} {
		l, err := newLandscape(tab, seconds, tt.runs)
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, r := range l.recorded {
			got = append(got, r.value)
		}
		if !slices.Equal(got, tt.want) || l.best != tt.best {
			t.Errorf("got %v, the best %v; want %v and %v", got, l.best, tt.want, tt.best)
		}
		// (2, 1) failed. y has three levels and x two, so (2, 2) is nearer than (1, 1).
		c := assay.Config{1, 0}
		if v := l.at(c); v <= slices.Min(tt.want) || v >= 8 {
			t.Errorf("the failed configuration is %v, not between its neighbours", v)
		}
		if near := l.nearest(c); !near.Equal(assay.Config{1, 1}) {
			t.Errorf("nearest to (2, 1) is %v, want (2, 2)", l.space.Text(near))
		}
		if near := l.nearest(assay.Config{0, 1}); !near.Equal(assay.Config{0, 1}) {
			t.Errorf("nearest to a recorded configuration is %v", l.space.Text(near))
		}
	}
	bowl := bowlLandscape(t)
	for range 2 { // the second time it is remembered
		near := bowl.nearest(assay.Config{10, 12})
		if math.Abs(near[0]-10)+math.Abs(near[1]-12) != 1 {
			t.Errorf("nearest to (10, 12) is %v, want one of the four beside it", near)
		}
	}
}

func TestRunsOf(t *testing.T) {
	runs, err := runsOf(readTable(t, threeRuns, "a", "b", "c"), seconds)
	if err != nil {
		t.Fatal(err)
	}
	if got := runs[assay.Config{0, 0}.Key()]; !slices.Equal(got, []float64{4, 2, 6}) {
		t.Errorf("runs of the first configuration: %v", got)
	}
	if got := runs[assay.Config{0, 2}.Key()]; !slices.Equal(got, []float64{3, 3}) {
		t.Errorf("a run that is not there counts: %v", got)
	}
	if got := runs[assay.Config{1, 0}.Key()]; len(got) > 0 {
		t.Errorf("failed runs have times: %v", got)
	}
	if _, err := runsOf(readTable(t, threeRuns, "a"), seconds); err == nil {
		t.Error("no error for one run of each configuration")
	}
}

func TestLandscapeErrors(t *testing.T) {
	_, err := newLandscape(readTable(t, "x,y,a\n1,1,3\n1,2,0\n", "a"), seconds, nil)
	if err == nil || !strings.Contains(err.Error(), "elapsed of x=1 y=2 is 0") {
		t.Errorf("a time of 0: %v", err)
	}
	_, err = newLandscape(readTable(t, "x,y,a\n1,1,\n1,2,\n", "a"), seconds, nil)
	if !errors.Is(err, assay.ErrEmpty) {
		t.Errorf("all failed: %v", err)
	}
}

// The estimate of a clone is not seen by the other, and is the same.
func TestLandscapeClone(t *testing.T) {
	l := bowlLandscape(t)
	known := len(l.value)
	m := l.clone()
	missing := assay.Config{10, 12}
	got := m.at(missing)
	m.nearest(missing)
	if len(l.value) != known || len(l.near) > 0 {
		t.Errorf("the clone has changed what it was made from: %d values, not %d", len(l.value), known)
	}
	if want := l.at(missing); got != want || math.IsNaN(got) {
		t.Errorf("the clone says %v, the landscape %v", got, want)
	}
}
