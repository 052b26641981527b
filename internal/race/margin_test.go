package race_test

import (
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/race"
)

// memory is the limit max_rss <= 48.
var memory = assay.Bound{Text: "max_rss <= 48", Metric: "max_rss", Sides: func(
	metric func(string) (float64, bool),
) (left, right float64, err error) {
	left, _ = metric("max_rss")
	return left, 48, nil
}}

// used returns a run of a configuration that takes a time and an amount of memory.
func used(x, value, rss float64) assay.Trial {
	t := done(x, value)
	t.Measurement = assay.Measurement{Elapsed: time.Duration(value * 1e9), Metrics: map[string]float64{"max_rss": rss}}
	if rss > 48 {
		t.State = assay.Infeasible
	}
	return t
}

// A configuration that is closer to a limit than the noise of the limited metric is neither run again nor recommended,
// as long as another one is clear of it.
func TestMarginOfLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		runs []assay.Trial
		want float64 // the configuration that is recommended
	}{
		"noise unknown":            {[]assay.Trial{used(1, 10, 45.4), used(2, 12, 30)}, 1},
		"closer than the noise":    {[]assay.Trial{used(1, 10, 45.4), used(2, 12, 30), used(2, 12, 34)}, 2},
		"farther than the noise":   {[]assay.Trial{used(1, 10, 30), used(2, 12, 30), used(2, 12, 34)}, 1},
		"no noise":                 {[]assay.Trial{used(1, 10, 47.9), used(2, 12, 30), used(2, 12, 30)}, 1},
		"noise of one that broke":  {[]assay.Trial{used(1, 10, 45.4), used(2, 12, 30), used(3, 9, 47), used(3, 9, 55)}, 2},
		"none is clear of it":      {[]assay.Trial{used(1, 10, 45), used(2, 12, 44), used(2, 12, 47)}, 1},
		"its runs are close again": {[]assay.Trial{used(1, 10, 40), used(1, 10, 47), used(2, 12, 30)}, 2},
	} {
		var shelf assay.PackedTrials
		f := race.Of(&shelf, memory)
		for _, r := range tt.runs {
			f.AddFrom(shelf.Put(r), r)
		}
		if e, ok := f.Best(); !ok || e.Trial.Config[0] != tt.want {
			t.Errorf("%s: the best is %v", name, e.Trial.Config)
		}
		for n := 0; ; n++ {
			next, ok := f.Next()
			if !ok {
				break
			}
			if tt.want == 2 && next.Config[0] != 2 || n > 100 {
				t.Errorf("%s: run again %v", name, next.Config)
				break
			}
			f.AddFrom(shelf.Put(next), next)
		}
	}
}
