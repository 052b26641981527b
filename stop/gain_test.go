package stop_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/stop"
)

// bowl returns trials of x, y in 0..30 whose value is 1 at (15, 15) and grows with the distance, in the order in
// which a search would try them: at random first, then nearer and nearer.
func bowl(n int, sign float64) (*assay.Space, []assay.Trial) {
	space, err := assay.NewSpace([]assay.Param{
		{Name: "x", Kind: assay.Integer, Lo: 0, Hi: 30}, {Name: "y", Kind: assay.Integer, Lo: 0, Hi: 30},
	})
	if err != nil {
		panic(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var trials []assay.Trial
	for i := range n {
		width := 15 / (1 + float64(i)/6)
		at := func() float64 { return min(30, max(0, math.Round(15+width*(2*rng.Float64()-1)))) }
		c := assay.Config{at(), at()}
		far := math.Hypot(c[0]-15, c[1]-15)
		v := 1 + far*far/25
		if sign < 0 {
			v = -1 / v
		}
		trials = append(trials, assay.Trial{
			Proposal: assay.Proposal{ID: int64(i + 1), Config: c}, State: assay.Done,
			Value: v,
		})
	}
	return space, trials
}

// endedAt returns after how many trials the rule ends a study, 0 if it does not.
func endedAt(rule *stop.Gain, trials []assay.Trial, left float64) (int, string) {
	for n := range trials {
		if why, enough := rule.Enough(trials[:n+1], left); enough {
			return n + 1, why
		}
	}
	return 0, ""
}

func TestGainEndsWhatIsFound(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		space, trials := bowl(120, sign)
		n, why := endedAt(stop.NewGain(space, 0.1, 1), trials, math.Inf(1))
		now, _ := assay.Best(trials[:n])
		last, _ := assay.Best(trials)
		if n == 0 || n > 110 || (now.Value-last.Value)/math.Abs(now.Value) >= 0.1 {
			t.Errorf("sign %v: ended after %d trials at %v, which came to %v", sign, n, now.Value, last.Value)
		}
		if !strings.Contains(why, "less than 10 %") {
			t.Errorf("why: %q", why)
		}
		if more, _ := endedAt(stop.NewGain(space, 0.4, 1), trials, math.Inf(1)); more > n {
			t.Errorf("sign %v: ended after %d trials for 40 %%, and after %d for 10 %%", sign, more, n)
		}
		if less, _ := endedAt(stop.NewGain(space, 0.1, 1), trials, 0.2); less > n {
			t.Errorf("sign %v: ended after %d trials if a fifth is left, and after %d if everything is", sign, less, n)
		}
	}
}

// A study that goes on to become better is not ended.
func TestGainGoesOnWhileThereIsSome(t *testing.T) {
	space, trials := bowl(60, 1)
	for i := range trials {
		trials[i].Value = 100 * math.Pow(0.97, float64(i))
	}
	if n, why := endedAt(stop.NewGain(space, 0.01, 1), trials, math.Inf(1)); n > 0 {
		t.Errorf("ended after %d trials, of which each was 3 %% better: %s", n, why)
	}
}

// It is a pure function of its arguments, and judges nothing without finished runs or a budget.
func TestGainIsPure(t *testing.T) {
	space, trials := bowl(120, 1)
	n, why := endedAt(stop.NewGain(space, 0.1, 1), trials, math.Inf(1))
	rule := stop.NewGain(space, 0.1, 1)
	rule.Enough(trials, math.Inf(1))
	if again, enough := rule.Enough(trials[:n:n], math.Inf(1)); !enough || again != why {
		t.Errorf("asked alone: %q, %v; in order: %q", again, enough, why)
	}
	if _, enough := rule.Enough(trials[:n:n], 0); enough {
		t.Error("it ended what has no budget left")
	}
	for i := range trials {
		trials[i].State = assay.Failed
	}
	if n, _ := endedAt(rule, trials, math.Inf(1)); n > 0 {
		t.Errorf("it ended a study of failures after %d", n)
	}
	if _, enough := rule.Enough(nil, math.Inf(1)); enough {
		t.Error("it ended a study without trials")
	}
}
