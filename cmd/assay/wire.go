package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stats"
	"github.com/assay-run/assay/stop"
	"github.com/assay-run/assay/store"
)

// This file names every searcher, learner, stopper, estimator and method of the
// command line. To add one, add a line here; see CONTRIBUTING.md.

// A searcherEntry makes a searcher. keys are the options that it reads.
type searcherEntry struct {
	name, summary string
	keys          []string
	make          func(space *assay.Space, seed uint64, o *options) (assay.Searcher, error)
}

func searchers() []searcherEntry {
	bayesKeys := []string{"initial", "learner", "stopped", "penalty"}
	return []searcherEntry{
		{"auto", "the best that we know: a forest and a Gaussian process in turn, and the neighbours of the best", []string{"initial", "penalty"}, newAuto},
		{"bayes", "Bayesian optimisation: a random forest and expected improvement", bayesKeys, newBayes},
		{"bliss", "Bayesian optimisation by a pool of light models, chosen by a bandit", []string{"initial", "penalty"}, newBliss},
		{"random", "uniform draws without repetition", nil, func(s *assay.Space, seed uint64, _ *options) (assay.Searcher, error) {
			return search.NewRandom(s, seed), nil
		}},
		{"grid", "every point in order, continuous parameters at a few levels", []string{"levels"}, func(s *assay.Space, _ uint64, o *options) (assay.Searcher, error) {
			return search.NewGrid(s, search.GridOptions{Levels: o.int("levels", 0, 2, 1000)}), nil
		}},
		{"lhs", "a Latin hypercube of `trials` points, then random ones", []string{"points"}, func(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
			return search.NewLHS(s, o.int("points", 50, 1, 1_000_000), seed), nil
		}},
		{"sobol", "a scrambled Sobol sequence", nil, func(s *assay.Space, seed uint64, _ *options) (assay.Searcher, error) {
			return search.NewSobol(s, seed), nil
		}},
		{"pro", "parallel rank ordering: direct search for noisy programs with ordered parameters", rankKeys(), newPRO},
		{"sro", "sequential rank ordering: one point decides where pro asks all", rankKeys(), newSRO},
		{"nm", "the simplex method of Nelder and Mead, a baseline", simplexKeys(), newNelderMead},
		{"pso", "particle swarm optimisation: particles drawn to their own best run and the best of all", []string{"particles", "inertia", "pull"}, newPSO},
		{"sa", "simulated annealing by several chains", []string{"chains", "initial", "hot", "cooling"}, newAnneal},
		{"grasp", "greedy randomised construction from what the runs say of each value, then local search", []string{"initial", "alpha"}, newGRASP},
		{"gps", "generalised pattern search: polls on a mesh that grows and shrinks", []string{"initial", "mesh"}, newGPS},
		{nimo, "active learning of a cost model: what assay learn uses", nimoKeys(), newNIMO},
	}
}

// newAuto returns the default searcher.
func newAuto(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	return penalized(search.NewAuto(s, search.AutoOptions{Seed: seed, Initial: o.int("initial", 0, 1, 10_000)}), o), nil
}

// newBayes returns Bayesian optimisation with a learner by name.
func newBayes(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	learner, err := newLearner(o.text("learner", "forest"), o.text("stopped", "impute"), seed)
	if err != nil {
		return nil, err
	}
	return penalized(search.NewBayes(s, search.BayesOptions{
		Learner: learner, Seed: seed, Initial: o.int("initial", 0, 1, 10_000), Censored: true,
	}), o), nil
}

// newBliss returns Bliss with a pool of our lightest models.
func newBliss(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	return penalized(search.NewBliss(s, search.BlissOptions{
		Pool: []assay.Learner{
			model.Forest{Trees: 30, Seed: seed},
			model.GP{Evaluations: 10, Seed: seed},
			model.Linear{Ridge: 1e-2},
			model.KNN{},
		},
		Seed: seed, Initial: o.int("initial", 0, 1, 10_000),
	}), o), nil
}

// penalized gives runs that break a limit a very large value, if the option says
// how many times the worst one.
func penalized(s assay.Searcher, o *options) assay.Searcher {
	if factor := o.number("penalty", 0, 1.01, 1e6); factor > 0 {
		return search.Penalize(s, factor)
	}
	return s
}

// learners are the surrogates by name.
func learners() []string {
	return []string{"forest", "gp", "mlp", "boost", "knn", "linear", "multilinear", "cubic", "spline"}
}

