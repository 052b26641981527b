package setup

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/spec"
)

// This file is the table of searchers and of learners. A row has defaults only if they differ from the library's: an
// option of 0 leaves the value to the library.

// A Row is one allowed name of a table: a searcher, a stopping rule, a runner.
type Row struct {
	Name    string
	Summary string // one line, without a full stop
	Options []Option
}

// A searcher is a row of the table of searchers. declare declares its options and returns the constructor; it is
// called anew for each study.
type searcher struct {
	name, summary string
	declare       func(f *fields) newSearcher
}

// newSearcher makes a searcher of a space with the options that were read. It may be called more than once, for
// several spaces and seeds, from one goroutine at a time: the calls share the options of the row.
type newSearcher func(space *assay.Space, seed uint64) (assay.Searcher, error)

// searchers is the table of searchers: --search, search.name of a study file, and
// the methods of assay bench. To add one, add a row; see CONTRIBUTING.md.
func searchers() []searcher {
	return []searcher{
		{
			DefaultSearcher, "the best one known: a forest and a Gaussian process in turn, and the neighbours " +
				"of the best",
			declareAuto,
		},
		{"bayes", "Bayesian optimisation: a random forest and expected improvement", declareBayes},
		{"bliss", "Bayesian optimisation by a pool of light models, chosen by a bandit", declareBliss},
		{"random", "uniform draws without repetition", func(*fields) newSearcher {
			return simply(func(s *assay.Space, seed uint64) assay.Searcher { return search.NewRandom(s, seed) })
		}},
		{"grid", "every point in order, continuous parameters at a few levels", declareGrid},
		{"lhs", "a Latin hypercube of `trials` points, then random ones", declareLHS},
		{"sobol", "a scrambled Sobol sequence", func(*fields) newSearcher {
			return simply(func(s *assay.Space, seed uint64) assay.Searcher { return search.NewSobol(s, seed) })
		}},
		{"pro", "parallel rank ordering: direct search for noisy programs with ordered parameters", declarePRO},
		{"sro", "sequential rank ordering: like pro, but one point of a step decides", declareSRO},
		{"nm", "the simplex method of Nelder and Mead, a baseline", declareNelderMead},
		{"pso", "particle swarm optimisation: particles drawn to their own best run and the best of all", declarePSO},
		{"sa", "simulated annealing by several chains", declareAnneal},
		{
			"grasp", "greedy randomised construction by the mean results of each value, then local search",
			declareGRASP,
		},
		{"gps", "generalised pattern search: polls on a mesh that grows and shrinks", declareGPS},
		{
			FrontSearcher, "expected hypervolume improvement by forests and processes: auto with several objectives",
			declareFront,
		},
		{"nsga2", "the genetic algorithm NSGA-II, a baseline for several objectives", declareNSGA2},
		{LearningSearcher, "active learning of a cost model: the searcher of assay learn", declareNIMO},
	}
}

// Searchers with a part of their own.
const (
	// DefaultSearcher is the searcher of a study that names none.
	DefaultSearcher = "auto"
	// FrontSearcher is the default of a study with several objectives.
	FrontSearcher = "front"
	// OnlineSearcher is the default of an on-line study: the ranks evaluate its proposals in parallel, and it costs next
	// to nothing.
	OnlineSearcher = "pro"
	// LearningSearcher learns a cost model; see [Learned].
	LearningSearcher = "nimo"
)

// simply is a searcher that always can be made.
func simply(make func(*assay.Space, uint64) assay.Searcher) newSearcher {
	return func(s *assay.Space, seed uint64) (assay.Searcher, error) { return make(s, seed), nil }
}

func declareAuto(f *fields) newSearcher {
	o := search.AutoOptions{}
	f.initial(&o.Initial)
	penalized := f.limits()
	return simply(func(s *assay.Space, seed uint64) assay.Searcher {
		o.Seed = seed
		return penalized(search.NewAuto(s, o))
	})
}

// declareBayes imputes values for stopped runs unless the study has drop.
func declareBayes(f *fields) newSearcher {
	o := search.BayesOptions{Censored: true}
	f.initial(&o.Initial)
	name, stopped := "forest", "impute"
	f.word("learner", &name, Names(Learners())...)
	f.word("stopped", &stopped, "impute", "drop")
	penalized := f.limits()
	return simply(func(s *assay.Space, seed uint64) assay.Searcher {
		o.Seed, o.Learner = seed, newLearner(name, stopped == "drop", seed)
		return penalized(search.NewBayes(s, o))
	})
}

