package assay_test

import (
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/expr"
)

// AllBroken names all broken limits, and only the broken parts of a limit that joins several.
func TestAllBroken(t *testing.T) {
	var goal assay.Goal
	for _, text := range []string{"memory <= 80 && files < 5", "errors == 0", "files < 4 || errors < 9", "unknown < 1"} {
		l, _, err := expr.Limit(text)
		if err != nil {
			t.Fatal(err)
		}
		goal.Limits = append(goal.Limits, l)
	}
	for _, tt := range []struct {
		memory, files, errors float64
		want                  []string
	}{
		{80, 4, 0, nil},
		{81, 4, 0, []string{"memory <= 80"}},
		{81, 6, 2, []string{"memory <= 80", "files < 5", "errors == 0"}},
		{80, 5, 0, []string{"memory <= 80 && files < 5"}}, // a strict comparison that is met exactly
		{80, 4, 9, []string{"errors == 0", "files < 4 || errors < 9"}},
	} {
		m := assay.Measurement{Metrics: map[string]float64{"memory": tt.memory, "files": tt.files, "errors": tt.errors}}
		var got []string
		for _, b := range goal.AllBroken(m.Metric) {
			got = append(got, b.Text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v, want %v", m.Metrics, got, tt.want)
		}
	}
	if n := len(goal.Bounds()); n != 5 {
		t.Errorf("%d bounds", n)
	}
	plain := assay.Goal{Limits: []assay.Limit{{Text: "odd", Holds: func(of func(string) (float64, bool)) (bool, error) {
		x, _ := of("n")
		return int(x)%2 == 1, nil
	}}}}
	for n, want := range map[float64]bool{1: true, 2: false} {
		left, right, err := plain.Bounds()[0].Sides(func(string) (float64, bool) { return n, true })
		if err != nil || (left <= right) != want {
			t.Errorf("%v: %v <= %v, %v", n, left, right, err)
		}
	}
}
