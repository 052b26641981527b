package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

const (
	processExamples = 100  // the best and the latest
	processSteps    = 20   // evaluations of the likelihood
	processRenewal  = 1.1  // growth of the trials after which the parameters are learned anew
	processPool     = 4096 // configurations of a pool whose mean it predicts
	processShort    = 300  // of these, those with the least means
	processRandom   = 100  // and others, whose expected improvement it predicts
	processDraws    = 192  // random candidates in a space without a pool
	processClimbs   = 1    // starts of the local search there
)

// A process is the Gaussian process of an [Auto] search: the parameters of its kernel, which are kept for a while.
//
// It is a value, so that a call of Ask that fails can restore the previous one: see [Auto.compute].
type process struct {
	fitted model.Refitter // nil before the first fit
	trials int            // that had ended at the time of that fit
	noted  int            // trials of the parameters that are in a memo
}

// fit returns the process for examples; nil without examples. The parameters of the kernel are learned anew when the
// trials have become a tenth more, and kept between: learning costs some tens of factorizations, keeping one. A new
// fit starts from the parameters of the last.
func (p *process) fit(a *Auto, d assay.Data) assay.Predictor {
	b := a.bayes
	if p.fitted != nil && len(p.fitted.Parameters()) != len(d.X[0])+2 {
		*p = process{} // a memo of another hint
	}
	if p.fitted != nil && float64(b.ended) < processRenewal*float64(p.trials) {
		if m, err := p.fitted.Refit(d); err == nil {
			return m
		}
	}
	g := model.GP{Evaluations: processSteps, MaxExamples: processExamples, Ties: b.space.Ties(), Seed: a.opts.Seed}
	if p.fitted != nil {
		g.Like = p.fitted
	}
	m, err := g.Fit(d)
	if err != nil {
		return nil
	}
	p.fitted, p.trials, p.noted = m.(model.Refitter), b.ended, 0
	return m
}

// processData returns the examples for the process: all if there are at most processExamples, and else the latest
// half of that number and the best half of the others. The best show where the optimum is, the latest where the
// models were wrong. The forest predicts the value of a censored run, at least its bound. rank, if not nil, ranks the
// outcomes: the least are the best.
func processData(d assay.Data, forest assay.Predictor, rank func(float64) float64) assay.Data {
	// The examples are in the order of time, the outstanding ones last.
	n := len(d.Y)
	if n <= processExamples {
		return d
	}
	latest := n - processExamples/2
	y := slices.Clone(d.Y[:latest])
	out := make([]assay.Prediction, latest)
	assay.PredictAll(forest, d.X[:latest], out)
	order := make([]int, n)
	for i := range order {
		order[i] = i
		if i < latest && d.Censored[i] {
			y[i] = max(y[i], out[i].Mean)
		}
	}
	if rank != nil {
		for i := range y {
			y[i] = rank(y[i])
		}
	}
	slices.SortStableFunc(order[:latest], func(i, j int) int { return cmp.Compare(y[i], y[j]) })
	return d.Rows(append(order[:processExamples/2], order[latest:]...))
}

// limitsByProcess returns a process for each limit, in place of the forests that b has. The most useful examples of a
// limit are those next to it.
func (a *Auto) limitsByProcess() []chance {
	b := a.bayes
	if n := len(b.limits.of) - len(a.limits); n > 0 {
		a.limits = append(a.limits, make([]process, n)...)
	}
	forests := map[int]assay.Predictor{}
	for _, c := range b.limits.models {
		forests[c.of] = c.Model
	}
	return b.limits.fit(b, func(k int, d assay.Data) assay.Predictor {
		if forests[k] == nil {
			return nil
		}
		edge := b.limits.margin[k].Edge
		d = processData(d, forests[k], func(y float64) float64 { return math.Abs(y - edge) })
		if m := a.limits[k].fit(a, d); m != nil {
			return m
		}
		return forests[k]
	})
}