// declareBliss is Bliss with a pool of our lightest models.
func declareBliss(f *fields) newSearcher {
	o := search.BlissOptions{}
	f.initial(&o.Initial)
	penalized := f.penalty()
	return simply(func(s *assay.Space, seed uint64) assay.Searcher {
		o.Seed, o.Pool = seed, []assay.Learner{
			model.Forest{Trees: 30, Seed: seed},
			model.GP{Evaluations: 10, Seed: seed},
			model.Linear{Ridge: 1e-2},
			model.KNN{},
		}
		return penalized(search.NewBliss(s, o))
	})
}

// initial declares the number of runs before a searcher models or moves; without it the
// searcher has its own.
func (f *fields) initial(to *int) { f.int("initial", to, 1, 10_000) }

// penalty declares the factor of the worst value that a run which breaks a limit counts, and returns the wrapper that
// applies it. Without the option it changes nothing.
func (f *fields) penalty() func(assay.Searcher) assay.Searcher {
	factor := 0.0
	f.number("penalty", &factor, 1.01, 1e6)
	return func(s assay.Searcher) assay.Searcher {
		if factor > 0 {
			return search.Penalize(s, factor)
		}
		return s
	}
}

// limits declares how a searcher that can learn limits treats a run that breaks one: it learns from it, or counts it
// as the worst value, or as the penalty times the worst value. It returns the wrapper that applies this.
func (f *fields) limits() func(assay.Searcher) assay.Searcher {
	how := "learn"
	f.word("limits", &how, "learn", "worst")
	penalized := f.penalty()
	return func(s assay.Searcher) assay.Searcher {
		if how == "worst" {
			s = search.Unlearned(s)
		}
		return penalized(s)
	}
}

// declareGrid ignores the seed: a grid has one order.
func declareGrid(f *fields) newSearcher {
	o := search.GridOptions{}
	f.int("levels", &o.Levels, 2, 1000)
	return simply(func(s *assay.Space, _ uint64) assay.Searcher { return search.NewGrid(s, o) })
}

// declareLHS has 50 points unless the study sets another number.
func declareLHS(f *fields) newSearcher {
	points := 50
	f.int("points", &points, 1, 1_000_000)
	return simply(func(s *assay.Space, seed uint64) assay.Searcher { return search.NewLHS(s, points, seed) })
}

// simplex declares the options of the direct searches. Unlike the library they start
// again after a local minimum, as long as there is a budget.
func (f *fields) simplex() *search.SimplexOptions {
	o := &search.SimplexOptions{Size: 0.2, Restarts: -1, Remember: true}
	f.bool("minimal", &o.Minimal)
	f.number("size", &o.Size, 0.001, 1)
	f.int("restarts", &o.Restarts, -1, 1_000_000)
	return o
}

// rankOrdering declares the options of the rank ordering methods.
func (f *fields) rankOrdering() *search.SimplexOptions {
	o := f.simplex()
	f.bool("grow", &o.Grow)
	return o
}

func declarePRO(f *fields) newSearcher { return direct(f, f.rankOrdering(), search.NewPRO) }

// declareSRO has the options of pro.
func declareSRO(f *fields) newSearcher { return direct(f, f.rankOrdering(), search.NewSRO) }

// declareNelderMead has the options of pro except grow.
func declareNelderMead(f *fields) newSearcher { return direct(f, f.simplex(), search.NewNelderMead) }

// direct declares a direct search. The options are copied for each searcher that is made: a
// group of parameters has a seed of its own.
func direct[S assay.Searcher](
	f *fields, o *search.SimplexOptions, build func(*assay.Space, search.SimplexOptions) S,
) newSearcher {
	return f.grouped(func(s *assay.Space, seed uint64) assay.Searcher {
		o := *o
		o.Seed = seed
		return build(s, o)
	})
}

// The optimisers of Copper, whose search space JobPruner prunes (Silva et al. 2018,
// §3.3). They propose in batches.

func declarePSO(f *fields) newSearcher {
	o := search.PSOOptions{}
	f.int("particles", &o.Particles, 1, 10_000)
	f.number("inertia", &o.Inertia, 0.01, 1)
	f.number("pull", &o.Pull, 0.01, 4)
	return simply(func(s *assay.Space, seed uint64) assay.Searcher {
		o.Seed = seed
		return search.NewPSO(s, o)
	})
}

