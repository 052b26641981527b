package cello

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stop"
	"github.com/assay-run/assay/study"
)

const (
	known  = 30 // trials of Bayesian optimisation that all regressions are fitted to
	probes = 40 // runs that they are asked about
	tenths = 9
)

// regressions are compared on the same trials: standard regression, and the censored one
// that starts from the geometric mean, as ours does, or from XGBoost's 0.5.
var regressions = []struct {
	name string
	opts stop.PredictiveOptions
}{
	{"standard", stop.PredictiveOptions{Learner: model.Boost{}, Standard: true}},
	{"censored", stop.PredictiveOptions{}},
	{"censored-0.5", stop.PredictiveOptions{AFT: model.AFT{Base: 0.5}}},
}

// same asks all regressions about the same runs.
func (o *Options) same(ctx context.Context) ([]Row, error) {
	seen := make([][][tenths]squares, len(o.Problems)*o.Seeds) // by problem and seed, by regression
	err := o.Pool.Each(ctx, len(seen), func(ctx context.Context, _, i int) (err error) {
		p, seed := &o.Problems[i/o.Seeds], uint64(i%o.Seeds)+1
		if seen[i], err = ask(ctx, p, seed); err != nil {
			return fmt.Errorf("%s, seed %d: %w", p.Name, seed, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var rows []Row
	for pi := range o.Problems {
		for ri, reg := range regressions {
			r := Row{Experiment: "same", Study: o.Problems[pi].Name, Method: reg.name, Parts: make([]float64, tenths)}
			var bySeed []squares
			var parts [tenths]squares
			for _, one := range seen[pi*o.Seeds : (pi+1)*o.Seeds] {
				var all squares
				for k, s := range one[ri] {
					all.sum, all.n = all.sum+s.sum, all.n+s.n
					parts[k].sum, parts[k].n = parts[k].sum+s.sum, parts[k].n+s.n
				}
				bySeed = append(bySeed, all)
			}
			for k, s := range parts {
				r.Parts[k] = s.mean()
			}
			r.setErrors(bySeed)
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// ask runs some trials of Bayesian optimisation to their ends, then asks each regression
// about other runs, drawn at random, after every tenth of their values.
func ask(ctx context.Context, p *bench.Problem, seed uint64) ([][tenths]squares, error) {
	runner, clock := p.Replay(seed)
	res, err := bench.Cell{
		Space: p.Space, Goal: p.Goal, Runner: runner, Clock: clock, Budget: study.Budget{Trials: known},
		Searcher: search.NewBayes(p.Space, search.BayesOptions{
			Learner: model.Forest{Trees: 30, Seed: seed}, Seed: seed,
		}),
	}.Run(ctx)
	if err != nil {
		return nil, err
	}
	tried := func(c assay.Config) bool {
		return slices.ContainsFunc(res.Trials, func(t assay.Trial) bool { return t.Config.Equal(c) })
	}
	type run struct {
		assay.Config
		truth float64
	}
	var runs []run
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 100 * probes { // of a small table few others are left
		if len(runs) == probes {
			break
		}
		c, ok := p.Space.Draw(rng)
		if v, _ := p.True(c); ok && v > 0 && !tried(c) {
			runs = append(runs, run{c, v})
		}
	}
	out := make([][tenths]squares, len(regressions))
	for i, reg := range regressions {
		opts := reg.opts
		opts.Seed = seed
		rule := stop.NewPredictive(p.Space, opts)
		for _, r := range runs {
			for k := range tenths {
				t := assay.Trial{Proposal: assay.Proposal{ID: known + 1, Config: r.Config}, State: assay.Running}
				t.Value = r.truth * float64(k+1) / (tenths + 1)
				out[i][k].add(rule.Predict(res.Trials, t), r.truth)
			}
		}
	}
	return out, nil
}
