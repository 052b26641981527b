package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
	"gonum.org/v1/gonum/mat"
)

// GP is Gaussian process regression with a constant mean and the Matérn-5/2 kernel with one length scale per feature,
//
//	k(x, x') = s²·(1 + √5·r + 5r²/3)·exp(-√5·r),  r² = Σ_j (x_j - x'_j)²/ℓ_j²,
//
// and noise of variance σ² (Rasmussen and Williams, "Gaussian processes for machine learning", 2006, eq. 4.17 and
// algorithm 2.1). Features are scaled to their range in the data, outcomes to mean 0 and deviation 1.
//
// ℓ, s² and σ² maximize the marginal likelihood times a prior: log ℓ_j ~ N(√2 + log(d)/2, 3), wider with more features
// d, which keeps the process from overfitting in high dimension (Hvarfner, Hellsten and Nardi, "Vanilla Bayesian
// optimization performs great in high dimensions", 2024, §4.2), log s² ~ N(0, 1), and log σ² ~ N(-4, 1).
//
// Mean is the posterior mean and Std the posterior deviation of the function itself, without the noise of an outcome,
// as an acquisition function needs it. Censored examples count as being above their outcomes, by expectation
// propagation; without an exact example Fit returns assay.ErrTooFew. One exact example is enough. With more than
// MaxExamples examples, a random MaxExamples of them are used.
//
// A fit costs n³ + n²·d for each evaluation of the likelihood, a prediction n².
type GP struct {
	MaxExamples int // 0 means 300
	Evaluations int // of the likelihood and its gradient; 0 means 40
	// Like is a process that was fitted to similar data: the search for parameters starts from its parameters if they are
	// likelier than the usual starts. Nil, and predictors that are no process over as many features, have no effect.
	Like assay.Predictor
	// Ties are lists of features that have one length scale, such as all pairs of an order: r² then
	// counts, over ℓ², the pairs that differ, which is Kendall's distance. None is in two.
	Ties [][]int
	Seed uint64 // draws the examples if there are more than MaxExamples
}

var _ assay.Learner = GP{}

// Fit implements assay.Learner. The Predictor is an assay.BatchPredictor.
func (g GP) Fit(d assay.Data) (assay.Predictor, error) {
	if g.MaxExamples < 0 || g.Evaluations < 0 {
		panic(fmt.Sprintf("model: GP options out of range: %+v", g))
	}
	if err := checkProcess(d); err != nil {
		return nil, err
	}
	most, evaluations := g.MaxExamples, g.Evaluations
	if most == 0 {
		most = 300
	}
	if evaluations == 0 {
		evaluations = 40
	}
	if n := len(d.Y); n > most {
		rows := rand.New(rand.NewPCG(g.Seed, 0)).Perm(n)[:most]
		slices.Sort(rows)
		d = d.Rows(rows)
	}
	m := newMarginal(newScaler(d.X), d)
	m.ties = g.Ties
	return m.posterior(m.learn(m.start(g.Like), max(1, evaluations-gpStarts)))
}

// checkProcess is check, and one exact example.
func checkProcess(d assay.Data) error {
	if err := check(d, 1); err != nil {
		return err
	}
	if d.Censored != nil && !slices.Contains(d.Censored, false) {
		return fmt.Errorf("all %d examples are censored: %w", len(d.Y), assay.ErrTooFew)
	}
	return nil
}

// A scaler maps feature j to (x-lo[j])/span[j], which is in [0, 1] for the training set.
type scaler struct{ lo, span []float64 }

func newScaler(X [][]float64) scaler {
	s := scaler{slices.Clone(X[0]), make([]float64, len(X[0]))}
	for j := range s.lo {
		lo, hi := X[0][j], X[0][j]
		for _, x := range X {
			lo, hi = min(lo, x[j]), max(hi, x[j])
		}
		s.lo[j], s.span[j] = lo, min(hi-lo, math.MaxFloat64)
		if s.span[j] == 0 {
			s.span[j] = 1
		}
	}
	return s
}

// scale sets u to the scaled x.
func (s scaler) scale(u, x []float64) {
	for j, v := range x {
		u[j] = v/s.span[j] - s.lo[j]/s.span[j]
	}
}

// The kernel's parameters are the logarithms of ℓ_0..ℓ_(d-1), of s², and of σ².

