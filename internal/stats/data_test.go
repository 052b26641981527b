package stats

import (
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// On real run times of warm programs: the minimum of a fork's runs is the most
// repeatable estimator across forks, and the diagnosis never calls a tail light
// that Hill's estimate over all forks has below 1.
func TestRealRunTimes(t *testing.T) {
	var minSpread, meanSpread []float64
	kinds := map[TailKind]int{}
	for id, forks := range testbed.WarmRuns(t) {
		var mins, means, all []float64
		for _, x := range forks {
			if len(x) < 100 {
				continue
			}
			mins, means = append(mins, Min(x)), append(means, Mean(x))
			all = append(all, x...)
		}
		if len(mins) < 5 {
			t.Fatalf("benchmark %s has %d forks", id, len(mins))
		}
		minSpread = append(minSpread, StdDev(mins)/Mean(mins))
		meanSpread = append(meanSpread, StdDev(means)/Mean(means))
		d := DiagnoseTail(all)
		kinds[d.Kind]++
		t.Logf("benchmark %s: spread of minima %.4f, of means %.4f; %s",
			id, minSpread[len(minSpread)-1], meanSpread[len(meanSpread)-1], d.Text)
		if h := hill(all, len(all)/100, 0.95); d.Kind == TailLight && h.High < 1 {
			t.Errorf("benchmark %s: called light, but Hill's index is %v", id, h.Value)
		}
	}
	t.Logf("%d benchmarks: median spread of minima %.4f, of means %.4f; kinds %v",
		len(minSpread), Median(minSpread), Median(meanSpread), kinds)
	if Median(minSpread) > Median(meanSpread) {
		t.Errorf("the median spread of minima %.4f is above that of means %.4f", Median(minSpread), Median(meanSpread))
	}
}
