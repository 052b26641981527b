package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
)

// MLP is an ensemble of small multi-layer perceptrons that learn from censored examples by the Tobit loss
// (Eggensperger, Haase, Müller, Lindauer and Hutter, "Neural model-based optimization with right-censored
// observations", 2020: the model of Cello's BO-NN, §4.3). A member maps the features to a mean μ and a deviation σ of
// the outcome, and has the loss
//
//	-log φ((y-μ)/σ)/σ for an exact outcome y, -log(1-Φ((y-μ)/σ)) for a bound y,
//
// with tanh units, minimized by Adam on batches of 16 (Kingma and Ba 2015, algorithm 1). Each member leaves out another
// part of the examples and keeps the weights of the epoch with the least loss on that part; with fewer than 10 examples
// nothing is left out.
//
// Mean is the mean over the members, and Std² the mean of σ² plus the variance of μ over them: the noise of an outcome
// and the doubt about the function together (Lakshminarayanan, Pritzel and Blundell, "Simple and scalable predictive
// uncertainty estimation using deep ensembles", 2017, §2.4).
//
// Features are scaled to their range in the data, and held at twice the range beyond it; outcomes are scaled to mean 0
// and deviation 1, bounds included. Run times are best fitted on their logarithm, see [Log]. One example is enough;
// without any exact outcome Fit returns assay.ErrTooFew. Cost: Members · Epochs · n · the number of weights.
type MLP struct {
	Hidden  []int   // units of each hidden layer; nil means 16 and 16
	Members int     // 0 means 4
	Epochs  int     // passes over the data, at most; 0 means 40
	Rate    float64 // Adam's step size; 0 means 0.02
	Seed    uint64  // of the first weights, the batches and the parts left out
}

var _ assay.Learner = MLP{}

func (m MLP) withDefaults() MLP {
	if m.Members < 0 || m.Epochs < 0 || !(m.Rate >= 0 && m.Rate <= 1) ||
		slices.ContainsFunc(m.Hidden, func(n int) bool { return n < 1 }) {
		panic(fmt.Sprintf("model: MLP options out of range: %+v", m))
	}
	if m.Hidden == nil {
		m.Hidden = []int{16, 16}
	}
	if m.Members == 0 {
		m.Members = 4
	}
	if m.Epochs == 0 {
		m.Epochs = 40
	}
	if m.Rate == 0 {
		m.Rate = 0.02
	}
	return m
}

// Fit implements assay.Learner.
func (m MLP) Fit(d assay.Data) (assay.Predictor, error) {
	m = m.withDefaults()
	if err := check(d, 1); err != nil {
		return nil, err
	}
	if d.Censored != nil && !slices.Contains(d.Censored, false) {
		return nil, fmt.Errorf("all %d examples are censored: %w", len(d.Y), assay.ErrTooFew)
	}
	p := &mlp{scaler: newScaler(d.X)}
	l := newSquaredLoss(d.Y)
	p.mean, p.sd = l.mean, l.sd
	if slices.Min(d.Y) == slices.Max(d.Y) && !slices.Contains(d.Censored, true) {
		p.sd = 0 // there is nothing to learn
		return p, nil
	}
	u := make([][]float64, len(d.X))
	for i, x := range d.X {
		u[i] = make([]float64, len(x))
		p.input(u[i], x)
	}
	t := trainer{MLP: m, u: u, y: l.y, censored: d.Censored}
	var parts [][]int
	if len(d.Y) >= 10 {
		parts = foldsOf(len(d.Y), max(m.Members, 5), 0, m.Seed)
	}
	for k := range m.Members {
		var out []int
		if parts != nil {
			out = parts[k]
		}
		p.members = append(p.members, t.train(rand.New(rand.NewPCG(m.Seed, uint64(k)+1)), out))
	}
	return p, nil
}

// leastLogDeviation bounds σ from below, at 2 % of the deviation of the outcomes:
// a smaller one would make the loss of a few rows decide everything.
const leastLogDeviation = -4

