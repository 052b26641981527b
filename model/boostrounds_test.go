package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

func TestAutoRoundsPanics(t *testing.T) {
	for _, a := range []AutoRounds{
		{}, {Learner: Boost{}, Folds: 1}, {Learner: Boost{}, MaxRounds: -1}, {Learner: Boost{}, Patience: -1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: no panic", a)
				}
			}()
			_, _ = a.Rounds(assay.Data{X: [][]float64{{1}, {2}}, Y: []float64{1, 2}})
		}()
	}
}

// Outcomes that are only noise need few rounds, a clean step many: its residual
// shrinks with every one.
func TestAutoRoundsFollowsTheNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	var noise, step assay.Data
	for range 80 {
		x := []float64{rng.Float64(), rng.Float64()}
		noise.X, noise.Y = append(noise.X, x), append(noise.Y, rng.NormFloat64())
		y := 0.0
		if x[0] > 0.5 {
			y = 1
		}
		step.X, step.Y = append(step.X, x), append(step.Y, y)
	}
	few, err := AutoRounds{Learner: Boost{}}.Rounds(noise)
	if err != nil {
		t.Fatal(err)
	}
	many, err := AutoRounds{Learner: Boost{}}.Rounds(step)
	if err != nil {
		t.Fatal(err)
	}
	if few > 5 || many < 10 {
		t.Errorf("noise: %d rounds, want at most 5; step: %d, want at least 10", few, many)
	}
	if n, _ := (AutoRounds{Learner: Boost{}, MaxRounds: 4}).Rounds(step); n != 4 {
		t.Errorf("got %d rounds of at most 4 that are too few, want 4", n)
	}
}

// The losses that AutoRounds compares belong to learners that were fitted to the other folds.
func TestHoldOutOracle(t *testing.T) {
	d := mixedData(40, 6)
	folds := foldsOf(40, 4, 0, 9)
	for _, l := range []AFT{{}, {Distribution: Logistic, Scale: 0.4}} {
		h := holdOut(newColumns(d.X), d, l, folds)
		for rounds := 1; rounds <= 5; rounds++ {
			got := h.next()
			var want float64
			for _, test := range folds {
				var train assay.Data
				for i := range d.Y {
					if !slices.Contains(test, i) {
						train.X, train.Y = append(train.X, d.X[i]), append(train.Y, d.Y[i])
						train.Censored = append(train.Censored, d.Censored[i])
					}
				}
				l.Boost.Rounds = rounds
				p, err := l.Fit(train)
				if err != nil {
					t.Fatal(err)
				}
				m := p.(*AFTModel)
				for _, i := range test {
					loss := newAFTLoss(m.Distribution(), m.Scale(), []float64{0}, nil)
					want += loss.loss(d.Y[i], d.Censored[i], m.Margin(d.X[i])) / 40
				}
			}
			if !(math.Abs(got-want) <= 1e-6*want) {
				t.Errorf("%+v, %d rounds: got %v, want %v", l, rounds, got, want)
			}
		}
	}
}

func TestFolds(t *testing.T) {
	for _, c := range []struct{ n, folds, want int }{{10, 3, 3}, {3, 5, 3}, {2, 0, 2}, {30, 0, 5}} {
		parts := foldsOf(c.n, c.folds, 5, 1)
		if len(parts) != c.want {
			t.Errorf("%+v: got %d parts", c, len(parts))
		}
		var all []int
		for _, p := range parts {
			if !slices.IsSorted(p) || len(p) < c.n/c.want || len(p) > c.n/c.want+1 {
				t.Errorf("%+v: part %v", c, p)
			}
			all = append(all, p...)
		}
		slices.Sort(all)
		for i, r := range all {
			if i != r {
				t.Fatalf("%+v: got rows %v", c, all)
			}
		}
	}
}

// Data that cannot be fitted have no number of rounds; a single example has the learner's.
func TestAutoRoundsRefuses(t *testing.T) {
	negative := assay.Data{X: [][]float64{{1}, {2}}, Y: []float64{1, -2}}
	if _, err := (AutoRounds{Learner: AFT{}}).Rounds(negative); err == nil {
		t.Error("a negative outcome is accepted")
	}
	one := assay.Data{X: [][]float64{{1}}, Y: []float64{7}}
	if n, err := (AutoRounds{Learner: AFT{Boost: Boost{Rounds: 9}}}).Rounds(one); err != nil || n != 9 {
		t.Errorf("got %d and %v for one example, want the learner's 9", n, err)
	}
}