// newLearner returns a learner by name. Runs that were stopped early enter with
// their imputed values (Hutter et al. 2013), or as they are where the learner
// can use them, or are dropped (Cello).
func newLearner(name, stopped string, seed uint64) (assay.Learner, error) {
	var l assay.Learner
	switch name {
	case "forest":
		l = bayesForest(seed)
	case "gp":
		l = model.GP{Seed: seed}
	case "mlp":
		l = model.MLP{Seed: seed}
	case "boost":
		l = model.Boost{}
	case "knn":
		l = model.KNN{}
	case "linear":
		l = model.Linear{Ridge: 1e-3}
	case "multilinear":
		l = model.Interpolate{By: model.Multilinear, Seed: seed}
	case "cubic":
		l = model.Interpolate{By: model.Cubic, Seed: seed}
	case "spline":
		l = model.Interpolate{By: model.Spline, Seed: seed}
	default:
		return nil, usagef("no learner %q (there are %s)", name, strings.Join(learners(), ", "))
	}
	switch {
	case stopped == "drop":
		return model.DropCensored(l), nil
	case stopped != "impute":
		return nil, usagef("search option stopped: %q is neither impute nor drop", stopped)
	case name == "mlp":
		return l, nil
	}
	return model.Impute(l, 0), nil
}

// A stopperEntry makes an early-termination rule. keys are the options that it
// reads.
type stopperEntry struct {
	name, summary string
	keys          []string
	make          func(space *assay.Space, seed uint64, o *options) assay.Stopper
}

func stoppers() []stopperEntry {
	always := func(s assay.Stopper) func(*assay.Space, uint64, *options) assay.Stopper {
		return func(*assay.Space, uint64, *options) assay.Stopper { return s }
	}
	return []stopperEntry{
		{"auto", "incumbent, and the first runs at a share of the budget, where the searcher learns from stopped runs and time is what is limited; else none", nil, newAutoStop},
		{"none", "every run goes on to its end", nil, always(nil)},
		{"static", "a run stops at the value of the first trial", nil, always(stop.Static{})},
		{"incumbent", "a run stops at the value of the best trial so far", nil, always(stop.Incumbent{})},
		{"predictive", "a run stops when it is predicted to end no better than the best", []string{"model", "after", "confidence", "audit"}, newPredictive},
	}
}

// newPredictive returns Cello's rule: a censored regression, or with model boost
// the standard one of its BO-GB.
func newPredictive(space *assay.Space, seed uint64, o *options) assay.Stopper {
	p := stop.PredictiveOptions{
		After: o.int("after", 0, 1, 10_000), Confidence: o.number("confidence", 0, 0, 0.999), Audit: o.number("audit", 0, 0, 0.999), Seed: seed,
	}
	switch m := o.text("model", "aft"); m {
	case "aft":
	case "boost":
		p.Learner, p.Standard = model.Boost{}, true
	default:
		o.flaw("model", "%q is neither aft nor boost", m)
	}
	return stop.NewPredictive(space, p)
}

// estimators reduce the values of repeated runs to one.
func estimators() map[string]func([]float64) float64 {
	return map[string]func([]float64) float64{"min": slices.Min[[]float64], "median": stats.Median, "mean": stats.Mean}
}

// A methodEntry is a named row of `assay bench`: a searcher with its stopper,
// and their options.
type methodEntry struct {
	name, summary string
	searcher      string
	search        map[string]any
	stopper       string
	stop          map[string]any
}

