package prune

import (
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// transferOf makes a Transfer of studies of a line.
func transferOf(space *assay.Space, studies ...Study) *Transfer {
	return NewTransfer(search.NewRandom(space, 1), NewKnowledge(space, testGoal, studies), TransferOptions{})
}

// The loss of a configuration is how much it is worse than the study's best, in units of the difference between
// the median and the best.
func TestLossIsInUnitsOfTheStudy(t *testing.T) {
	space := line(10)
	s := sourceOf(t, space, math.E, math.Pow(math.E, 3), math.Pow(math.E, 5)) // logarithms 1, 3 and 5
	for x, want := range []float64{0, 1, 2} {
		if got := s.loss(assay.Config{float64(x)}); !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("loss %v at %d, want %v", got, x, want)
		}
	}
}

// The first proposals lower the mean loss over the studies most, given those before: the one that is fair
// for all, and then the best of those that it is fair for least.
func TestPortfolioIsGreedy(t *testing.T) {
	space := line(5)
	e := func(xs ...float64) []float64 {
		for i := range xs {
			xs[i] = math.Exp(xs[i])
		}
		return xs
	}
	//                      at 0, 1, 2, 3, 4
	a := outcomes(space, e(0, 2, 10, 1, 10)...)
	b := outcomes(space, e(10, 2, 0, 3, 10)...)
	tr := transferOf(space, a, b)
	// Units: the median is 2 in both, so that the losses are half the logarithms.
	// Mean losses: 2.5, 1, 2.5, 1, 5; of equals the one that comes first among the offers, which is 3 of a.
	var got []float64
	for range 3 {
		c := tr.portfolio()
		got = append(got, c[0])
		tr.propose(c, 0)
	}
	// After 3, with losses 0.5 and 1.5, configuration 2 takes away 1.5 and 0 takes away 0.5.
	if want := []float64{3, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("proposed %v, want %v", got, want)
	}
	if !slices.Equal(tr.spread, []float64{0, 0}) {
		t.Errorf("losses left %v, want none", tr.spread)
	}
}

// It is our turn every second time while the model predicts, every eighth while it does not, and half as
// often for each three results of ours in a row that were no improvement, to every sixteenth.
func TestTurnsFollowTrust(t *testing.T) {
	for _, tt := range []struct {
		skill  float64
		trials int
		idle   int
		period int
	}{
		{0.9, 20, 0, 2},
		{0.9, 20, 2, 2},
		{0.9, 20, 3, 4},
		{0.9, 20, 6, 8},
		{0.9, 20, 30, 16},
		{0.1, 20, 0, 8},
		{0.1, 20, 3, 16},
		{0.1, 20, 6, 16},
		{0.9, 3, 0, 8}, // too few trials to trust anything
		{0.6, 6, 0, 8}, // one standard error below 0.6 is less than 0.4
	} {
		space := line(5)
		tr := transferOf(space, outcomes(space, 1, 2, 4))
		tr.model, tr.idle = &blend{skill: tt.skill}, tt.idle
		tr.base.trials = make([]assay.Trial, tt.trials)
		period := 0
		for tr.theirs = 0; period == 0; tr.theirs++ {
			if tr.ours() {
				period = tr.theirs + 1
			}
		}
		if period != tt.period {
			t.Errorf("%+v: our turn is every %d, want every %d", tt, period, tt.period)
		}
	}
	tr := &Transfer{base: &base{trials: make([]assay.Trial, 19)}, model: &blend{skill: 0.6}}
	if got, want := tr.trust(), math.Tanh(math.Atanh(0.6)-0.25); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("trust %v, want %v", got, want)
	}
}

// A result of ours that is an improvement begins the count of idle ones anew; others, and failures, add to it.
func TestIdleCountsOurFailures(t *testing.T) {
	space := line(40)
	values := make([]float64, 40)
	for i := range values {
		values[i] = float64(1 + i)
	}
	tr := transferOf(space, outcomes(space, values...))
	idle := []int{}
	for i, outcome := range []float64{5, 7, 3, math.Inf(1)} {
		c := assay.Config{float64(i)}
		p := tr.propose(c, 0)
		trial := assay.Trial{Proposal: p, State: assay.Done, Value: outcome}
		if math.IsInf(outcome, 1) {
			trial.State = assay.Failed
		}
		if err := tr.Tell(trial); err != nil {
			t.Fatal(err)
		}
		idle = append(idle, tr.idle)
	}
	if want := []int{0, 1, 0, 1}; !slices.Equal(idle, want) {
		t.Errorf("idle %v, want %v", idle, want)
	}
}

// A study offers its best configurations that were not proposed, twenty of them.
func TestOffersAreTheBest(t *testing.T) {
	space := line(60)
	values := make([]float64, 60)
	for i := range values {
		values[i] = 100 - float64(i) // the best at the end
	}
	tr := transferOf(space, outcomes(space, values...))
	tr.propose(assay.Config{59}, 0)
	var got, want []float64
	for _, c := range tr.offers() {
		got = append(got, c[0])
	}
	for i := range topOfSource {
		want = append(want, float64(58-i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("offers %v, want %v", got, want)
	}
}

// A reuse proposes the best configuration of the most similar study, once, and not before so many trials.
func TestReuseProposesOnce(t *testing.T) {
	space := line(30)
	values := make([]float64, 30)
	for i := range values {
		values[i] = 1 + math.Abs(float64(i)-17)
	}
	k := NewKnowledge(space, testGoal, []Study{outcomes(space, values...)})
	s := NewReuse(search.NewGrid(space, search.GridOptions{}), k, 4)
	var proposed []float64
	for range 8 {
		ps, err := s.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		c := ps[0].Config
		proposed = append(proposed, c[0])
		if err := s.Tell(assay.Trial{Proposal: ps[0], State: assay.Done, Value: values[int(c[0])] * 2}); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Index(proposed, 17) != 4 || slices.Index(proposed[5:], 17) >= 0 {
		t.Errorf("proposed %v, want 17 as the fifth and once", proposed)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a reuse after 2 trials")
		}
	}()
	NewReuse(search.NewRandom(space, 1), k, 2)
}

// A blend uses the most similar studies, eight at most, and those without a correlation last.
func TestBlendTakesTheNearest(t *testing.T) {
	space := line(6)
	var studies []Study
	for i := range 10 {
		s := outcomes(space, 1, 2, 3, 4, 5, 6+float64(i)) // the more alike the less the last is
		studies = append(studies, s)
	}
	b := newBase(NewKnowledge(space, testGoal, studies), NoSurrogate)
	b.learn(outcomes(space, 1, 2, 3, 4, 5, 6).Trials...)
	if got := b.nearest(b.outcomes(), blended); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("nearest %v", got)
	}
	m := newBlend(b, 1)
	if m == nil || len(m.sources) != blended || !(m.skill > 0.9) {
		t.Fatalf("blend %+v", m)
	}
	if few := newBase(NewKnowledge(space, testGoal, studies), NoSurrogate); newBlend(few, 1) != nil {
		t.Error("a blend of no trial")
	}
}
