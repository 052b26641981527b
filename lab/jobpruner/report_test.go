package jobpruner

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/report"
)

// The data sets come first, then a table for each part of the paper. Errors are in per
// cent; without a similar environment there is a dash.
func TestWrite(t *testing.T) {
	row := func(v Variant) Row {
		return Row{
			DataSet: "gcc", Variant: v, Budget: 5, Trials: 12.4, Error: 0.0123, CI95: [2]float64{0.01, 0.02}, Ratio: 1,
			RatioCI95: [2]float64{0.9, 1.1}, Pruned: 0.5, PrunedCI: [2]float64{0.4, 0.6},
		}
	}
	none := row(Variant{Method: "pso", Use: "none"})
	prune := row(Variant{Method: "pso", Use: "prune", Alpha: "auto", KB: "all"})
	prune.Similar, prune.SimRatio = 0.01, 0.8
	r := Report{
		DataSets: []Set{{Name: "gcc", Environments: []string{"a", "b"}, Rank: []float64{0.5, 0.9}, NCC: []float64{0.98, 1}}},
		Rows:     []Row{none, prune},
	}
	var b strings.Builder
	if err := r.Write(&b, report.Palette{}); err != nil {
		t.Fatal(err)
	}
	rows := `data set  method  use    alpha  kb   budget %  trials  error %  95 %         to none  95 %         ` +
		`similar  pruned %  95 %
gcc       pso     none                      5      12     1.23  1.00 – 2.00     1.00  0.90 – 1.10        ` +
		`–     50.00  40.00 – 60.00
gcc       pso     prune  auto   all         5      12     1.23  1.00 – 2.00     1.00  0.90 – 1.10     ` +
		`0.80     50.00  40.00 – 60.00
`
	for _, want := range []string{
		"data set  environments  mean best NCC  mean best rank correlation  least\n",
		"gcc                  2         0.9900                        0.70   0.50\n",
		"\naggressiveness (Table I, Fig. 5 to 8)\n" + rows, "\nsize of the knowledge base (Table II, Fig. 9 to 12)\n" + rows,
		"\nuses of the knowledge base\n" + "data set  method  use   alpha  kb  budget %",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no\n%sin\n%s", want, b.String())
		}
	}
}

// An environment all of whose runs take the same time is like no other one: its correlations are null in JSON, and
// count for no mean.
func TestNothingAlike(t *testing.T) {
	constant := "machine,x,y,t,p,ok\n"
	for _, machine := range []string{"a", "b"} {
		for _, x := range []string{"0", "1", "2"} {
			constant += machine + "," + x + ",0,3,1,yes\n"
		}
	}
	set := mustOpen(t, sourceOf(t, constant)).Set()
	got, err := json.Marshal(set)
	want := `{"name":"bowls","environments":["a","b"],"best_rank_correlation":[null,null],"best_cross_correlation":`
	if err != nil || !strings.HasPrefix(string(got), want) {
		t.Errorf("%s, %v", got, err)
	}
	some := Set{
		Name: "some", Environments: []string{"a", "b", "c"}, Rank: []float64{0.5, set.Rank[0], 0.7},
		NCC: []float64{1, 1, 1},
	}
	var b strings.Builder
	if err := (Report{DataSets: []Set{set, some}}).Write(&b, report.Palette{}); err != nil {
		t.Fatal(err)
	}
	var last []string
	for line := range strings.Lines(b.String()) {
		words := strings.Fields(line)
		last = append(last, strings.Join(words[len(words)-2:], " "))
	}
	if want := []string{"correlation least", "– –", "0.60 0.50"}; !slices.Equal(last, want) {
		t.Errorf("got %q, want %q in\n%s", last, want, &b)
	}
}
