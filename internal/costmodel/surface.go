package costmodel

import (
	"fmt"
	"math"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

// Surface learns a Bayesian linear function of transformed features plus a smooth deviation from it: Gaussian process
// regression with the kernel
//
//	k(x, x') = c² + b²·Σ_j z_j·z'_j + s²·Matérn52(r) + σ²·[x is x'],
//	r² = Σ_j (z_j - z'_j)²/ℓ_j²,
//
// z_j the feature under identity, reciprocal or logarithm, mapped linearly to [-1/2, 1/2] over its range (Rasmussen and
// Williams 2006, §2.7 and eq. 4.17). For logarithms of run times it is a power law with corrections, which five or ten
// runs determine when few other models can be fitted at all. b², s², ℓ, σ² and the transformations are the most likely
// ones under priors that favour a straight line. So a far prediction follows the line and its Std reflects the
// uncertainty.
//
// Std is the standard deviation of a new outcome, noise included. One example is enough. Censored examples are
// assay.ErrCensored.
//
// Cost: about 200 evaluations of n³/6 + n²·d/2 operations for n examples of d features, at most 150 of them, one of
// n³/6 for all, and n² for a prediction.
type Surface struct {
	// Lo and Hi are the range of each feature over which predictions will be made; nil means the range of the data. A
	// feature with Lo <= 0 is not transformed.
	Lo, Hi []float64
	// Scale is the expected deviation of outcomes over the whole range; 0 means the deviation of the data, or 1 if all
	// outcomes are equal.
	Scale float64
	// Trend is by how much the outcome is expected to grow from the low to the high
	// end of each feature; nil means not at all. The data overrule it soon.
	Trend []float64
}

var _ assay.Learner = Surface{}

// Fit implements [assay.Learner].
func (s Surface) Fit(d assay.Data) (assay.Predictor, error) {
	p, err := s.fit(d)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// fit is Fit with the type that leaveOut needs.
func (s Surface) fit(d assay.Data) (*surface, error) {
	if err := model.CheckExact(d, 1); err != nil {
		return nil, err
	}
	p := newSurface(s, d)
	p.choose()
	if !p.factorize() {
		return nil, fmt.Errorf("covariance of %d examples is singular: %w", len(d.Y), assay.ErrBadData)
	}
	return p, nil
}

// surface is the fitted function mean + scale·(trend·z + k'α), with z the places of a row of
// features and α = K⁻¹(y - trend). The covariance K is n by n and factorized in process.
//
// Invariant: z is raw under warp, row by row; column restores it after a change of warp.
type surface struct {
	n, d        int         // examples and features
	raw         [][]float64 // n rows of d features
	y           []float64   // (outcome - mean)/scale
	mean, scale float64     // of the outcomes
	trend       []float64   // in units of scale, or nil
	lo, hi      []float64   // range of each feature
	warp        []Transform // transformation of each feature
	z           []float64   // n rows of d
	h           hyper       // the chosen hyperparameters

	process *model.Posterior // of y less the trend
}

// hyper are the logarithms of the hyperparameters that maximize the likelihood.
//
// slope, signal and noise are logarithms of variances, length of lengths: hence the factor 2 in prior.
type hyper struct {
	slope, signal, noise float64   // b², s², σ²
	length               []float64 // ℓ
}

// newSurface returns the surface before its hyperparameters are chosen: outcomes standardized,
// ranges known, and each feature that allows it under the logarithm, the likeliest
// transformation of an amount. It panics if the lengths of the options and of the rows differ.
func newSurface(s Surface, d assay.Data) *surface {
	p := &surface{n: len(d.Y), d: len(d.X[0]), raw: make([][]float64, len(d.X))}
	if s.Lo != nil && len(s.Lo) != p.d || len(s.Lo) != len(s.Hi) || s.Trend != nil && len(s.Trend) != p.d {
		panic("costmodel: slice length mismatch")
	}
	p.lo, p.hi = make([]float64, p.d), make([]float64, p.d)
	for j := range p.d {
		p.lo[j], p.hi[j] = d.X[0][j], d.X[0][j]
		for _, x := range d.X {
			p.lo[j], p.hi[j] = min(p.lo[j], x[j]), max(p.hi[j], x[j])
		}
		if s.Lo != nil {
			p.lo[j], p.hi[j] = min(p.lo[j], s.Lo[j]), max(p.hi[j], s.Hi[j])
		}
	}
	for i, x := range d.X {
		p.raw[i] = append([]float64(nil), x...)
	}
	p.mean, p.scale = standard(d.Y)
	if s.Scale > 0 {
		p.scale = s.Scale
	}
	for _, t := range s.Trend {
		p.trend = append(p.trend, t/p.scale)
	}
	p.y = make([]float64, p.n)
	for i, y := range d.Y {
		p.y[i] = (y - p.mean) / p.scale
	}
	p.warp = make([]Transform, p.d)
	p.z = make([]float64, p.n*p.d)
	p.h.length = make([]float64, p.d)
	for j := range p.d {
		if p.allows(j, Logarithm) {
			p.warp[j] = Logarithm
		}
		p.column(j)
	}
	return p
}

// standard returns the mean and the standard deviation of y, both finite for any y; a deviation of 0 is 1.
func standard(y []float64) (mean, sd float64) {
	n := float64(len(y))
	most := 0.0
	for _, v := range y {
		mean += v / n
		most = max(most, math.Abs(v))
	}
	for _, v := range y {
		u := v/2 - mean/2
		if most > 1 {
			u /= most
		}
		sd += 4 * u * u / n
	}
	if sd = math.Sqrt(sd); most > 1 {
		sd *= most
	}
	if !(sd > 1e-13*most) || math.IsInf(sd, 1) {
		return mean, 1
	}
	return mean, sd
}

// allows reports whether the transformation is finite, and not constant, over the range of
// feature j.
func (p *surface) allows(j int, t Transform) bool {
	return t == Identity || p.lo[j] > 0 && p.hi[j] > p.lo[j] && !math.IsInf(1/p.lo[j], 0)
}

// column sets column j of z for its transformation.
func (p *surface) column(j int) {
	for i, x := range p.raw {
		p.z[i*p.d+j] = p.place(j, x[j])
	}
}

// place maps feature j to the scale of z: its range under the transformation becomes [-1/2,
// 1/2], the least value first. Values beyond the range go beyond ±1/2. A feature of one value
// is 0. Halving before the division keeps a range of nearly the largest floating-point numbers
// finite.
func (p *surface) place(j int, x float64) float64 {
	lo, hi := p.lo[j], p.hi[j]
	if lo == hi {
		return 0
	}
	t := p.warp[j]
	if t != Identity {
		x = max(x, lo/2) // there is no logarithm far below the range
	}
	a, b := t.apply(lo), t.apply(hi)
	if t == Reciprocal {
		a, b = b, a
	}
	if math.IsInf(b-a, 0) {
		return (t.apply(x)/2-a/2)/(b/2-a/2) - 0.5
	}
	return (t.apply(x)-a)/(b-a) - 0.5
}

// constantVariance is c², in units of the outcomes' variance: a constant that may be three
// deviations from the mean is as good as free, and K keeps a condition number that Cholesky
// can bear.
const constantVariance = 10

// leastNoise is a thousandth of the expected deviation, squared. It keeps the covariance
// positive definite where two runs are of one assignment.
const leastNoise = 1e-6

// A prior is the kernel with the logarithms taken out.
type prior struct {
	slope, signal, noise float64   // the variances b², s² and σ²
	weight               []float64 // 1/ℓ²
}

func (h hyper) prior() prior {
	q := prior{math.Exp(h.slope), math.Exp(h.signal), math.Exp(h.noise) + leastNoise, make([]float64, len(h.length))}
	for j, l := range h.length {
		q.weight[j] = math.Exp(-2 * l)
	}
	return q
}

// covariance returns k(a, b) without the noise, for two rows of z of equal length.
func (q *prior) covariance(a, b []float64) float64 {
	b, w := b[:len(a)], q.weight[:len(a)]
	var dot, r2 float64
	for j, v := range a {
		dot += v * b[j]
		v -= b[j]
		r2 += v * v * w[j]
	}
	return constantVariance + q.slope*dot + q.signal*model.Matern52(r2)
}

// conditions returns the data that the process is conditioned on: the outcomes less the trend, and their covariances,
// noise included.
func (p *surface) conditions() (y []float64, covariance func(i, j int) float64) {
	y = make([]float64, p.n)
	for i, v := range p.y {
		y[i] = v - p.expected(p.z[i*p.d:(i+1)*p.d])
	}
	q := p.h.prior()
	return y, func(i, j int) float64 {
		k := q.covariance(p.z[i*p.d:(i+1)*p.d], p.z[j*p.d:(j+1)*p.d])
		if i == j {
			k += q.noise
		}
		return k
	}
}

// factorize sets process; it reports whether K is positive definite.
func (p *surface) factorize() bool {
	y, covariance := p.conditions()
	process, err := model.NewPosterior(y, covariance)
	p.process = process
	return err == nil
}

// expected returns the trend at z.
func (p *surface) expected(z []float64) float64 {
	var y float64
	for j, t := range p.trend {
		y += t * z[j]
	}
	return y
}

// places returns z of a row of features.
func (p *surface) places(x []float64) []float64 {
	if len(x) != p.d {
		panic("costmodel: slice length mismatch")
	}
	z := make([]float64, p.d)
	for j, v := range x {
		z[j] = p.place(j, v)
	}
	return z
}

// Predict implements [assay.Predictor].
func (p *surface) Predict(x []float64) assay.Prediction {
	q := p.h.prior()
	z := p.places(x)
	k := make([]float64, p.n)
	for i := range k {
		k[i] = q.covariance(z, p.z[i*p.d:(i+1)*p.d])
	}
	m := p.expected(z) + p.process.Mean(k)
	p.process.Whiten(k)
	v := q.covariance(z, z) + q.noise
	// k is L⁻¹k now, and the posterior variance is k(z, z) + σ² - |L⁻¹k|² (Rasmussen and
	// Williams 2006, eq. 2.26).
	for _, u := range k {
		v -= u * u
	}
	bound := func(x float64) float64 { return min(max(x, -math.MaxFloat64), math.MaxFloat64) }
	return assay.Prediction{Mean: bound(p.mean + p.scale*m), Std: bound(p.scale * math.Sqrt(max(v, 0)))}
}

// leaveOut returns for each example the prediction without its group, with the same
// kernel; see [model.Posterior.LeaveOut]. Each example is in one group. Cost: n³/3 for
// small groups.
func (p *surface) leaveOut(groups [][]int) []assay.Prediction {
	out := make([]assay.Prediction, p.n)
	for _, group := range groups {
		above, variance := p.process.LeaveOut(group)
		for a, i := range group {
			out[i] = assay.Prediction{Mean: p.mean + p.scale*(p.y[i]-above[a]), Std: p.scale * math.Sqrt(variance[a])}
		}
	}
	return out
}
