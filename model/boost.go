package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// Boost is gradient boosting of regression trees (Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD
// 2016) with squared loss: the standard regressor of Cello's BO-GB. Trees are grown level by level with exact greedy
// splits: all thresholds between neighbouring values of all features are tried and the one with the largest gain is
// taken,
//
//	gain = G_L²/(H_L+λ) + G_R²/(H_R+λ) - G²/(H+λ),
//
// of equals the lowest feature and then the highest threshold, and a leaf predicts -Rate·G/(H+λ), where G and H are
// sums of the first and second derivatives of the loss over the rows of a node. Nothing is random.
//
// The outcomes are shifted by their mean and scaled by their standard deviation before the fit, so the unit of y has no
// effect on the trees. The fitted Predictor implements [Trees] and assay.BatchPredictor; its Std is NaN. Censored
// examples are assay.ErrCensored, see [AFT]; one example is enough.
//
// A fit costs Rounds · MaxDepth · n · d after a sort of each feature.
type Boost struct {
	Rounds         int     // number of trees; 0 means 20 (Cello, §4.4)
	Rate           float64 // shrinkage of each tree, in (0, 1]; 0 means 0.3
	MaxDepth       int     // splits on the way to a leaf; 0 means 6
	Lambda         float64 // λ, the L2 penalty on leaf values; 0 means 1, negative means none
	Gamma          float64 // a split with less gain is pruned unless one below it stays; 0 means none
	MinChildWeight float64 // least H of a child; 0 means 1, negative means none
}

var _ assay.Learner = Boost{}

// withDefaults returns b with its zero values replaced. It panics if an option is out of range.
func (b Boost) withDefaults() Boost {
	if b.Rounds < 0 || b.MaxDepth < 0 || !(b.Rate >= 0 && b.Rate <= 1) || !(b.Gamma >= 0) ||
		math.IsNaN(b.Lambda) || math.IsNaN(b.MinChildWeight) {
		panic(fmt.Sprintf("model: boosting options out of range: %+v", b))
	}
	if b.Rounds == 0 {
		b.Rounds = 20
	}
	if b.Rate == 0 {
		b.Rate = 0.3
	}
	if b.MaxDepth == 0 {
		b.MaxDepth = 6
	}
	b.Lambda = orDefault(b.Lambda, 1)
	b.MinChildWeight = orDefault(b.MinChildWeight, 1)
	return b
}

// orDefault returns def for 0 and 0 for a negative x.
func orDefault(x, def float64) float64 {
	if x == 0 {
		return def
	}
	return max(x, 0)
}

// Fit implements assay.Learner.
func (b Boost) Fit(d assay.Data) (assay.Predictor, error) {
	b = b.withDefaults()
	if err := CheckExact(d, 1); err != nil {
		return nil, err
	}
	l := newSquaredLoss(d.Y)
	trees := boost(newColumns(d.X), b, l)
	for _, t := range trees {
		for i := range t {
			t[i].Value *= l.sd
		}
	}
	return newBoosted(trees, l.mean), nil
}

// A loss is the function that boosting minimizes over the margins, one margin per row.
type loss interface {
	// constant is the value that the trees are added to.
	constant() float64
	// gradients sets gh[i] to the derivatives of the loss of row i with respect to its margin.
	gradients(margin []float32, gh []gradient)
	// loss returns the loss of an outcome.
	loss(y float64, censored bool, margin float64) float64
}

// A gradient is the first derivative g and the second derivative h of a loss with respect to a margin.
type gradient struct{ g, h float64 }

// A boosting is a sum of trees that grows. Margins are float32, as XGBoost's
// are: with the same rounding the same split wins among near-equals.
type boosting struct {
	grower *grower   // grows the next tree from the derivatives of loss
	loss   loss      // of the margins
	margin []float32 // of each row: the constant plus the trees so far
}

func newBoosting(cols *columns, b Boost, l loss) *boosting {
	s := &boosting{newGrower(cols, b), l, make([]float32, cols.n)}
	for i := range s.margin {
		s.margin[i] = float32(l.constant())
	}
	return s
}

// next grows the next tree.
func (s *boosting) next() Tree {
	s.loss.gradients(s.margin, s.grower.gh)
	return s.grower.grow(s.margin)
}

// boost grows b.Rounds trees on the rows of cols.
func boost(cols *columns, b Boost, l loss) []Tree {
	s := newBoosting(cols, b, l)
	trees := make([]Tree, b.Rounds)
	for k := range trees {
		trees[k] = s.next()
	}
	return trees
}

// squaredLoss is (ŷ-y)²/2 of standardized outcomes.
type squaredLoss struct {
	y        []float64 // (outcome - mean)/sd
	mean, sd float64   // of the outcomes
}

func newSquaredLoss(y []float64) *squaredLoss {
	l := &squaredLoss{y: make([]float64, len(y))}
	l.mean, l.sd = meanAndSpread(y)
	for i, v := range y {
		l.y[i] = v/l.sd - l.mean/l.sd // no overflow
	}
	return l
}

// meanAndSpread returns the mean and the standard deviation (with divisor n) of
// y, without overflow for any finite y. The deviation is 1 if it would be 0.
func meanAndSpread(y []float64) (mean, sd float64) {
	lo, hi := slices.Min(y), slices.Max(y)
	if lo == hi {
		return lo, 1
	}
	most := max(math.Abs(lo), math.Abs(hi))
	var m, squares float64 // of y/most
	for _, v := range y {
		m += v / most
	}
	m /= float64(len(y))
	for _, v := range y {
		e := v/most - m
		squares += e * e
	}
	if sd = math.Sqrt(squares/float64(len(y))) * most; sd == 0 {
		sd = 1
	}
	return m * most, sd
}

func (l *squaredLoss) constant() float64 { return 0 }

func (l *squaredLoss) gradients(margin []float32, gh []gradient) {
	for i, y := range l.y {
		gh[i] = gradient{float64(margin[i]) - y, 1}
	}
}

// loss returns half the squared error, in units of the variance.
func (l *squaredLoss) loss(y float64, _ bool, margin float64) float64 {
	e := y/l.sd - l.mean/l.sd - margin
	return e * e / 2
}
