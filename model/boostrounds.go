package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
)

// A RoundLearner is boosting whose number of rounds can be chosen: [Boost] and [AFT].
type RoundLearner interface {
	assay.Learner
	// check applies the rules of Fit to d.
	check(d assay.Data) error
	// options returns how trees are grown.
	options() Boost
	// newLoss returns the loss of the given outcomes.
	newLoss(y []float64, censored []bool) loss
}

var (
	_ RoundLearner = Boost{}
	_ RoundLearner = AFT{}
)

// AutoRounds chooses the number of rounds with the least out-of-fold loss. This is the early stopping of Cello (§3.4),
// with its threshold chosen from the data rather than on one workload.
//
// With a single example nothing can be held out, and the rounds are Learner's. Cost: Folds fits of up
// to MaxRounds rounds to a part 1-1/Folds of the examples.
type AutoRounds struct {
	Learner   RoundLearner // fits with the chosen rounds
	MaxRounds int          // 0 means 100
	Patience  int          // rounds without improvement after which none is expected; 0 means 10
	Folds     int          // 0 means 5
	Seed      uint64       // assigns the examples to folds
}

// Rounds returns the chosen number of rounds, at least 1. Errors are as for Learner.Fit.
func (a AutoRounds) Rounds(d assay.Data) (int, error) {
	if a.Learner == nil || a.MaxRounds < 0 || a.Patience < 0 || a.Folds < 0 || a.Folds == 1 {
		panic(fmt.Sprintf("model: AutoRounds options out of range: %+v", a))
	}
	if err := a.Learner.check(d); err != nil {
		return 0, err
	}
	if len(d.Y) < 2 {
		return a.Learner.options().Rounds, nil
	}
	h := holdOut(newColumns(d.X), d, a.Learner, foldsOf(len(d.Y), a.Folds, 5, a.Seed))
	patience := a.Patience
	if patience == 0 {
		patience = 10
	}
	most := a.MaxRounds
	if most == 0 {
		most = 100
	}
	best, at := math.Inf(1), 1
	// Invariant: best is the least loss after 1..k-1 rounds, reached first at.
	for k := 1; k <= most && k-at <= patience; k++ {
		if l := h.next(); l < best {
			best, at = l, k
		}
	}
	return at, nil
}

// foldsOf deals 0..n-1 in a random order into folds (def if 0, at most n) parts, each in ascending order.
func foldsOf(n, folds, def int, seed uint64) [][]int {
	if folds == 0 {
		folds = def
	}
	parts := make([][]int, min(folds, n))
	for i, r := range rand.New(rand.NewPCG(seed, 0)).Perm(n) {
		k := i % len(parts)
		parts[k] = append(parts[k], r)
	}
	for _, p := range parts {
		slices.Sort(p)
	}
	return parts
}

// A heldOut boosts once for each fold on the rows outside it, all in step, and
// measures the loss on the rows of the folds.
type heldOut struct {
	data   assay.Data  // all examples
	folds  [][]int     // the rows of each fold
	runs   []*boosting // by fold; each trains on the rows outside it
	margin []float64   // of every row by the run that does not know it
}

// holdOut starts with no rounds. cols are the columns of d.X.
func holdOut(cols *columns, d assay.Data, learner RoundLearner, folds [][]int) *heldOut {
	h := &heldOut{data: d, folds: folds, margin: make([]float64, len(d.Y))}
	for _, test := range folds {
		var rows []int
		var y []float64
		var censored []bool
		for i := range d.Y {
			if _, out := slices.BinarySearch(test, i); out {
				continue
			}
			rows, y = append(rows, i), append(y, d.Y[i])
			if d.Censored != nil {
				censored = append(censored, d.Censored[i])
			}
		}
		l := learner.newLoss(y, censored)
		h.runs = append(h.runs, newBoosting(cols.subset(rows), learner.options(), l))
		for _, i := range test {
			h.margin[i] = l.constant()
		}
	}
	return h
}

// next runs one more round and returns the mean out-of-fold loss after it.
func (h *heldOut) next() float64 {
	var sum float64
	for k, run := range h.runs {
		t := run.next()
		for _, i := range h.folds[k] {
			h.margin[i] += t.Predict(h.data.X[i])
			c := h.data.Censored != nil && h.data.Censored[i]
			sum += run.loss.loss(h.data.Y[i], c, h.margin[i])
		}
	}
	return sum / float64(len(h.margin))
}

func (b Boost) check(d assay.Data) error { return CheckExact(d, 1) }
func (b Boost) options() Boost           { return b.withDefaults() }

func (b Boost) newLoss(y []float64, _ []bool) loss { return newSquaredLoss(y) }

func (a AFT) options() Boost { return a.withDefaults().Boost }

func (a AFT) check(d assay.Data) error {
	_, err := checkAFT(d)
	return err
}

func (a AFT) newLoss(y []float64, censored []bool) loss {
	a = a.withDefaults()
	return a.lossOf(logs(y), censored)
}
