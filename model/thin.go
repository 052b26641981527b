package model

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
)

// Thin returns a Learner that fits l to at most n examples, so that a fit does not cost more as the data grow. If there
// are more, it takes the n/2 with the least outcomes, near which a search that minimizes has to tell configurations
// apart, and draws as many of the others as are missing. Seed decides the draw. The outcome of a censored example is
// its bound. The examples keep their order. Thin panics if n is below 2.
func Thin(l assay.Learner, n int, seed uint64) assay.Learner {
	if n < 2 {
		panic("model: fewer than two examples")
	}
	return thin{l, n, seed}
}

type thin struct {
	inner assay.Learner
	most  int
	seed  uint64
}

// Fit implements [assay.Learner].
func (l thin) Fit(d assay.Data) (assay.Predictor, error) {
	if len(d.Y) <= l.most {
		return l.inner.Fit(d)
	}
	if err := check(d, 0); err != nil {
		return nil, err
	}
	at := make([]int, len(d.Y))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(d.Y[i], d.Y[j]) })
	best := l.most / 2
	rest := at[best:]
	rng := rand.New(rand.NewPCG(l.seed, uint64(len(d.Y))))
	rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	at = at[:l.most]
	slices.Sort(at)
	return l.inner.Fit(d.Rows(at))
}
