package model

import (
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// Cello's choices of ς and of the learning rate (§4.4).
var (
	celloScales = [...]float64{0.2, 0.3, 0.4}
	celloRates  = [...]float64{0.2, 0.25, 0.3}
)

// TunedAFT chooses the scale and the learning rate of an AFT model by cross-validation (Cello, §4.4): of all pairs that
// with the least mean out-of-fold loss, the first of equals. The loss of a row is bounded by -log 1e-12.
//
// With a single example there is nothing to hold out, and AFT is chosen as it is. Cost: Folds fits to a part 1-1/Folds
// of the examples for each pair, 18 with the defaults.
type TunedAFT struct {
	AFT    AFT       // its Scale and Boost.Rate are replaced
	Scales []float64 // nil means 0.2, 0.3 and 0.4
	Rates  []float64 // nil means 0.2, 0.25 and 0.3
	Folds  int       // 0 means 2, which chose as well as 3 and 5 on 20 to 100 examples
	Seed   uint64    // of the folds
}

// Choose returns AFT with the chosen scale and learning rate. Errors are as for AFT.Fit.
func (t TunedAFT) Choose(d assay.Data) (AFT, error) {
	if t.Folds < 0 || t.Folds == 1 {
		panic("model: TunedAFT needs at least 2 folds")
	}
	if err := t.AFT.check(d); err != nil {
		return AFT{}, err
	}
	scales, rates := t.Scales, t.Rates
	if scales == nil {
		scales = slices.Clone(celloScales[:])
	}
	if rates == nil {
		rates = slices.Clone(celloRates[:])
	}
	best, cols := t.AFT, newColumns(d.X)
	if len(d.Y) < 2 {
		return best, nil
	}
	folds := foldsOf(len(d.Y), t.Folds, 2, t.Seed)
	least := math.Inf(1)
	for _, scale := range scales {
		for _, rate := range rates {
			a := t.AFT
			a.Scale, a.Boost.Rate = scale, rate
			h := holdOut(cols, d, a, folds)
			var l float64
			for range a.options().Rounds {
				l = h.next()
			}
			if l < least {
				least, best = l, a
			}
		}
	}
	return best, nil
}
