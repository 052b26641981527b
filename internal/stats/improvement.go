package stats

import "math"

// LogEI returns the logarithm of the expected improvement of N(mean, std²) over
// best, which is minimized:
//
//	EI = (best - mean) Phi(z) + std phi(z),  z = (best - mean) / std
//
// (Ding et al. 2022, §3.2.2, where the printed formula has the sign of a
// maximization). If std is 0 or NaN the improvement is the limit, max(best-mean, 0).
// LogEI is [LogNormLoss] with the unit of the outcome. It is accurate to some 1e-13 where EI
// underflows, so that candidates of which none is likely to improve are still
// ordered. LogEI is -Inf if std is 0 or NaN and mean >= best.
func LogEI(mean, std, best float64) float64 {
	if !(std > 0) {
		return math.Log(max(best-mean, 0))
	}
	return math.Log(std) + LogNormLoss((best-mean)/std)
}