// byProcess returns the candidate with the largest expected improvement by the process; nil without one.
//
// In a pool the candidates are the configurations with the least predicted means, which are cheap, and some others;
// in a pool of more than processPool the means are computed for the forest's favourites and for as many others.
// Without a pool the process climbs as [Bayes] does.
func (a *Auto) byProcess() (assay.Config, float64) {
	b := a.bayes
	g := a.process.fit(a, processData(b.examples(), b.surrogate, nil))
	if g == nil {
		return nil, 0
	}
	if b.limits != nil {
		forests := b.limits.models
		b.limits.models = a.limitsByProcess()
		defer func() { b.limits.models = forests }()
	}
	if b.pool != nil {
		return b.pool.best(b, b.pool.shortlist(b, g.(model.MeanPredictor)), g)
	}
	// The process takes the place of the forest for one search of candidates.
	forest, draws, starts := b.surrogate, b.draws, b.starts
	b.surrogate, b.draws, b.starts = g, min(draws, processDraws), min(starts, processClimbs)
	c, mean := b.maximize()
	b.surrogate, b.draws, b.starts = forest, draws, starts
	return c, mean
}

// A ranked configuration of a pool.
type ranked struct {
	at   int     // its number
	rank float64 // the less the better
}

// shortlist returns the open configurations with the least means, processShort of
// them, and processRandom others. The order is random among equals.
func (p *pool) shortlist(b *Bayes, process model.MeanPredictor) []int {
	p.enter()
	var all []int
	for i := range p.visited {
		if p.open(i) {
			all = append(all, i)
		}
	}
	if len(all) > processPool {
		all = p.leading(b, all, processPool/2, processPool/2, func(rows [][]float64, out []float64) {
			assay.PredictAll(b.surrogate, rows, p.out[:len(rows)])
			p.score(b, len(rows), false, 0)
			for k, s := range p.scores[:len(rows)] {
				out[k] = -s
			}
		})
	}
	return p.leading(b, all, processShort, processRandom, func(rows [][]float64, out []float64) {
		b.rank(process, rows, out)
	})
}

// leading returns the n configurations of least rank among the given ones, and
// as many others at random, each at most once.
//
// It shuffles among, so that equals come in random order; ranks are computed a chunk at a time in the
// buffers of the pool.
func (p *pool) leading(b *Bayes, among []int, n, others int, rank func(rows [][]float64, out []float64)) []int {
	order := make([]ranked, 0, len(among))
	ranks := make([]float64, poolChunk)
	b.rng.Shuffle(len(among), func(i, j int) { among[i], among[j] = among[j], among[i] })
	for rest := among; len(rest) > 0; {
		part := rest[:min(poolChunk, len(rest))]
		rest = rest[len(part):]
		for k, i := range part {
			p.expand(i, p.rows[k])
		}
		rank(p.rows[:len(part)], ranks[:len(part)])
		for k, i := range part {
			order = append(order, ranked{i, ranks[k]})
		}
	}
	slices.SortStableFunc(order, func(x, y ranked) int { return cmp.Compare(x.rank, y.rank) })
	var out []int
	for _, r := range order[:min(n, len(order))] {
		out = append(out, r.at)
	}
	if len(order) > n {
		rest := order[n:]
		b.rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		for _, r := range rest[:min(others, len(rest))] {
			out = append(out, r.at)
		}
	}
	return out
}

// best returns the configuration with the largest expected improvement by model
// among the given ones, the first of equals, and its predicted mean; nil if there
// are none.
func (p *pool) best(b *Bayes, among []int, model assay.Predictor) (assay.Config, float64) {
	at, top := -1, candidate{}
	for len(among) > 0 {
		part := among[:min(poolChunk, len(among))]
		among = among[len(part):]
		for k, i := range part {
			p.expand(i, p.rows[k])
		}
		assay.PredictAll(model, p.rows[:len(part)], p.out[:len(part)])
		p.score(b, len(part), at >= 0, top.score)
		for k, o := range p.out[:len(part)] {
			c := candidate{mean: o.Mean, score: p.scores[k]}
			if at < 0 || better(c, top) {
				at, top = part[k], c
			}
		}
	}
	if at < 0 {
		return nil, math.NaN()
	}
	return p.space.At(int64(at)), top.mean
}
