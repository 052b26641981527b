package nimo

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/study"
)

// Options set the repetitions and the pool. The results do not depend on the pool.
type Options struct {
	Seeds int    // repetitions, at least 1
	Seed  uint64 // of the first
	Pool  bench.Pool
	// Random draws the external test set from all assignments. Without it, those with fewer than two
	// attributes between their ends are not in it, so that every design can be run as it is.
	Random bool
}

// An Entry is one simulated program learned in one way.
type Entry struct {
	Experiment string
	Method     string

	program    program
	options    costmodel.Options
	everything bool // run all assignments, then fit
}

// Program returns the name of the program.
func (e Entry) Program() string { return e.program.name }

// A Cell is one row of the result, in the shape of `assay-lab nimo --json`. Times are
// in minutes, errors in percent, both medians over the repetitions.
type Cell struct {
	Experiment string `json:"experiment"`
	Program    string `json:"program"`
	Method     string `json:"method"`
	// Errors are the MAPE on the external test set after the runs of a number of minutes, at Minutes; null
	// before there is a model.
	Minutes []float64  `json:"minutes"`
	Errors  []*float64 `json:"errors"`
	// To10 is when the error first falls to 10 %; null if it does not in half of
	// the repetitions or more. WithoutScreening leaves out the runs that only
	// order predictors and attributes, or test.
	To10             *float64 `json:"minutes_to_10"`
	WithoutScreening *float64 `json:"minutes_to_10_without_screening"`
	Runs10           *float64 `json:"runs_to_10"`
	Final            float64  `json:"final_error"`
	FinalMinutes     float64  `json:"final_minutes"`
	FinalRuns        float64  `json:"final_runs"`
}

// grid are the minutes at which curves are printed.
var grid = []float64{60, 120, 240, 360, 480, 600, 720, 960, 1200, 1500, 2000}

// Experiments returns the entries of several experiments, in their order.
func Experiments(names []string) ([]Entry, error) {
	var all []Entry
	for _, name := range names {
		es, err := experiment(name)
		if err != nil {
			return nil, err
		}
		all = append(all, es...)
	}
	return all, nil
}

// experiment returns the entries of one experiment. In each, the alternatives
// of one step of Algorithm 1 are compared on BLAST with the defaults for all others.
func experiment(name string) ([]Entry, error) {
	blast := programs()[0]
	var es []Entry
	add := func(method string, p costmodel.Published) {
		p.KnownDataFlow = true // §4.1
		o := costmodel.Options{Published: &p}
		es = append(es, Entry{Experiment: name, program: blast, Method: method, options: o})
	}
	static := []costmodel.Part{costmodel.Disk, costmodel.Compute, costmodel.Network}
	switch name {
	case "reference":
		add("Min", costmodel.Published{})
		add("Max", costmodel.Published{Reference: costmodel.Max})
		add("Rand", costmodel.Published{Reference: costmodel.Rand})
	case "predictors":
		add("round-robin, f_d f_a f_n", costmodel.Published{Predictors: static})
		add("improvement, f_d f_a f_n", costmodel.Published{Predictors: static, Traversal: costmodel.Improvement})
		add("improvement, by relevance", costmodel.Published{Traversal: costmodel.Improvement})
		add("dynamic", costmodel.Published{Traversal: costmodel.Dynamic})
	case "attributes":
		add("by relevance", costmodel.Published{})
		add("wrong static order", costmodel.Published{Attributes: map[costmodel.Part][]string{
			costmodel.Compute: {"rtt", "memory", "cpu"},
			costmodel.Network: {"cpu", "memory", "rtt"},
			costmodel.Disk:    {"cpu", "memory", "rtt"},
		}})
	case "samples":
		add("Lmax-I1", costmodel.Published{})
		add("L2-I2", costmodel.Published{Design: costmodel.L2I2})
		add("Lmax-Imax", costmodel.Published{Design: costmodel.LMaxIMax})
		add("Lmax-I2 (ours)", costmodel.Published{Design: costmodel.LMaxI2})
	case "error":
		ways := []costmodel.ErrorEstimate{costmodel.CrossValidation, costmodel.RandomSet, costmodel.DesignedSet}
		for _, e := range ways {
			add(e.String(), costmodel.Published{Error: e, Traversal: costmodel.Dynamic})
		}
	case "table2":
		for _, p := range programs() {
			auto := costmodel.Options{Target: 10}
			defaults := costmodel.Options{Target: 10, Published: &costmodel.Published{KnownDataFlow: true}}
			es = append(es,
				Entry{Experiment: name, program: p, Method: "auto", options: auto},
				Entry{Experiment: name, program: p, Method: "defaults", options: defaults},
				Entry{Experiment: name, program: p, Method: "all at once", everything: true})
		}
	case "regression":
		for _, r := range []costmodel.Regression{costmodel.Best, costmodel.Smooth, costmodel.Pairs, costmodel.Linear} {
			o := costmodel.Options{Regression: r}
			es = append(es, Entry{Experiment: name, program: blast, Method: "auto, " + r.String(), options: o})
		}
	default:
		return nil, fmt.Errorf("no experiment %q (there are reference, predictors, attributes, samples, error, "+
			"regression, table2)", name)
	}
	return es, nil
}

