package nimo

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/study"
)

// shares are the shares of the time of all runs at which methods are compared.
var shares = []float64{0.02, 0.05, 0.1, 0.2, 0.3}

// A DataCell is one row of the result on recorded tables, in the shape of
// `assay-lab nimo --data DIR --json`.
type DataCell struct {
	Set      string    `json:"set"`
	Programs int       `json:"programs"`
	Share    float64   `json:"share"` // of the time of all runs
	Auto     float64   `json:"auto"`  // MAPE, geometric mean over programs and seeds, percent
	Random   float64   `json:"random"`
	Linear   float64   `json:"random_linear"` // random sampling with the published regression
	Ratio    float64   `json:"ratio"`         // Auto/Random
	CI95     []float64 `json:"ci95"`          // of Ratio, over programs and seeds
	AutoRuns float64   `json:"auto_runs"`
	RandRuns float64   `json:"random_runs"`
	All      float64   `json:"all_at_once"` // error after all runs, at a share of 1
}

// Compare learns every program in each way with every seed. A third of the assignments
// of each are the external test set; the others can be run.
func Compare(ctx context.Context, tables []Table, o Options) ([]DataCell, error) {
	duels := make([]duel, len(tables)*o.Seeds)
	err := o.Pool.Each(ctx, len(duels), func(ctx context.Context, _, i int) (err error) {
		duels[i], err = tables[i/o.Seeds].duel(ctx, o.Seed+uint64(i%o.Seeds))
		return err
	})
	if err != nil {
		return nil, err
	}
	return dataCells(duels), nil
}

// A duel is the outcome of one seed on one program, by share.
type duel struct {
	set, name            string
	auto, random, linear learned
	all                  float64 // error of a model of one run of each assignment
}

// learned is the state of one method at each share of the time: the error of its model in percent, NaN
// without a model yet, and the number of runs that it is fitted to.
type learned struct{ errs, runs []float64 }

func (t Table) duel(ctx context.Context, seed uint64) (duel, error) {
	rng := rand.New(rand.NewPCG(seed, 7))
	d := duel{set: t.Set, name: t.Name}
	pool, test, total := t.split(rng)
	space, err := assay.NewList(t.params, pool)
	if err != nil {
		return d, err
	}
	l := lesson{space: space, test: test, total: total}
	runBy := func(rng *rand.Rand) runner {
		return func(c assay.Config) assay.Measurement { return t.run(c, test, rng) }
	}
	auto := costmodel.NewActiveLearner(space, costmodel.Options{Seed: seed})
	if d.auto, err = l.learn(ctx, auto, runBy(rng), costmodel.Best); err != nil {
		return d, err
	}
	rng = rand.New(rand.NewPCG(seed, 8))
	if d.random, err = l.learn(ctx, search.NewRandom(space, seed), runBy(rng), costmodel.Best); err != nil {
		return d, err
	}
	if d.all, err = l.everything(pool, runBy(rng)); err != nil {
		return d, err
	}
	// The same assignments and the same runs of them, another regression.
	rng = rand.New(rand.NewPCG(seed, 8))
	d.linear, err = l.learn(ctx, search.NewRandom(space, seed), runBy(rng), costmodel.Linear)
	return d, err
}

// split draws a third of the assignments as test set, with the median of their times
// for true; those that have failed once are in neither part. total is the time in
// seconds of one run of each assignment of the pool, by their means.
func (t Table) split(rng *rand.Rand) (pool []assay.Config, test testSet, total float64) {
	perm := rng.Perm(len(t.configs))
	for k, i := range perm {
		c := t.configs[i]
		x := t.times[c.Key()]
		ended := !math.IsInf(stats.Mean(x), 0)
		switch {
		case k >= len(perm)/3:
			pool = append(pool, c)
			if ended {
				total += stats.Mean(x)
			}
		case ended:
			test.configs, test.truth = append(test.configs, c), append(test.truth, stats.Median(x))
		}
	}
	return pool, test, total
}

// run draws one of the recorded runs of an assignment. How long a run took to fail is
// not recorded: it takes the median time of the test set.
func (t Table) run(c assay.Config, test testSet, rng *rand.Rand) assay.Measurement {
	x := t.times[c.Key()]
	v := x[rng.IntN(len(x))]
	if math.IsInf(v, 0) {
		return assay.Measurement{Elapsed: seconds(stats.Median(test.truth)), ExitCode: 1}
	}
	return assay.Measurement{Elapsed: seconds(v)}
}

func seconds(x float64) time.Duration { return time.Duration(x * 1e9) }

