package bench

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
)

// Truth returns the true values of the configurations of a recorded table: the objective value of the
// means over the good runs, and whether these are within the limits of the goal and at its full level. A
// configuration that was not recorded, that always failed, or that lacks a metric, is not feasible.
func Truth(t *table.Table, goal assay.Goal) func(assay.Config) (value float64, feasible bool) {
	return func(c assay.Config) (float64, bool) {
		m, ok := t.Mean(c)
		if !ok {
			return 0, false
		}
		v, err := goal.Value(m)
		if err != nil {
			return 0, false
		}
		broken, err := goal.Broken(m)
		return v, err == nil && broken == "" && goal.Reached(c)
	}
}