// tobit returns the loss of a row and its derivatives by μ and log σ.
func tobit(y float64, censored bool, mu, logSigma float64) (loss, byMu, byLog float64) {
	sigma := math.Exp(logSigma)
	z := (y - mu) / sigma
	if !censored {
		return logSigma + z*z/2 + math.Log(2*math.Pi)/2, -z / sigma, 1 - z*z
	}
	// The hazard φ/(1-Φ), far out by Laplace's continued fraction.
	h := z + 1/(z+2/(z+3/(z+4/z)))
	if z <= 25 {
		h = math.Sqrt(2/math.Pi) * math.Exp(-z*z/2) / math.Erfc(z/math.Sqrt2)
	}
	return -Normal.logSurvival(z), -h / sigma, -h * z
}

// A trainer trains members on the same data.
type trainer struct {
	MLP
	u        [][]float64 // scaled features
	y        []float64   // standardized outcomes
	censored []bool      // nil if no outcome is
}

func (t *trainer) isCensored(i int) bool { return t.censored != nil && t.censored[i] }

// train returns a network that was trained without the rows in out.
func (t *trainer) train(rng *rand.Rand, out []int) *network {
	sizes := append(append([]int{len(t.u[0])}, t.Hidden...), 2)
	n := newNetwork(sizes, rng)
	s := newAdam(len(n.params), t.Rate)
	grad, best := make([]float64, len(n.params)), slices.Clone(n.params)
	least := math.Inf(1)
	var rows []int
	for i := range t.u {
		if _, held := slices.BinarySearch(out, i); !held {
			rows = append(rows, i)
		}
	}
	w := n.workspace()
	const batch = 16
	for range t.Epochs {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for part := range slices.Chunk(rows, batch) {
			clear(grad)
			for _, i := range part {
				mu, logSigma := n.forward(t.u[i], w)
				_, byMu, byLog := tobit(t.y[i], t.isCensored(i), mu, max(logSigma, leastLogDeviation))
				if logSigma < leastLogDeviation && byLog > 0 {
					byLog = 0
				}
				n.backward(byMu, byLog, w, grad)
			}
			s.update(n.params, grad, 1/float64(len(part)))
		}
		if out == nil {
			continue
		}
		var loss float64
		for _, i := range out {
			mu, logSigma := n.forward(t.u[i], w)
			l, _, _ := tobit(t.y[i], t.isCensored(i), mu, max(logSigma, leastLogDeviation))
			loss += l
		}
		if loss < least {
			least = loss
			copy(best, n.params)
		}
	}
	if out != nil {
		n.params = best
	}
	return n
}

// mlp is the fitted ensemble.
type mlp struct {
	scaler   scaler     // of the features
	mean, sd float64    // of the outcomes; sd is 0, without members, if they are equal
	members  []*network // each with its own start
}

// input sets u to the scaled features, [-1, 1] in the range of the data.
func (p *mlp) input(u, x []float64) {
	p.scaler.scale(u, x)
	for j, v := range u {
		u[j] = clip(2*v-1, -3, 3)
	}
}

// Predict implements assay.Predictor.
func (p *mlp) Predict(x []float64) assay.Prediction {
	if p.sd == 0 {
		return assay.Prediction{Mean: p.mean}
	}
	u := make([]float64, len(x))
	p.input(u, x)
	w := p.members[0].workspace()
	var mean, square, noise float64
	for _, m := range p.members {
		mu, logSigma := m.forward(u, w)
		mean += mu
		square += mu * mu
		noise += math.Exp(2 * max(logSigma, leastLogDeviation))
	}
	k := float64(len(p.members))
	mean /= k
	variance := noise/k + max(square/k-mean*mean, 0)
	return assay.Prediction{Mean: p.mean + p.sd*mean, Std: p.sd * math.Sqrt(variance)}
}