// A lesson is the task of all methods: a program, and the test that they are given.
type lesson struct {
	space *assay.Space
	test  testSet
	total float64 // s; the unit of shares
}

// learn runs a searcher for the largest share of the time. A smaller share sees the
// runs that had ended by then, so that one search serves all of them.
func (l lesson) learn(ctx context.Context, s assay.Searcher, run runner, by costmodel.Regression) (learned, error) {
	most := max(seconds(slices.Max(shares)*l.total), 1) // a budget of 0 sets no limit
	res, err := play(ctx, l.space, s, run, study.Budget{Time: most})
	if err != nil {
		return learned{}, err
	}
	var out learned
	for _, share := range shares {
		n := 0
		for spent := 0.0; n < len(res.Trials); n++ {
			if spent += res.Trials[n].Measurement.Elapsed.Seconds(); spent > share*l.total {
				break
			}
		}
		e, runs, err := l.examine(res.Trials[:n], by)
		if err != nil {
			return learned{}, err
		}
		out.errs, out.runs = append(out.errs, e), append(out.runs, runs)
	}
	return out, nil
}

// examine fits a model to trials and returns its error and how many of them it was
// fitted to: NaN and 0 if they are too few.
func (l lesson) examine(trials []assay.Trial, regression costmodel.Regression) (e, fitted float64, err error) {
	var runs []costmodel.Run
	var failed []assay.Config
	for _, t := range trials {
		if t.State != assay.Done {
			failed = append(failed, t.Config)
			continue
		}
		r, err := costmodel.Profile(t.Config, t.Measurement, 0)
		if err != nil {
			return 0, 0, err
		}
		runs = append(runs, r)
	}
	m, err := costmodel.Fit(l.space, runs, failed, regression)
	if errors.Is(err, assay.ErrTooFew) {
		return math.NaN(), 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	return l.test.mape(m), float64(len(runs)), nil
}

// everything runs each assignment once and returns the error of the model.
func (l lesson) everything(pool []assay.Config, run runner) (float64, error) {
	var runs []costmodel.Run
	for _, c := range pool {
		m := run(c)
		if m.ExitCode != 0 {
			continue
		}
		r, err := costmodel.Profile(c, m, 0)
		if err != nil {
			return 0, err
		}
		runs = append(runs, r)
	}
	m, err := costmodel.Fit(l.space, runs, nil, costmodel.Best)
	if err != nil {
		return 0, err
	}
	return l.test.mape(m), nil
}

// dataCells summarizes by data set and share. Duels of one set stand together. A pair in which a method
// has no model yet is left out; a share without pairs has no row.
func dataCells(duels []duel) []DataCell {
	var cells []DataCell
	for len(duels) > 0 {
		n := 1
		for n < len(duels) && duels[n].set == duels[0].set {
			n++
		}
		for k := range shares {
			if c, ok := dataCell(duels[:n], k); ok {
				cells = append(cells, c)
			}
		}
		duels = duels[n:]
	}
	return cells
}

// dataCell summarizes the duels of one set at the k-th share. Means of errors are
// geometric: programs differ in how well they can be predicted at all.
func dataCell(duels []duel, k int) (c DataCell, ok bool) {
	var auto, random, linear, ratio, all, autoRuns, randomRuns []float64
	names := map[string]bool{}
	for _, d := range duels {
		names[d.name] = true
		a, r := d.auto.errs[k], d.random.errs[k]
		if math.IsNaN(a) || math.IsNaN(r) {
			continue
		}
		auto, random = append(auto, math.Log(a)), append(random, math.Log(r))
		linear, all = append(linear, math.Log(d.linear.errs[k])), append(all, math.Log(d.all))
		ratio = append(ratio, math.Log(a/r))
		autoRuns, randomRuns = append(autoRuns, d.auto.runs[k]), append(randomRuns, d.random.runs[k])
	}
	if len(ratio) == 0 {
		return c, false
	}
	mean := func(logs []float64) float64 { return math.Exp(stats.Mean(logs)) }
	e := stats.MeanInterval(ratio, 0.95)
	return DataCell{
		Set: duels[0].set, Programs: len(names), Share: shares[k],
		Auto: mean(auto), Random: mean(random), Linear: mean(linear), All: mean(all),
		Ratio: math.Exp(e.Value), CI95: []float64{math.Exp(e.Low), math.Exp(e.High)},
		AutoRuns: stats.Mean(autoRuns), RandRuns: stats.Mean(randomRuns),
	}, true
}