func methods() []methodEntry {
	// Runs that were stopped are dropped, and those that break a limit get a
	// very large value (Cello, Algorithm 1, lines 14 and 22).
	drop := map[string]any{"stopped": "drop", "penalty": 10.0}
	impute := map[string]any{"stopped": "impute", "penalty": 10.0}
	neural := map[string]any{"learner": "mlp", "penalty": 10.0}
	// The initial design of bo, ten runs, is measured in full.
	plain := map[string]any{"after": 10.0}
	boost := map[string]any{"after": 10.0, "model": "boost"}
	guard := map[string]any{"after": 10.0, "confidence": 0.9}
	return []methodEntry{
		{"rs", "random configurations (Cello §4.3)", "random", nil, "none", nil},
		{"bo", "Bayesian optimisation with a random forest (§4.3)", "bayes", drop, "none", nil},
		{"bo-st", "bo, runs stopped at the first one's value and dropped (§4.3)", "bayes", drop, "static", nil},
		{"bo-tc", "bo, runs stopped at the best one's value and dropped (§4.3)", "bayes", drop, "incumbent", nil},
		{"bo-im", "bo-tc, but stopped runs are imputed (Hutter et al. 2013)", "bayes", impute, "incumbent", nil},
		{"bo-nn", "bo-st with networks and a Tobit loss (Eggensperger et al. 2020)", "bayes", neural, "static", nil},
		{"bo-gb", "bo, runs stopped by standard regression and dropped (§4.3)", "bayes", drop, "predictive", boost},
		{"bliss", "a pool of light models and a bandit (Roy et al. 2021)", "bliss", map[string]any{"penalty": 10.0}, "none", nil},
		{"cello", "bo, runs stopped by censored regression with a margin, and dropped", "bayes", drop, "predictive", guard},
		{"cello-im", "cello, but stopped runs are imputed", "bayes", impute, "predictive", guard},
		{"cello-plain", "cello without the margin, as Algorithm 1 is printed", "bayes", drop, "predictive", plain},
		{"auto", "the default of assay tune", "auto", nil, "auto", nil},
		{"random", "rs", "random", nil, "none", nil},
		{"random-tc", "rs, runs stopped at the best one's value", "random", nil, "incumbent", nil},
		{"lhs", "a Latin hypercube", "lhs", nil, "none", nil},
		{"sobol", "a Sobol sequence", "sobol", nil, "none", nil},
		{"grid", "every point in order", "grid", nil, "none", nil},
		{"bayes", "the searcher bayes as it is", "bayes", nil, "none", nil},
		{"bayes-tc", "bayes, runs stopped at the best one's value", "bayes", nil, "incumbent", nil},
		{"pro", "parallel rank ordering (Tabatabaee et al. 2005, Algorithm 2)", "pro", nil, "none", nil},
		{"sro", "sequential rank ordering (Algorithm 1)", "sro", nil, "none", nil},
		{"nm", "Nelder and Mead's simplex method (§3.1)", "nm", nil, "none", nil},
		{"pso", "particle swarm optimisation (Clerc and Kennedy 2002)", "pso", nil, "none", nil},
		{"sa", "simulated annealing (Kirkpatrick et al. 1983)", "sa", nil, "none", nil},
		{"grasp", "greedy randomised adaptive search (Feo and Resende 1995)", "grasp", nil, "none", nil},
		{"gps", "generalised pattern search (Torczon 1997)", "gps", nil, "none", nil},
	}
}

// newSearcher returns the searcher of a study with its wrappers: the defaults
// first, no configuration twice, and repeated runs.
func newSearcher(st *config.Study, space *assay.Space, first []assay.Config) (assay.Searcher, error) {
	return newSearcherAround(st, space, first, nil)
}

// newSearcherAround is newSearcher with a wrapper, nil for none, next to the
// algorithm.
func newSearcherAround(st *config.Study, space *assay.Space, first []assay.Config, wrap func(assay.Searcher) (assay.Searcher, error)) (assay.Searcher, error) {
	name := st.Search.Name
	if name == "" {
		name = "auto"
	}
	i := slices.IndexFunc(searchers(), func(e searcherEntry) bool { return e.name == name })
	if i < 0 {
		return nil, usagef("%sno searcher %q (there are %s)", place(st, "search.name"), name, names(searchers(), func(e searcherEntry) string { return e.name }))
	}
	e := searchers()[i]
	for key := range st.Search.Options {
		if !slices.Contains(e.keys, key) {
			return nil, usagef("%ssearcher %s has no option %q (it has %s)", place(st, "search."+key), name, key, orNone(e.keys))
		}
	}
	o := &options{st: st, m: st.Search.Options, at: "search"}
	s, err := e.make(space, st.Search.Seed, o)
	if err = cmp.Or(o.err, err); err != nil {
		return nil, err
	}
	learner, learns := assay.As[*costmodel.ActiveLearner](s)
	if wrap != nil {
		if s, err = wrap(s); err != nil {
			return nil, err
		}
	}
	if len(first) > 0 {
		s = search.First(s, first...)
	}
	if s = repeated(search.Cache(s), st.Repeat); learns {
		s = learner.Around(s)
	}
	return s, nil
}

// newStopper returns the stopper of that name; "" means auto. It is nil if no
// run is to be stopped.
func newStopper(st *config.Study, space *assay.Space) (assay.Stopper, error) {
	name := st.Stop.Rule
	if name == "" {
		name = "auto"
	}
	// A run that is stopped teaches less than one that is not. Where the budget
	// counts runs alone, each is to teach as much as it can.
	byTrials := st.Budget.Trials > 0 && st.Budget.Time == 0
	if name == "auto" && (byTrials || !learnsCensored(st.Search.Name)) {
		name = "none"
	}
	i := slices.IndexFunc(stoppers(), func(e stopperEntry) bool { return e.name == name })
	if i < 0 {
		return nil, usagef("%sno stopping rule %q (there are %s)", place(st, "stop.rule"), name, names(stoppers(), func(e stopperEntry) string { return e.name }))
	}
	e := stoppers()[i]
	for key := range st.Stop.Options {
		if !slices.Contains(e.keys, key) {
			return nil, usagef("%sstopping rule %s has no option %q (it has %s)", place(st, "stop."+key), name, key, orNone(e.keys))
		}
	}
	o := &options{st: st, m: st.Stop.Options, at: "stop"}
	s := e.make(space, st.Search.Seed, o)
	return s, o.err
}

