package jobpruner

import (
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
	rows := `data set  method  use    alpha  kb   budget %  trials  error %  95 %         to none  95 %         similar  pruned %  95 %
gcc       pso     none                      5      12     1.23  1.00 – 2.00     1.00  0.90 – 1.10        –     50.00  40.00 – 60.00
gcc       pso     prune  auto   all         5      12     1.23  1.00 – 2.00     1.00  0.90 – 1.10     0.80     50.00  40.00 – 60.00
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
