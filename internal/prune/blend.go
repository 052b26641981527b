package prune

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/model"
)

const (
	// The first two bound the cost of a proposal: each source has a forest, and the forest of residuals is
	// fitted anew after each trial.
	blended     = 8  // sources that a blend uses at most
	blendTrees  = 30 // of its forests
	leastTrials = 3  // of the running study for a blend
)

// A blend predicts the running study from the most similar earlier ones:
//
//	m(x) = a + Σ w_j·z_j(x),
//
// with z_j the standardized surrogate of study j. The weights are fitted to the running study's scaled outcomes by
// least squares with a penalty on their distance from w0, equal shares of the studies' mean standard deviation: without
// evidence the studies count alike, and more trials let the weights differ more. The penalty is the one of four with
// the least squared error when each trial is predicted from the others. A forest of the residuals in x and m adds
// effects that are specific to the running study.
//
// A blend is of the trials at the time it was made and never changes. sources, w and a row of z_j are in the same
// order, the most similar study first.
type blend struct {
	sources []*source
	w       []float64                    // weight of each source
	a       float64                      // the constant
	skill   float64                      // correlation of the trials with the leave-one-out predictions
	own     assay.Predictor              // forest of the residuals
	encode  func(assay.Config) []float64 // features of a configuration
}

// newBlend fits a blend of the most similar studies. It is nil if there are too few trials, if they are all equal, or
// if no study serves. Cost: a forest for each source that is used for the first time, and one of the trials.
//
// The forest of the residuals has one feature more than the space: m(x), the last one of each row.
func newBlend(b *base, seed uint64) *blend {
	y := b.outcomes()
	if len(y) < leastTrials || slices.Min(y) == slices.Max(y) {
		return nil
	}
	m := &blend{encode: b.space.Encode}
	for _, i := range b.nearest(y, blended) {
		m.sources = append(m.sources, b.sources[i])
	}
	if len(m.sources) == 0 {
		return nil
	}
	rows := make([][]float64, len(y))
	for i, t := range b.trials {
		rows[i] = m.standard(t.Config)
	}
	if m.fit(rows, y); m.w == nil {
		return nil // outcomes whose squares are infinite
	}
	d := assay.Data{}
	for i, t := range b.trials {
		mean := m.mean(rows[i])
		// The row is a fresh slice of encode, so that append cannot touch another one.
		d.X = append(d.X, append(m.encode(t.Config), mean))
		d.Y = append(d.Y, y[i]-mean)
	}
	own, err := model.Forest{Trees: blendTrees, Seed: seed, MinLeaf: 2}.Fit(d)
	if err != nil {
		return nil // outcomes beyond the numbers that a forest can square
	}
	m.own = own
	return m
}

// nearest returns the indices of the n sources in use with the greatest correlation with outcomes y. Sources without a
// correlation come last: too little is known of them to exclude them.
//
// It needs at, which a base that compares surrogates with surrogates does not fill: a blend is of a base without a
// pair.
func (b *base) nearest(y []float64, n int) []int {
	r := make([]float64, len(b.sources))
	order := slices.Clone(b.voices())
	for _, i := range order {
		if r[i] = stats.CrossCorrelation(y, b.at[i]); math.IsNaN(r[i]) {
			// Less than any correlation.
			r[i] = -2
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(r[j], r[i]) })
	return order[:min(n, len(order))]
}

// standard returns the z_j at c.
func (m *blend) standard(c assay.Config) []float64 {
	row := make([]float64, len(m.sources))
	for j, s := range m.sources {
		row[j] = s.standard(c)
	}
	return row
}

// mean returns m(x) for a row of z_j.
func (m *blend) mean(row []float64) float64 {
	v := m.a
	for j, z := range row {
		v += m.w[j] * z
	}
	return v
}

// fit sets weights, intercept and skill, all by leave-one-out. The penalty has the least squared error, and the skill
// is the correlation of the outcomes with their predictions from the other trials. A skill on the fitted trials would
// always be good.
func (m *blend) fit(rows [][]float64, y []float64) {
	var sd float64
	for _, s := range m.sources {
		// The weights turn standard deviations into the scale of outcomes: together they are one mean deviation.
		sd += s.sd / float64(len(m.sources))
	}
	prior := slices.Repeat([]float64{sd / float64(len(m.sources))}, len(m.sources))
	least := math.Inf(1)
	// The rows are standardized, so that a penalty is worth about as many trials: from next to none to more
	// than most studies have.
	for _, penalty := range []float64{0.3, 3, 30, 300} {
		w, a, left := ridge(rows, y, prior, penalty)
		var loss float64
		for i, v := range left {
			loss += (y[i] - v) * (y[i] - v)
		}
		if loss < least {
			least = loss
			m.w, m.a = w, a
			m.skill = stats.Correlation(y, left)
		}
	}
}

