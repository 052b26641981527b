package prune

import (
	"testing"

	"github.com/assay-run/assay"
)

// A parameter that is not in force in a configuration of an earlier study is at rest in the running one, whose
// rest may be elsewhere; orders are translated by their levels.
func TestTranslationOfConditions(t *testing.T) {
	params := func(most float64, order ...string) []assay.Param {
		return []assay.Param{
			{Name: "solver", Kind: assay.Categorical, Levels: []string{"svm", "forest"}},
			{Name: "trees", Kind: assay.Integer, Lo: 1, Hi: most, When: &assay.Relation{
				Text: "solver == 'forest'", Params: []int{0}, Holds: func(c assay.Config) bool { return c[0] == 1 },
			}},
			{Name: "passes", Kind: assay.Permutation, Levels: order},
		}
	}
	space, err := assay.NewSpace(params(9, "a", "b", "c"))
	if err != nil {
		t.Fatal(err)
	}
	earlier, err := assay.NewSpace(params(5, "c", "b", "a"))
	if err != nil {
		t.Fatal(err)
	}
	goal := assay.Goal{Metric: "elapsed"}
	tr, err := fits(space, goal, Study{Params: earlier.Params, Goal: goal})
	if err != nil {
		t.Fatal(err)
	}
	for _, texts := range []map[string]string{
		{"solver": "svm", "passes": "b,a,c"}, {"solver": "forest", "trees": "4", "passes": "c,a,b"},
	} {
		from, err := earlier.Parse(texts)
		if err != nil {
			t.Fatal(err)
		}
		want, err := space.Parse(texts)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := tr.config(from); !ok || !got.Equal(want) {
			t.Errorf("%v becomes %v, want %v", texts, got, want)
		}
	}
}
