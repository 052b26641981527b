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
	return []searcherEntry{
		{"auto", "the best that we know: bayes", []string{"initial", "learner"}, newBayes},
		{"bayes", "Bayesian optimisation: a random forest and expected improvement", []string{"initial", "learner"}, newBayes},
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
	}
}

// newBayes returns Bayesian optimisation with a learner by name. Runs that were
// stopped early enter with their imputed values (Hutter et al. 2013).
func newBayes(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	learner, err := newLearner(o.text("learner", "forest"), seed)
	if err != nil {
		return nil, err
	}
	return search.NewBayes(s, search.BayesOptions{
		Learner: learner, Seed: seed, Initial: o.int("initial", 0, 1, 10_000), Censored: true,
	}), nil
}

// learners are the surrogates by name.
func learners() []string { return []string{"forest", "knn", "linear"} }

func newLearner(name string, seed uint64) (assay.Learner, error) {
	switch name {
	case "forest":
		return model.Impute(bayesForest(seed), 0), nil
	case "knn":
		return model.DropCensored(model.KNN{}), nil
	case "linear":
		return model.DropCensored(model.Linear{Ridge: 1e-3}), nil
	}
	return nil, usagef("no learner %q (there are %s)", name, strings.Join(learners(), ", "))
}

// A stopperEntry is an early-termination rule.
type stopperEntry struct {
	name, summary string
	stopper       assay.Stopper // nil never stops
}

func stoppers() []stopperEntry {
	return []stopperEntry{
		{"auto", "incumbent, where the searcher learns from stopped runs and the metric can only grow", stop.Incumbent{}},
		{"none", "every run goes on to its end", nil},
		{"static", "a run stops at the value of the first trial", stop.Static{}},
		{"incumbent", "a run stops at the value of the best trial so far", stop.Incumbent{}},
	}
}

// estimators reduce the values of repeated runs to one.
func estimators() map[string]func([]float64) float64 {
	return map[string]func([]float64) float64{"min": slices.Min[[]float64], "median": stats.Median, "mean": stats.Mean}
}

// A methodEntry is a named row of `assay bench`: a searcher with its stopper.
type methodEntry struct {
	name, searcher, stopper string
}

func methods() []methodEntry {
	return []methodEntry{
		{"rs", "random", "none"},
		{"random", "random", "none"},
		{"random-tc", "random", "incumbent"},
		{"lhs", "lhs", "none"},
		{"sobol", "sobol", "none"},
		{"grid", "grid", "none"},
		{"bo", "bayes", "none"},
		{"bayes", "bayes", "none"},
		{"bayes-tc", "bayes", "incumbent"},
		{"auto", "auto", "auto"},
	}
}

// newSearcher returns the searcher of a study with its wrappers: the defaults
// first, no configuration twice, and repeated runs.
func newSearcher(st *config.Study, space *assay.Space, first []assay.Config) (assay.Searcher, error) {
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
	o := &options{st: st, m: st.Search.Options}
	s, err := e.make(space, st.Search.Seed, o)
	if err = cmp.Or(o.err, err); err != nil {
		return nil, err
	}
	if len(first) > 0 {
		s = search.First(s, first...)
	}
	if st.Repeat.Runs <= 1 {
		return search.Cache(s), nil
	}
	estimator := st.Repeat.Estimator
	if estimator == "" {
		estimator = "min"
	}
	return search.Replicate(search.Cache(s), st.Repeat.Runs, estimators()[estimator]), nil
}

// newStopper returns the stopper of that name; "" means auto.
func newStopper(st *config.Study) (assay.Stopper, error) {
	name := st.Stop.Rule
	if name == "" {
		name = "auto"
	}
	if name == "auto" && !learnsCensored(st.Search.Name) {
		name = "none"
	}
	i := slices.IndexFunc(stoppers(), func(e stopperEntry) bool { return e.name == name })
	if i < 0 {
		return nil, usagef("%sno stopping rule %q (there are %s)", place(st, "stop.rule"), name, names(stoppers(), func(e stopperEntry) string { return e.name }))
	}
	return stoppers()[i].stopper, nil
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
		return nil, err
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

// options reads the options of a searcher; the first flaw stays in err.
type options struct {
	st  *config.Study
	m   map[string]any
	err error
}

func (o *options) int(key string, def, lo, hi int) int {
	v, ok := o.m[key]
	if !ok {
		return def
	}
	x, ok := v.(float64)
	if !ok || x != math.Trunc(x) || x < float64(lo) || x > float64(hi) {
		if o.err == nil {
			o.err = usagef("%ssearch option %s: %v is not a whole number from %d to %d", place(o.st, "search."+key), key, v, lo, hi)
		}
		return def
	}
	return int(x)
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

// bayesForest is the surrogate of bayes.
func bayesForest(seed uint64) assay.Learner { return model.Forest{Trees: 60, Seed: seed} }