// Priors of the logarithms: mean and variance.
const (
	gpSignalMean, gpSignalVar = 0.0, 1.0
	gpNoiseMean, gpNoiseVar   = -4.0, 1.0
	gpLengthVar               = 3.0
	gpLeastNoise              = 1e-6 // of σ², added to it: keeps the matrix regular
)

// A marginal is the negative logarithm of the marginal likelihood times the
// prior, as a function of the kernel's parameters.
type marginal struct {
	scaler   scaler        // of the features
	mean, sd float64       // of the outcomes
	u        []float64     // n rows of d scaled features
	y        []float64     // standardized outcomes; of a censored row its site's
	site     []float64     // variances of the sites, 0 for exact rows; nil if none is censored
	least    []float64     // lower bounds of censored rows, standardized
	d        int           // features
	ties     [][]int       // see [GP]
	k, dk    *mat.SymDense // the covariance, and the common factor of its derivatives by ℓ
	inverse  *mat.SymDense // of k
}

func newMarginal(s scaler, data assay.Data) *marginal {
	n, d := len(data.X), len(data.X[0])
	l := newSquaredLoss(data.Y)
	m := &marginal{
		scaler: s, mean: l.mean, sd: l.sd, y: l.y, d: d,
		u: make([]float64, n*d),
		k: mat.NewSymDense(n, nil), dk: mat.NewSymDense(n, nil), inverse: mat.NewSymDense(n, nil),
	}
	for i, x := range data.X {
		s.scale(m.u[i*d:(i+1)*d], x)
	}
	m.censor(data)
	return m
}

// gpStarts is the number of points that start compares.
const gpStarts = 4

// start returns the likeliest of these starts: the modes of the priors, the same with shorter lengths by factors e and
// e², and the parameters of like. The modes are many steps away from the optimum of most data.
func (m *marginal) start(like assay.Predictor) []float64 {
	mode := make([]float64, m.d+2)
	for j := range m.d {
		mode[j] = m.lengthMean()
	}
	mode[m.d], mode[m.d+1] = gpSignalMean, gpNoiseMean
	starts := [][]float64{mode}
	for shift := 1.0; shift <= 2; shift++ {
		short := slices.Clone(mode)
		for j := range m.d {
			short[j] -= shift
		}
		starts = append(starts, short)
	}
	if p, ok := like.(*gpPosterior); ok && p.d == m.d {
		starts = append(starts, p.theta)
	}
	grad := make([]float64, m.d+2)
	best, least := mode, math.Inf(1)
	for _, s := range starts {
		if v := m.loss(s, grad); v < least {
			best, least = s, v
		}
	}
	return best
}

func (m *marginal) lengthMean() float64 {
	return math.Sqrt2 + math.Log(float64(max(m.d, 1)))/2
}

// matern returns k/s², and (5/3)(1+√5·r)·exp(-√5·r), by which Δ_j²/ℓ_j² is
// multiplied in the derivative of k/s² by log ℓ_j.
func matern(r2 float64) (k, dk float64) {
	r := math.Sqrt(5 * r2)
	if r > 700 {
		return 0, 0 // no 0·∞
	}
	e := math.Exp(-r)
	return (1 + r + r*r/3) * e, 5.0 / 3 * (1 + r) * e
}

// covariance sets m.k, with the noise, and m.dk.
func (m *marginal) covariance(theta []float64) {
	n, d := len(m.y), m.d
	w := inverseSquares(theta[:d])
	signal := math.Exp(theta[d])
	for i := range n {
		a := m.u[i*d : (i+1)*d]
		for j := i; j < n; j++ {
			k, dk := matern(scaledDistance2(a, m.u[j*d:(j+1)*d], w))
			m.k.SetSym(i, j, signal*k)
			m.dk.SetSym(i, j, signal*dk)
		}
	}
	m.diagonal(theta)
}

// diagonal sets the diagonal of m.k: the signal, and the noise or the site's variance.
func (m *marginal) diagonal(theta []float64) {
	signal, noise := math.Exp(theta[m.d]), math.Exp(theta[m.d+1])+gpLeastNoise
	for i := range m.y {
		if m.site != nil && m.site[i] > 0 {
			m.k.SetSym(i, i, signal+m.site[i])
		} else {
			m.k.SetSym(i, i, signal+noise)
		}
	}
}