// noiseMargin is how far above the best a run of a command may get before auto
// stops it: runs of one configuration differ by some per cent.
const noiseMargin = 0.1

// openingShare is the part of the time budget that the first run may take.
const openingShare = 20

// newAutoStop returns the rule incumbent, with a margin for the noise of a
// command; recorded tables are taken as they are. The first runs are bounded by
// their share of the time budget, unless they begin with a default: that one is
// what everything is compared with.
func newAutoStop(space *assay.Space, _ uint64, o *options) assay.Stopper {
	rule := stop.Incumbent{}
	if len(o.st.Command) > 0 {
		rule.Margin = noiseMargin
	}
	if _, given, err := o.st.Default(space); given || err != nil {
		return rule
	}
	return stop.Opening{Rule: rule, Limit: o.st.Budget.Time / openingShare}
}

// learnsCensored reports whether a searcher learns from runs that were stopped.
func learnsCensored(searcher string) bool {
	return searcher == "" || searcher == "auto" || searcher == "bayes"
}

// A closer is a store that holds a file.
type storeHandle struct {
	assay.Store
	store.Projector
	path  string // "" for memory
	close func() error
}

// openStore opens the store of a --store flag: a path, "memory", or "" for the
// default.
func openStore(ctx context.Context, at string) (*storeHandle, error) {
	if at == "memory" {
		m := store.NewMem()
		return &storeHandle{m, m, "", func() error { return nil }}, nil
	}
	if scheme, _, ok := strings.Cut(at, "://"); ok {
		return nil, usagef("--store %s: no store of kind %q (give a path, or memory)", at, scheme)
	}
	if at == "" {
		path, err := store.DefaultPath()
		if err != nil {
			return nil, err
		}
		at = path
	}
	s, err := store.OpenSQLite(ctx, at, store.Options{})
	if err != nil {
		return nil, unopened(err)
	}
	return &storeHandle{s, s, at, s.Close}, nil
}

// readStore is openStore for commands that only look: where there is no store,
// none is made, and they see an empty one.
func readStore(ctx context.Context, at string) (*storeHandle, error) {
	path := at
	if at == "" {
		var err error
		if path, err = store.DefaultPath(); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !strings.Contains(at, "://") {
		return openStore(ctx, "memory")
	}
	return openStore(ctx, at)
}

// options reads the options of a searcher or a stopper; the first flaw stays in
// err.
type options struct {
	st  *config.Study
	m   map[string]any
	at  string // where they are in the study: "search" or "stop"
	err error
}

func (o *options) flaw(key, format string, args ...any) {
	if o.err == nil {
		o.err = usagef("%s%s option %s: %s", place(o.st, o.at+"."+key), o.at, key, fmt.Sprintf(format, args...))
	}
}

func (o *options) int(key string, def, lo, hi int) int {
	v, ok := o.m[key]
	if !ok {
		return def
	}
	x, ok := v.(float64)
	if !ok || x != math.Trunc(x) || x < float64(lo) || x > float64(hi) {
		o.flaw(key, "%v is not a whole number from %d to %d", v, lo, hi)
		return def
	}
	return int(x)
}

// number is def if there is no such option, and else from lo to hi.
func (o *options) number(key string, def, lo, hi float64) float64 {
	v, ok := o.m[key]
	if !ok {
		return def
	}
	x, ok := v.(float64)
	if !ok || !(x >= lo && x <= hi) {
		o.flaw(key, "%v is not a number from %v to %v", v, lo, hi)
		return def
	}
	return x
}

func (o *options) text(key, def string) string {
	v, ok := o.m[key]
	if !ok {
		return def
	}
	return fmt.Sprint(v)
}

// place returns "FILE:LINE:COLUMN: " of a piece of a study file, or "".
func place(st *config.Study, path string) string {
	if p := st.Place(path); p != "" {
		return p + ": "
	}
	return ""
}

func names[E any](list []E, name func(E) string) string {
	var s []string
	for _, e := range list {
		s = append(s, name(e))
	}
	return strings.Join(s, ", ")
}

func orNone(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	return strings.Join(keys, ", ")
}

// bayesForest is the surrogate of bayes: 30 trees are as good as 60 on the
// recorded tables, within noise, and keep a proposal below 15 ms after 100 trials.
func bayesForest(seed uint64) assay.Learner { return model.Forest{Trees: 30, Seed: seed} }