// declareAnneal has a least Hot that is above the default of Cold.
func declareAnneal(f *fields) newSearcher {
	o := search.AnnealOptions{}
	f.int("chains", &o.Chains, 1, 10_000)
	f.initial(&o.Initial)
	f.number("hot", &o.Hot, 0.01, 100)
	f.number("cooling", &o.Cooling, 0.01, 0.9999)
	return simply(func(s *assay.Space, seed uint64) assay.Searcher {
		o.Seed = seed
		return search.NewAnneal(s, o)
	})
}

func declareGRASP(f *fields) newSearcher {
	o := search.GRASPOptions{}
	f.initial(&o.Initial)
	f.number("alpha", &o.Alpha, 0.001, 1)
	return simply(func(s *assay.Space, seed uint64) assay.Searcher {
		o.Seed = seed
		return search.NewGRASP(s, o)
	})
}

func declareGPS(f *fields) newSearcher {
	o := search.GPSOptions{}
	f.initial(&o.Initial)
	f.number("mesh", &o.Mesh, 1.0/64, 1)
	return simply(func(s *assay.Space, seed uint64) assay.Searcher {
		o.Seed = seed
		return search.NewGPS(s, o)
	})
}

// A learner is a row of the table of learners: surrogates of the searcher bayes.
type learner struct {
	name, summary string
	censored      bool // it uses runs that were stopped as they are
	make          func(seed uint64) assay.Learner
}

// learners is the table of learners: the option learner of bayes. To add one, add a row; see CONTRIBUTING.md.
func learners() []learner {
	always := func(l assay.Learner) func(uint64) assay.Learner {
		return func(uint64) assay.Learner { return l }
	}
	interpolate := func(by model.Interpolant) func(uint64) assay.Learner {
		return func(seed uint64) assay.Learner { return model.Interpolate{By: by, Seed: seed} }
	}
	return []learner{
		// 30 trees are as good as 60 on the recorded tables, within noise, and keep a
		// proposal below 15 ms after 100 trials.
		{"forest", "a random forest of 30 trees", false, func(seed uint64) assay.Learner {
			return model.Forest{Trees: 30, Seed: seed}
		}},
		{"gp", "a Gaussian process with a Matérn kernel", false, func(seed uint64) assay.Learner {
			return model.GP{Seed: seed}
		}},
		{"mlp", "networks with a Tobit loss, which use stopped runs as they are", true, func(seed uint64) assay.Learner {
			return model.MLP{Seed: seed}
		}},
		{"boost", "gradient boosting of trees", false, always(model.Boost{})},
		{"knn", "the mean of the five nearest runs", false, always(model.KNN{})},
		{"linear", "linear regression with a small ridge", false, always(model.Linear{Ridge: 1e-3})},
		{"multilinear", "multilinear interpolation, no standard deviation", false, interpolate(model.Multilinear)},
		{"cubic", "cubic interpolation, no standard deviation", false, interpolate(model.Cubic)},
		{"spline", "interpolation by splines, no standard deviation", false, interpolate(model.Spline)},
	}
}

// newLearner returns a learner of the table. Runs that were stopped early are dropped
// (Cello), or enter as they are where the learner can use them, and else with their
// imputed values (Hutter et al. 2013).
// The name must be in the table.
func newLearner(name string, drop bool, seed uint64) assay.Learner {
	l, _ := find(learners(), name, func(l learner) string { return l.name })
	switch made := l.make(seed); {
	case drop:
		return model.DropCensored(made)
	case l.censored:
		return made
	default:
		return model.Impute(made, 0)
	}
}

// readSearcher returns the constructor of the searcher of a study, without wrappers. All errors are of the class
// usage. It makes nothing: a call of the result shows whether the options fit the space.
func readSearcher(def *spec.Study) (newSearcher, error) {
	name := def.Search.Name
	if name == "" {
		name = DefaultSearcher
	}
	row, ok := find(searchers(), name, func(s searcher) string { return s.name })
	if !ok {
		return nil, usagef("%sno searcher %q (there are %s)", def.At("search.name"), name, list(Searchers()))
	}
	f := &fields{def: def, at: "search", values: def.Search.Options}
	makes := row.declare(f)
	if err := f.unknown("searcher " + name); err != nil {
		return nil, err
	}
	return makes, f.err
}

// NewSearcher returns the searcher of that name with its default options, and without
// the wrappers that a study has. An unknown name is an error of the class usage.
func NewSearcher(name string, space *assay.Space, seed uint64) (assay.Searcher, error) {
	makes, err := readSearcher(&spec.Study{Search: spec.Method{Name: name}})
	if err != nil {
		return nil, err
	}
	return makes(space, seed)
}
