package table

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/assay-run/assay"
)

// Rows that differ in parameters that are not in force are repetitions of one configuration.
func TestUnder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.csv")
	text := "solver,trees,s\nsvm,10,1\nforest,10,2\nsvm,20,3\nforest,20,4\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	plain, err := Open(Spec{
		File: file, Parameters: []string{"solver", "trees"}, Metrics: map[string][]string{"elapsed": {"s"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if same, err := plain.Under(plain.Params); err != nil || same != plain {
		t.Errorf("without a condition it is another table: %v", err)
	}
	params := append([]assay.Param(nil), plain.Params...)
	forest, err := params[0].Parse("forest")
	if err != nil {
		t.Fatal(err)
	}
	params[1].When = &assay.Relation{
		Text: "solver == 'forest'", Params: []int{0}, Holds: func(c assay.Config) bool { return c[0] == forest },
	}
	under, err := plain.Under(params)
	if err != nil || len(under.Configs) != 3 {
		t.Fatalf("%d configurations, %v", len(under.Configs), err)
	}
	space, err := under.Space()
	if err != nil {
		t.Fatal(err)
	}
	svm, err := space.Parse(map[string]string{"solver": "svm"})
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := under.Mean(svm); !ok || under.Runs(svm) != 2 || m.Metrics["elapsed"] != 2 {
		t.Errorf("%d runs of the svm, %v", under.Runs(svm), m)
	}
}
