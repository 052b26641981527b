package bench

import (
	"testing"
	"time"
)

// A perfect search runs two configurations, recommends the best one of the table, and has compared it with the first
// one.
func TestPerfect(t *testing.T) {
	p, tab := steps(t, 40, 0.98, 1, 1.03)
	if err := p.findOptimum(); err != nil {
		t.Fatal(err)
	}
	p.Time = 20 * time.Minute
	for seed := range uint64(5) {
		res, err := Whole(t.Context(), &p, perfect(), Own.Runs(tab, seed, 0), seed, new(Meter), 0)
		if err != nil {
			t.Fatal(err)
		}
		out := p.answerOf(&res, new(Meter))
		if out.regret != 0 || !out.right || !out.shown || out.runs != 2 || len(res.Checks) < 4 {
			t.Errorf("seed %d: %+v, %d runs compare", seed, out, len(res.Checks))
		}
	}
}
