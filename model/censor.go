package model

import (
	"math"

	"github.com/assay-run/assay"
)

// DropCensored returns a Learner that fits l to the uncensored examples only. With too few of them it returns the error
// of l: assay.ErrTooFew if all are censored.
func DropCensored(l assay.Learner) assay.Learner { return dropCensored{l} }

type dropCensored struct{ inner assay.Learner }

// Fit implements [assay.Learner].
func (l dropCensored) Fit(d assay.Data) (assay.Predictor, error) {
	if err := check(d, 0); err != nil {
		return nil, err
	}
	exact, _ := exactExamples(d)
	return l.inner.Fit(exact)
}

// exactExamples returns the uncensored examples of d, and the indices of the others.
func exactExamples(d assay.Data) (exact assay.Data, censored []int) {
	for i, x := range d.X {
		if d.Censored != nil && d.Censored[i] {
			censored = append(censored, i)
			continue
		}
		exact.X = append(exact.X, x)
		exact.Y = append(exact.Y, d.Y[i])
	}
	return exact, censored
}

// truncatedMean returns the mean of N(mean, std²) given that it is at least
// least (Hutter, Hoos and Leyton-Brown 2013, §3):
//
//	mean + std·φ(a)/Φ(-a), a = (least - mean)/std,
//
// and the greater of mean and least if std is NaN, infinite or not positive. It is never below least.
func truncatedMean(mean, std, least float64) float64 {
	if !(std > 0) || math.IsInf(std, 1) {
		return max(mean, least)
	}
	a := (least - mean) / std
	if a > farTail {
		return bound(least + std*tailExcess(a))
	}
	return max(least, mean, bound(mean+std*hazard(a)))
}

// farTail is where Φ(-a) is still far from underflow, and a continued fraction is already exact enough.
const farTail = 25

// hazard returns φ(a)/Φ(-a), the hazard rate of the standard normal distribution.
func hazard(a float64) float64 {
	if a > farTail {
		return a + tailExcess(a)
	}
	return math.Sqrt(2/math.Pi) * math.Exp(-a*a/2) / math.Erfc(a/math.Sqrt2)
}

// tailExcess returns hazard(a) - a for a >= farTail by Laplace's continued
// fraction 1/(a + 2/(a + 3/(a + 4/a))), to 1e-8 relative.
func tailExcess(a float64) float64 { return 1 / (a + 2/(a+3/(a+4/a))) }
