package stop

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/model"
)

const (
	gainExamples   = 120  // trials that the models see: the best of the early ones and the latest
	gainSteps      = 30   // evaluations of the likelihood
	gainTrees      = 50   // of the forest
	gainPool       = 5000 // configurations of a space that are all looked at
	gainDraws      = 2000 // of a larger one
	gainNeighbours = 5    // trials whose neighbours are looked at there
)

// evidence returns the evidence of a history for or against continuing; ok is false if the history holds too little.
func (g *Gain) evidence(history []assay.Trial) (e gainEvidence, ok bool) {
	e = gainEvidence{least: g.least, runs: float64(len(history))}
	var values []float64
	best, within := math.Inf(1), 0
	for _, t := range history {
		if t.State == assay.Done && !math.IsInf(t.Value, 0) {
			values = append(values, t.Value)
			best = min(best, t.Value)
		}
	}
	if len(values) < gainDone || best == 0 {
		return e, false
	}
	so := math.Inf(1)
	for i, t := range history {
		if t.State == assay.Done {
			so = min(so, t.Value)
		}
		if so <= best+g.least*math.Abs(best) {
			within = i + 1
			break
		}
	}
	e.quietFor = math.Log2(e.runs / float64(within))
	y := relative(values, best)
	d, incumbent := g.data(history, y), y(best)
	process, err := model.GP{Evaluations: gainSteps, MaxExamples: gainExamples, Ties: g.space.Ties(), Seed: g.seed}.Fit(d)
	if err != nil {
		return e, false
	}
	forest, err := model.Impute(model.Forest{Trees: gainTrees, Seed: g.seed}, 3).Fit(d)
	if err != nil {
		return e, false
	}
	rows := g.untried(history)
	if len(rows) == 0 {
		return e, false // the search itself has ended
	}
	e.process = mostExpected(process, rows, incumbent, doubt(process))
	e.forest = mostExpected(forest, rows, incumbent, 1)
	return e, true
}

// relative returns the scale on which a difference is one in parts of the best value: of values of one sign a
// logarithm.
func relative(values []float64, best float64) func(float64) float64 {
	switch {
	case slices.Min(values) > 0:
		return math.Log
	case slices.Max(values) < 0:
		return func(v float64) float64 { return -math.Log(-v) }
	}
	unit := math.Abs(best)
	return func(v float64) float64 { return v / unit }
}

// data returns the examples for the models: of more than gainExamples the latest half of that number and the best of
// the others.
func (g *Gain) data(history []assay.Trial, y func(float64) float64) assay.Data {
	var trials []assay.Trial
	for _, t := range history {
		if len(t.Config) == g.space.Dim() && (t.State == assay.Done || t.State == assay.Censored) {
			if v := y(t.Value); !math.IsNaN(v) && !math.IsInf(v, 0) {
				trials = append(trials, t)
			}
		}
	}
	if n := len(trials); n > gainExamples {
		early := slices.Clone(trials[:n-gainExamples/2])
		slices.SortStableFunc(early, func(a, b assay.Trial) int { return cmp.Compare(a.Value, b.Value) })
		trials = append(early[:gainExamples/2:gainExamples/2], trials[n-gainExamples/2:]...)
	}
	var d assay.Data
	for _, t := range trials {
		d.X, d.Y = append(d.X, g.space.Encode(t.Config)), append(d.Y, y(t.Value))
		d.Censored = append(d.Censored, t.State == assay.Censored)
	}
	return d
}

// doubt is the factor of the deviations of a process: more than 1 if its errors on examples left out exceed its stated
// deviations.
func doubt(p assay.Predictor) float64 {
	process, ok := p.(model.Process)
	if !ok {
		return 1
	}
	var sum float64
	residuals := process.Residuals()
	for _, r := range residuals {
		sum += r * r
	}
	return max(1, math.Sqrt((sum+doubts)/float64(len(residuals)+doubts)))
}

// mostExpected returns the log of the largest expected improvement of any row on the incumbent.
func mostExpected(p assay.Predictor, rows [][]float64, incumbent, factor float64) float64 {
	out := make([]assay.Prediction, len(rows))
	assay.PredictAll(p, rows, out)
	most := math.Inf(-1)
	for _, o := range out {
		most = max(most, stats.LogEI(o.Mean, factor*o.Std, incumbent))
	}
	return most
}

// untried returns the rows of configurations that were not tried, all of a small space.
func (g *Gain) untried(history []assay.Trial) (rows [][]float64) {
	tried := map[string]bool{}
	for _, t := range history {
		tried[g.space.Text(t.Config)] = true
	}
	add := func(c assay.Config) {
		if key := g.space.Text(c); !tried[key] {
			tried[key] = true
			rows = append(rows, g.space.Encode(c))
		}
	}
	if n := g.space.Size(); g.space.Indexed() && n.N <= gainPool {
		for c := range g.space.All() {
			add(c)
		}
		return rows
	}
	rng := rand.New(rand.NewPCG(g.seed, uint64(len(history))))
	for range gainDraws {
		if c, ok := g.space.Draw(rng); ok {
			add(c)
		}
	}
	order := slices.Clone(history)
	slices.SortStableFunc(order, func(a, b assay.Trial) int { return cmp.Compare(rank(a), rank(b)) })
	for _, t := range order[:min(gainNeighbours, len(order))] {
		for _, c := range g.space.Neighbours(t.Config) {
			add(c)
		}
	}
	return rows
}

// rank orders trials by their values, those last that have none.
func rank(t assay.Trial) float64 {
	if t.State != assay.Done {
		return math.Inf(1)
	}
	return t.Value
}
