package jobpruner

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/search"
)

// turned is a table of four machines: a and b order the configurations alike, c the other way, and d not at all
// like any.
func turned() string {
	var b strings.Builder
	b.WriteString("machine,x,y,t,p,ok\n")
	for x := range 12 {
		for _, m := range []struct {
			name string
			t    float64
		}{{"a", float64(1 + x)}, {"b", float64(3 + 2*x)}, {"c", float64(20 - x)}, {"d", float64(1 + (7*x+5)%12)}} {
			b.WriteString(m.name + "," + strconv.Itoa(x) + ",0," + strconv.Itoa(int(m.t)) + ",1,yes\n")
		}
	}
	return b.String()
}

// Pairs are of two different environments, in the band of their rank correlation, at most so many of each, and
// the same each time.
func TestPairsAreDrawnByBand(t *testing.T) {
	d := mustOpen(t, sourceOf(t, turned()))
	all := d.drawPairs(100, 0)
	if len(all) != 12 {
		t.Fatalf("%d pairs of 4 environments, want 12", len(all))
	}
	for _, p := range all {
		if p.Subject == p.Helper || p.band != bandOf(p.Rank) {
			t.Errorf("%+v", p)
		}
		if both := p.Subject + p.Helper; both == "ab" && !(math.Abs(p.Rank-1) <= 1e-9) ||
			both == "ca" && !(math.Abs(p.Rank+1) <= 1e-9) {
			t.Errorf("%s: rank correlation %v", both, p.Rank)
		}
	}
	few := d.drawPairs(1, 0)
	var in []int
	for _, p := range few {
		in = append(in, p.band)
	}
	slices.Sort(in)
	if len(in) != len(slices.Compact(slices.Clone(in))) {
		t.Errorf("bands %v: want one pair of each at most", in)
	}
	if again := d.drawPairs(1, 0); !slices.EqualFunc(again, few,
		func(a, b Pair) bool { return a.Subject == b.Subject && a.Helper == b.Helper }) {
		t.Error("other pairs the second time")
	}
}

// Unlike studies are beside helpers that are alike, and no subject that has too few of them is searched.
func TestUnlikeOnesAreDrawn(t *testing.T) {
	d := mustOpen(t, sourceOf(t, turned()))
	for _, p := range d.drawPairs(100, 1) {
		if p.band != 0 || len(p.Unlike) != 1 {
			t.Errorf("%+v", p)
		}
		sub := d.subject(p.Subject)
		if r := stats.Spearman(sub.beside(d.subject(p.Unlike[0]))); r >= 0.2 {
			t.Errorf("%s beside %s: rank correlation %v", p.Subject, p.Unlike[0], r)
		}
	}
	if n := len(d.drawPairs(100, 1)); n != 2 {
		t.Errorf("%d pairs, want ab and ba", n)
	}
	if all := d.drawPairs(100, 3); len(all) != 0 {
		t.Errorf("two environments are unlike a, and three are drawn: %+v", all)
	}
}

// Each range of rank correlation begins at the number in its name.
func TestBands(t *testing.T) {
	for r, want := range map[float64]string{
		1: "from 0.8", 0.8: "from 0.8", 0.79: "0.5 to 0.8", 0.5: "0.5 to 0.8", 0.49: "0.2 to 0.5", 0.2: "0.2 to 0.5",
		0.19: "below 0.2", 0: "below 0.2", -1: "below 0.2",
	} {
		if got := bandName(bandOf(r)); got != want {
			t.Errorf("%v is %s, want %s", r, got, want)
		}
	}
}

// A helper that is alike shows the optimum at once; one that is turned around does not. The searches without are
// the same for all helpers of an environment.
func TestPairsArePlayed(t *testing.T) {
	d := mustOpen(t, sourceOf(t, turned()))
	pairs, err := d.Pairs(t.Context(), PairOptions{
		Method: "random", Use: "transfer", Trials: []int{1, 3}, Repetitions: 4, Pairs: 100, Seed: 1,
		Searcher: func(_ string, s *assay.Space, seed uint64) (assay.Searcher, error) {
			return search.NewRandom(s, seed), nil
		},
		Pool: bench.Pool{Workers: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	none := map[string][][]float64{}
	for _, p := range pairs {
		if before, ok := none[p.Subject]; ok && !slices.EqualFunc(before, p.None, slices.Equal) {
			t.Errorf("%s: other searches without a helper", p.Subject)
		}
		none[p.Subject] = p.None
		switch first := p.Helped[0]; {
		case p.Subject == "a" && p.Helper == "b" && slices.Max(first) != 0:
			t.Errorf("errors %v after one trial with a study that is alike", first)
		case p.Subject == "a" && p.Helper == "c" && slices.Min(first) != 11:
			t.Errorf("errors %v after one trial with a contrary study, want that of its best", first)
		}
	}
	rep := NewPairReport(pairs, []int{1, 3})
	i := slices.IndexFunc(rep.Rows, func(r PairRow) bool { return r.Band == "from 0.8" && r.Trials == 1 })
	if row := rep.Rows[i]; row.Pairs != 2 || row.Helped != 0 || !(row.Ratio < 0.1) || row.RatioCI[0] > row.Ratio ||
		row.RatioCI[1] < row.Ratio {
		t.Errorf("%+v", row)
	}
	var out strings.Builder
	if err := rep.Write(&out, report.Palette{}); err != nil || !strings.Contains(out.String(), "below 0.2") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// The ratio is the geometric mean over the pairs, each data set counting the same, and 1 for equal errors.
func TestPairRatio(t *testing.T) {
	pair := func(none, helped float64) Pair { return Pair{None: [][]float64{{none}}, Helped: [][]float64{{helped}}} }
	f := errorFloor
	for _, tt := range []struct {
		sets [][]Pair
		want float64
	}{
		{[][]Pair{{pair(0, 0)}}, 1},
		{[][]Pair{{pair(1-f, 4-f)}}, 4},
		{[][]Pair{{pair(1-f, 4-f), pair(1-f, 1-f)}}, 2},
		{[][]Pair{{pair(1-f, 4-f)}, {pair(1-f, 1-f), pair(3, 3), pair(0, 0)}}, 2},
	} {
		if got := pairRatio(tt.sets, 0, nil); !(math.Abs(got-tt.want) <= 1e-9) {
			t.Errorf("ratio %v, want %v", got, tt.want)
		}
	}
}