// inverseSquares returns exp(-2·l) for each l.
func inverseSquares(logs []float64) []float64 {
	w := make([]float64, len(logs))
	for j, l := range logs {
		w[j] = math.Exp(-2 * l)
	}
	return w
}

func scaledDistance2(a, b, w []float64) float64 {
	b, w = b[:len(a)], w[:len(a)]
	var r2 float64
	for j, v := range a {
		v -= b[j]
		r2 += v * v * w[j]
	}
	return r2
}

// loss sets grad to the gradient and returns the value: +Inf, with no gradient,
// where the covariance is not positive definite. With α = K⁻¹y,
//
//	-log p = ½ y·α + ½ log|K| + n/2·log 2π,  ∂/∂θ = -½ tr((αα' - K⁻¹) ∂K/∂θ)
//
// (Rasmussen and Williams, eq. 5.8 and 5.9).
func (m *marginal) loss(theta, grad []float64) float64 {
	for _, t := range theta {
		if !(math.Abs(t) < 50) { // where exponentials get out of hand
			return math.Inf(1)
		}
	}
	n, d := len(m.y), m.d
	m.covariance(theta)
	var chol mat.Cholesky
	if !chol.Factorize(m.k) {
		return math.Inf(1)
	}
	var alpha mat.VecDense
	y := mat.NewVecDense(n, m.y)
	if chol.SolveVecTo(&alpha, y) != nil || chol.InverseTo(m.inverse) != nil {
		return math.Inf(1)
	}
	value := mat.Dot(y, &alpha)/2 + chol.LogDet()/2 + float64(n)/2*math.Log(2*math.Pi)

	clear(grad)
	w := inverseSquares(theta[:d])
	signal, noise := math.Exp(theta[d]), math.Exp(theta[d+1])
	a := alpha.RawVector().Data
	for i := range n {
		ui := m.u[i*d : (i+1)*d]
		for j := i + 1; j < n; j++ {
			q := a[i]*a[j] - m.inverse.At(i, j) // counted twice by symmetry, hence no ½
			grad[d] -= q * m.k.At(i, j)
			q *= m.dk.At(i, j)
			uj := m.u[j*d : (j+1)*d]
			for f, v := range ui {
				v -= uj[f]
				grad[f] -= q * v * v * w[f]
			}
		}
		q := (a[i]*a[i] - m.inverse.At(i, i)) / 2
		grad[d] -= q * signal
		if m.site == nil || m.site[i] == 0 {
			grad[d+1] -= q * noise
		}
	}
	prior := func(i int, mean, variance float64) {
		e := theta[i] - mean
		value += e * e / (2 * variance)
		grad[i] += e / variance
	}
	for j := range d {
		prior(j, m.lengthMean(), gpLengthVar)
	}
	prior(d, gpSignalMean, gpSignalVar)
	prior(d+1, gpNoiseMean, gpNoiseVar)
	m.tie(grad)
	return value
}

// tie projects a gradient to where tied lengths are equal: a search that starts there stays.
func (m *marginal) tie(grad []float64) {
	for _, tied := range m.ties {
		sum := 0.0
		for _, f := range tied {
			sum += grad[f]
		}
		for _, f := range tied {
			grad[f] = sum / float64(len(tied))
		}
	}
}

// posterior returns the predictor for the given parameters. It adds jitter to the
// diagonal, tenfold each time, while the covariance is not positive definite.
func (m *marginal) posterior(theta []float64) (*gpPosterior, error) {
	n := len(m.y)
	m.propagate(theta)
	var chol mat.Cholesky
	signal := math.Exp(theta[m.d])
	for jitter := 1e-9 * signal; !chol.Factorize(m.k); jitter *= 10 {
		if jitter > signal {
			return nil, errSingular
		}
		for i := range n {
			m.k.SetSym(i, i, m.k.At(i, i)+jitter)
		}
	}
	u := chol.RawU().(mat.RawTriangular).RawTriangular()
	return &gpPosterior{
		Posterior: newPosterior(u, m.y), scaler: m.scaler, mean: m.mean, sd: m.sd, d: m.d, u: m.u,
		w: inverseSquares(theta[:m.d]), signal: signal, theta: theta, exact: m.exact(),
	}, nil
}
