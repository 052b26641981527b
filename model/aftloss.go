package model

import (
	"fmt"
	"math"
)

// A Distribution is the distribution of the noise ε in the accelerated failure time model log z = g(x) + ς·ε (Cello,
// eq. 3). With f its density, S its survival function and s = (log y - g)/ς, an exact outcome y has the loss
// -log(f(s)/ς) and one that is at least y has -log S(s).
type Distribution uint8

const (
	Extreme  Distribution = iota // Gumbel minimum: f = e^s·exp(-e^s); z is Weibull. Cello uses this one
	Normal                       // z is log-normal
	Logistic                     // f = e^s/(1+e^s)²; z is log-logistic
)

var distributionNames = [...]string{"extreme", "normal", "logistic"}

// String returns the name, which is also XGBoost's.
func (d Distribution) String() string {
	if int(d) < len(distributionNames) {
		return distributionNames[d]
	}
	return fmt.Sprintf("Distribution(%d)", uint8(d))
}

// DistributionOf returns the distribution of that name.
func DistributionOf(name string) (d Distribution, ok bool) {
	for i, n := range distributionNames {
		if n == name {
			return Distribution(i), true
		}
	}
	return 0, false
}

// logDensity returns log f(s).
func (d Distribution) logDensity(s float64) float64 {
	switch d {
	case Normal:
		return -s*s/2 - math.Log(2*math.Pi)/2
	case Logistic:
		s = math.Abs(s) // f is even
		return -s - 2*math.Log1p(math.Exp(-s))
	}
	return s - math.Exp(s)
}

// logSurvival returns log S(s).
func (d Distribution) logSurvival(s float64) float64 {
	switch d {
	case Normal:
		if s > 25 { // where Erfc nears underflow: Laplace's continued fraction
			return d.logDensity(s) - math.Log(s+1/(s+2/(s+3/(s+4/s))))
		}
		return math.Log(math.Erfc(s/math.Sqrt2) / 2)
	case Logistic:
		if s > 0 {
			return -s - math.Log1p(math.Exp(-s))
		}
		return -math.Log1p(math.Exp(s))
	}
	return -math.Exp(s)
}

// Bounds of the derivatives; XGBoost, survival_util.h.
const (
	maxGradient = 15
	minHessian  = 1e-16
	maxHessian  = 15
)

// quotientEps is the denominator below which a quotient that is not finite is replaced by its limit.
const quotientEps = 1e-12

// derivatives returns the first and second derivative of the loss with respect to g, given s and the scale ς > 0. The
// first is clipped to ±15 and the second to [1e-16, 15]: without that a single far row would decide every split.
func (d Distribution) derivatives(s float64, censored bool, scale float64) gradient {
	pdf, grad, hess, cdf := d.density(s)
	var gNum, gDen, hNum, hDen float64
	if censored {
		gNum, gDen = -pdf, scale*(1-cdf)
		hNum, hDen = -((1-cdf)*-grad - pdf*pdf), gDen*gDen
	} else {
		gNum, gDen = grad, scale*pdf
		hNum, hDen = -(pdf*hess - grad*grad), scale*scale*pdf*pdf
	}
	g, h := gNum/gDen, hNum/hDen
	if gDen < quotientEps && !finite(g) {
		g = d.limit(s > 0, censored, scale).g
	}
	if hDen < quotientEps && !finite(h) {
		h = d.limit(s > 0, censored, scale).h
	}
	return gradient{clip(g, -maxGradient, maxGradient), clip(h, minHessian, maxHessian)}
}

func clip(x, lo, hi float64) float64 {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

// density returns f(s), its derivatives, and the distribution function.
func (d Distribution) density(s float64) (pdf, grad, hess, cdf float64) {
	switch d {
	case Normal:
		pdf = math.Exp(-s*s/2) / math.Sqrt(2*math.Pi)
		return pdf, -s * pdf, (s*s - 1) * pdf, 0.5 * (1 + math.Erf(s/math.Sqrt2))
	case Logistic:
		w := math.Exp(s)
		if math.IsInf(w, 1) {
			return 0, 0, 0, 1
		}
		cdf = w / (1 + w)
		if math.IsInf(w*w, 1) {
			return 0, 0, 0, cdf
		}
		q := (1 + w) * (1 + w)
		pdf = w / q
		return pdf, pdf * (1 - w) / (1 + w), pdf * (w*w - 4*w + 1) / q, cdf
	}
	w := math.Exp(s)
	if math.IsInf(w, 1) {
		return 0, 0, 0, 1
	}
	e := math.Exp(-w)
	pdf = w * e
	if !math.IsInf(w*w, 1) {
		hess = (w*w - 3*w + 1) * pdf
	}
	return pdf, (1 - w) * pdf, hess, 1 - e
}

// limit returns the derivatives as s goes to -∞, or to +∞ if positive is true.
func (d Distribution) limit(positive, censored bool, scale float64) gradient {
	switch d {
	case Normal:
		l := gradient{maxGradient, 1 / (scale * scale)}
		if positive {
			l.g = -maxGradient
		} else if censored {
			l = gradient{0, minHessian}
		}
		return l
	case Logistic:
		l := gradient{1 / scale, minHessian}
		if positive {
			l.g = -1 / scale
		} else if censored {
			l.g = 0
		}
		return l
	}
	if positive {
		return gradient{-maxGradient, maxHessian}
	}
	if censored {
		return gradient{0, minHessian}
	}
	return gradient{1 / scale, minHessian}
}

// maxAFTLoss bounds the loss of one row in [aftLoss.loss], so that a few far rows do not decide a cross-validation;
// XGBoost's metric has the same bound, but on densities whose unit is 1/y.
var maxAFTLoss = -math.Log(1e-12)

// aftLoss is the loss of outcomes that are exact or right-censored.
type aftLoss struct {
	dist     Distribution // of ε
	scale    float64      // ς
	logY     []float64    // logarithms of the outcomes, or of their lower bounds
	censored []bool       // nil if none is
	base     float64      // margin before the first tree
}

// newAFTLoss takes the mean of logY as the base, as if no row were censored: a base far from the outcomes, such as
// XGBoost's default of 0.5, can make every second derivative of the logistic loss so small that no tree is grown.
func newAFTLoss(dist Distribution, scale float64, logY []float64, censored []bool) *aftLoss {
	l := &aftLoss{dist: dist, scale: float64(float32(scale)), logY: logY, censored: censored}
	l.base, _ = meanAndSpread(logY)
	return l
}

func (l *aftLoss) constant() float64 { return l.base }

// gradients rounds the derivatives to float32, as XGBoost does. The margins start at the rounded base; that outcomes
// are moved by as much keeps equal outcomes at a gradient of 0.
func (l *aftLoss) gradients(margin []float32, gh []gradient) {
	shift := float64(float32(l.base)) - l.base
	for i, y := range l.logY {
		s := (y + shift - float64(margin[i])) / l.scale
		d := l.dist.derivatives(s, l.censored != nil && l.censored[i], l.scale)
		gh[i] = gradient{float64(float32(d.g)), float64(float32(d.h))}
	}
}

// loss returns the loss of an outcome, at most maxAFTLoss. It is the loss of log y, so that the unit of y does not
// matter.
func (l *aftLoss) loss(y float64, censored bool, margin float64) float64 {
	s := (math.Log(y) - margin) / l.scale
	if censored {
		return min(-l.dist.logSurvival(s), maxAFTLoss)
	}
	return min(math.Log(l.scale)-l.dist.logDensity(s), maxAFTLoss)
}
