package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

const (
	sqrt2Pi    = 2.50662827463100050241576528481104525 // √(2π)
	logSqrt2Pi = 0.91893853320467274178032973640561764 // log √(2π)

	// millsTail is where the continued fraction of the Mills ratio takes over
	// from Erfc, whose argument's rounding costs z² ulps.
	millsTail = 2.0
)

// NormPDF returns the density φ(z) = exp(-z²/2)/√(2π) of the standard normal
// distribution.
func NormPDF(z float64) float64 { return math.Exp(-z*z/2) / sqrt2Pi }

// LogNormPDF returns log φ(z), which is finite for every finite z whose square
// is.
func LogNormPDF(z float64) float64 { return -z*z/2 - logSqrt2Pi }

// NormCDF returns Φ(z), the probability that a standard normal variable is at
// most z. It underflows to 0 below z = -38.5; see [LogNormCDF].
func NormCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// LogNormCDF returns log Φ(z) to a relative error below 1e-12 for every z: it
// does not underflow for z far below 0, nor round to 0 for z far above. The
// logarithm of the survival function is LogNormCDF(-z).
func LogNormCDF(z float64) float64 {
	switch {
	case z > 0:
		return math.Log1p(-NormCDF(-z))
	case z > -millsTail:
		return math.Log(NormCDF(z))
	case math.IsInf(z, -1):
		return z
	}
	return LogNormPDF(z) + math.Log(MillsRatio(-z))
}

// NormQuantile returns the z with Φ(z) = p: -Inf for 0, +Inf for 1. It panics
// outside [0, 1].
func NormQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// MillsRatio returns (1-Φ(z))/φ(z), which falls from +Inf to 0 and is close to
// 1/z for large z. Its inverse is the hazard of the standard normal
// distribution. The relative error is below 1e-14 for z >= 0.
func MillsRatio(z float64) float64 {
	if z < millsTail {
		return NormCDF(-z) / NormPDF(z)
	}
	return 1 / (z + millsExcess(z))
}

// millsExcess returns 1/MillsRatio(z) - z without the cancellation of that formula,
// for z >= millsTail. It evaluates Laplace's continued fraction (Abramowitz & Stegun 26.2.14)
//
//	MillsRatio(z) = 1/(z + 1/(z + 2/(z + 3/(z + …))))
//
// from the inside out; 10 + 600/z² terms give 1e-18 from z = 2 on.
func millsExcess(z float64) float64 {
	switch {
	case math.IsInf(z, 1):
		return 0
	case math.IsNaN(z):
		return z
	}
	c := z
	for k := 10 + int(600/(z*z)); k >= 2; k-- {
		// Invariant: c = z + (k+1)/(z + (k+2)/(z + …)).
		c = z + float64(k)/c
	}
	return 1 / c
}

// lossTail is from which -z on the terms of the normal loss cancel: their difference is
// about φ(z)/z², so that 25 units of rounding are lost here.
const lossTail = 5

// LogNormLoss returns log h(z), h(z) = φ(z) + z·Φ(z), the logarithm of the expectation
// of max(0, z-Z) for a standard normal Z. The expected improvement of N(μ, σ²)
// below m is σ·exp(LogNormLoss((m-μ)/σ)); see [LogEI]. It is accurate to some 1e-13
// where the two terms cancel or underflow (Ament et al. 2023, "Unexpected improvements
// to expected improvement", §4.1, solve the same problem by branches).
func LogNormLoss(z float64) float64 {
	switch {
	case math.IsInf(z, -1):
		return z
	case math.IsNaN(z):
		return z
	case z > -lossTail:
		return math.Log(math.Exp(-z*z/2)/math.Sqrt(2*math.Pi) + z*math.Erfc(-z/math.Sqrt2)/2)
	}
	// With x = -z/√2, h(z) is the repeated integral i¹erfc(x)/√2. The ratios
	// r_n = iⁿerfc/iⁿ⁻¹erfc satisfy r_n = 1/(2x + 2(n+1)·r_(n+1))
	// (Abramowitz and Stegun 7.2.5; Gautschi 1961), and h(z) = φ(z)·2·r_0·r_1.
	// Backward recurrence from 0 loses a factor of exp(2x·√(2n)) of the error
	// of its start: 40 terms suffice for x = 5/√2.
	x := -z / math.Sqrt2
	var r0, r1 float64
	for n := 40; n >= 0; n-- {
		r0, r1 = 1/(2*x+2*float64(n+1)*r0), r0
	}
	return -z*z/2 - math.Log(2*math.Pi)/2 + math.Log(2*r0*r1)
}

// TruncNormMean returns the mean of N(mu, sigma²) given that it exceeds lower,
//
//	mu + sigma·φ(a)/(1-Φ(a)),  a = (lower-mu)/sigma,
//
// without cancellation when lower is far above mu: the result is never below
// lower, nor below mu. With sigma = 0 it is the larger of mu and lower. It
// panics if sigma is negative.
func TruncNormMean(mu, sigma, lower float64) float64 {
	if sigma < 0 {
		panic("stats: negative standard deviation")
	}
	if sigma == 0 || math.IsInf(lower, 0) {
		return math.Max(mu, lower)
	}
	a := (lower - mu) / sigma
	if a < millsTail {
		return math.Max(lower, mu+sigma/MillsRatio(a))
	}
	return lower + sigma*millsExcess(a)
}