// ridge minimizes Σ(y_i - a - Σ_j w_j·z_ij)² + penalty·Σ(w_j - prior_j)², and returns the prediction of each example
// from the others: y_i - e_i/(1 - h_i), with h_i the leverage.
//
// The weights are the prior's, and the leverage is the intercept's alone, if the system cannot be solved. left has one
// value for each of y.
func ridge(rows [][]float64, y, prior []float64, penalty float64) (w []float64, a float64, left []float64) {
	n, d := len(rows), len(prior)
	centre := make([]float64, d)
	var my float64
	for i, row := range rows {
		my += y[i] / float64(n)
		for j, z := range row {
			centre[j] += z / float64(n)
		}
	}
	// With w = prior + v and centred columns, (Z'Z + penalty·I)·v = Z'(y - Z·prior).
	g := mat.NewSymDense(d, nil)
	rhs := make([]float64, d)
	for i, row := range rows {
		e := y[i] - my
		for j := range row {
			e -= (row[j] - centre[j]) * prior[j]
		}
		for j := range row {
			zj := row[j] - centre[j]
			rhs[j] += zj * e
			for k := j; k < d; k++ {
				g.SetSym(j, k, g.At(j, k)+zj*(row[k]-centre[k]))
			}
		}
	}
	// The penalty on v is the prior: with many examples Z'Z outgrows it.
	for j := range d {
		g.SetSym(j, j, g.At(j, j)+penalty)
	}
	var chol mat.Cholesky
	w, left = slices.Clone(prior), make([]float64, n)
	v := mat.NewVecDense(d, nil)
	positive := chol.Factorize(g)
	if positive {
		if err := chol.SolveVecTo(v, mat.NewVecDense(d, rhs)); err != nil {
			positive = false
		}
	}
	a = my
	for j := range w {
		if positive {
			w[j] += v.AtVec(j)
		}
		a -= w[j] * centre[j]
	}
	h := mat.NewVecDense(d, nil)
	for i, row := range rows {
		fit := a
		z := mat.NewVecDense(d, nil)
		for j := range row {
			fit += w[j] * row[j]
			z.SetVec(j, row[j]-centre[j])
		}
		// The intercept is fitted by the mean, which is 1/n of the leverage.
		leverage := 1 / float64(n)
		if positive && chol.SolveVecTo(h, z) == nil {
			leverage += mat.Dot(z, h)
		}
		// A leverage of 1 means that the example determines its own fit: the floor keeps the quotient finite.
		left[i] = y[i] - (y[i]-fit)/max(1-leverage, 1e-3)
	}
	return w, a, left
}

// predict sets out[i] to the prediction at configuration i, whose features and row of z_j are
// given: the mean m(x) and the forest's correction of it. The deviation is the forest's.
func (m *blend) predict(features, rows [][]float64, out []assay.Prediction) {
	X := make([][]float64, len(rows))
	for i, row := range rows {
		// Clip makes append copy: the features may be shared with the table of a Transfer.
		X[i] = append(slices.Clip(features[i]), m.mean(row))
	}
	assay.PredictAll(m.own, X, out)
	for i := range out {
		out[i].Mean += X[i][len(X[i])-1]
	}
}

// standard returns the standardized surrogate at c: exact on configurations with trials, the forest's elsewhere.
//
// sd is never 0 after smooth, so that 0 marks that smooth was not called.
func (s *source) standard(c assay.Config) float64 {
	if s.sd == 0 {
		s.smooth()
	}
	y, ok := s.exact[c.Key()]
	if !ok {
		y = s.forest.Predict(s.space.Encode(c)).Mean
	}
	return (y - s.mean) / s.sd
}

// smooth fits the inputs of standard: a forest of the study, and the mean and standard deviation of its outcomes.
func (s *source) smooth() {
	// The seed is always the zero one: a source may serve several searches, which are to see the same.
	f, err := model.Forest{Trees: blendTrees}.Fit(s.examples())
	if err != nil {
		panic(err) // exact examples of finite features and outcomes always fit
	}
	s.forest, s.mean = f, stats.Mean(s.data.Y)
	for _, v := range s.data.Y {
		s.sd += (v - s.mean) * (v - s.mean) / float64(len(s.data.Y))
	}
	s.sd = max(math.Sqrt(s.sd), math.SmallestNonzeroFloat64)
}