// Measure repeats one entry. Repetition i of every entry has the same noise and the
// same test set, whose noise-free times are compared with the predictions.
func (e Entry) Measure(ctx context.Context, o Options) (Cell, error) {
	curves := make([][]point, o.Seeds)
	err := o.Pool.Each(ctx, o.Seeds, func(ctx context.Context, _, i int) (err error) {
		curves[i], err = e.curve(ctx, o.Seed+uint64(i), o.Random)
		return err
	})
	if err != nil {
		return Cell{}, err
	}
	return e.summarize(curves), nil
}

// curve learns once.
func (e Entry) curve(ctx context.Context, seed uint64, random bool) ([]point, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	all := e.program.space()
	test := testSet{configs: externalTestSet(all, rng, random)}
	for _, c := range test.configs {
		test.truth = append(test.truth, e.program.run(all, c, nil).Elapsed.Seconds())
	}
	space, err := without(all, test.configs)
	if err != nil {
		return nil, err
	}
	run := func(c assay.Config) assay.Measurement { return e.program.run(space, c, rng) }
	if e.everything {
		return atOnce(space, run, test)
	}
	o := e.options
	o.Seed = seed
	most := 60
	if o.Published == nil {
		most = 30
	}
	w := &watched{ActiveLearner: costmodel.NewActiveLearner(space, o), test: test}
	if _, err := play(ctx, space, w, run, study.Budget{Trials: most}); err != nil {
		return nil, err
	}
	return w.curve, nil
}

// atOnce runs every assignment and fits the model that the paper compares with
// (Table 2): a curve of one point. Nothing is decided on the way, so it is no search.
func atOnce(space *assay.Space, run runner, test testSet) ([]point, error) {
	var runs []costmodel.Run
	var minutes float64
	for c := range space.All() {
		r, err := costmodel.Profile(c, run(c), 0)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
		minutes += r.Seconds / 60
	}
	model, err := costmodel.Fit(space, runs, nil, costmodel.Linear)
	if err != nil {
		return nil, err
	}
	return []point{{minutes, minutes, len(runs), test.mape(model)}}, nil
}

// externalTestSet draws 30 assignments at random, or a third of them, that are never run. Unless random,
// it draws no corner and no assignment that differs from one in one attribute, so that every design can
// be run; with random, designs have the assignments nearest to the held-out ones.
func externalTestSet(space *assay.Space, rng *rand.Rand, random bool) []assay.Config {
	var test []assay.Config
	n := space.Size().N
	for _, i := range rng.Perm(int(n)) {
		c := space.At(int64(i))
		inside := 0
		for k, p := range space.Params {
			if c[k] > 0 && c[k] < float64(len(p.Levels)-1) {
				inside++
			}
		}
		if (random || inside >= 2) && len(test) < min(30, int(n)/4) {
			test = append(test, c)
		}
	}
	return test
}

// without returns the space less some configurations.
func without(space *assay.Space, test []assay.Config) (*assay.Space, error) {
	held := map[string]bool{}
	for _, c := range test {
		held[c.Key()] = true
	}
	params := make([]int, space.Dim())
	for i := range params {
		params[i] = i
	}
	return assay.NewSpace(space.Params, assay.Relation{
		Text: "not in the external test set", Params: params,
		Holds: func(c assay.Config) bool { return !held[c.Key()] },
	})
}

// summarize takes medians over the repetitions, one curve each.
func (e Entry) summarize(curves [][]point) Cell {
	c := Cell{Experiment: e.Experiment, Program: e.program.name, Method: e.Method, Minutes: grid}
	for _, minutes := range grid {
		var errs []float64
		for _, curve := range curves {
			if x := at(curve, minutes); !math.IsNaN(x) {
				errs = append(errs, x)
			}
		}
		c.Errors = append(c.Errors, medianOf(errs, len(curves)))
	}
	var to, without, runs []float64
	var final, minutes, count []float64
	for _, curve := range curves {
		if p := reaches(curve, 10); p != nil {
			to, without = append(to, p.minutes), append(without, p.training)
			runs = append(runs, float64(p.runs))
		}
		last := curve[len(curve)-1]
		final, minutes = append(final, last.error), append(minutes, last.minutes)
		count = append(count, float64(last.runs))
	}
	n := len(curves)
	c.To10, c.WithoutScreening, c.Runs10 = medianOf(to, n), medianOf(without, n), medianOf(runs, n)
	c.Final, c.FinalMinutes, c.FinalRuns = stats.Median(final), stats.Median(minutes), stats.Median(count)
	return c
}

// medianOf returns the median of n values. x holds those that were measured; each
// missing one counts as +Inf. It returns nil if the median itself is missing.
func medianOf(x []float64, n int) *float64 {
	x = append(slices.Clone(x), slices.Repeat([]float64{math.Inf(1)}, n-len(x))...)
	m := stats.Median(x)
	if math.IsInf(m, 0) || math.IsNaN(m) {
		return nil
	}
	return &m
}
