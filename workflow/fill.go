package workflow

import (
	"math"

	"github.com/assay-run/assay/internal/stats"
)

// fillMissing replaces missing run times by the median of their kind, or of all
// tasks if no task of the kind has one, and returns how many there were.
//
// The medians are of recorded run times only, all of them taken before the first is filled in. At
// least one task must have a run time. Auxiliary tasks count like others.
func fillMissing(w *Workflow) int {
	byKind := map[string][]Seconds{}
	var all []Seconds
	for i := range w.Tasks {
		if t := &w.Tasks[i]; !math.IsNaN(t.Run) {
			byKind[t.Kind] = append(byKind[t.Kind], t.Run)
			all = append(all, t.Run)
		}
	}
	median := map[string]Seconds{}
	for k, x := range byKind {
		median[k] = stats.Median(x)
	}
	rest := stats.Median(all)
	n := 0
	for i := range w.Tasks {
		t := &w.Tasks[i]
		if !math.IsNaN(t.Run) {
			continue
		}
		m, ok := median[t.Kind]
		if !ok {
			m = rest
		}
		t.Run = m
		n++
	}
	return n
}
