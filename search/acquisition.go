package search

import "math"

// EI returns the expected improvement of N(mean, std²) over best, which is
// minimized:
//
//	EI = (best - mean) Phi(z) + std phi(z),  z = (best - mean) / std
//
// (Ding et al. 2022, §3.2.2, where the printed formula has the sign of a
// maximization). If std is 0 or NaN it is the limit, max(best-mean, 0). EI
// underflows to 0 where z is below -38; see [LogEI].
func EI(mean, std, best float64) float64 {
	if !(std > 0) {
		return max(best-mean, 0)
	}
	return std * math.Exp(logImprovement((best-mean)/std))
}

// LogEI returns the logarithm of [EI]. It is accurate to some 1e-13 where EI
// underflows, so that candidates of which none is likely to improve are still
// ordered. LogEI is -Inf if std is 0 or NaN and mean >= best.
func LogEI(mean, std, best float64) float64 {
	if !(std > 0) {
		return math.Log(max(best-mean, 0))
	}
	return math.Log(std) + logImprovement((best-mean)/std)
}

// farTail is from which -z on the terms of h cancel: their difference is about
// phi(z)/z², so that 25 units of rounding are lost here.
const farTail = 5

// logImprovement returns log h(z), h(z) = phi(z) + z Phi(z), the expected
// improvement of a standard normal.
func logImprovement(z float64) float64 {
	if z > -farTail {
		return math.Log(math.Exp(-z*z/2)/math.Sqrt(2*math.Pi) + z*math.Erfc(-z/math.Sqrt2)/2)
	}
	// With x = -z/sqrt(2), h(z) is the repeated integral i¹erfc(x)/sqrt(2). The
	// ratios r_n = i^n erfc / i^(n-1) erfc satisfy r_n = 1/(2x + 2(n+1) r_(n+1))
	// (Abramowitz and Stegun 7.2.5; Gautschi 1961), and h(z) = phi(z) 2 r_0 r_1.
	// Backward recurrence from 0 loses a factor of exp(2x sqrt(2n)) of the error
	// of its start: 40 terms suffice for x = 5/sqrt(2).
	x := -z / math.Sqrt2
	var r0, r1 float64
	for n := 40; n >= 0; n-- {
		r0, r1 = 1/(2*x+2*float64(n+1)*r0), r0
	}
	return -z*z/2 - math.Log(2*math.Pi)/2 + math.Log(2*r0*r1)
}
