package setup

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
)

// A Method is a way to search that can be compared with others: a searcher and a
// stopping rule, with their options.
type Method struct {
	Name, Summary string
	Searcher      string
	Search        map[string]any // options of the searcher
	Stopper       string
	Stop          map[string]any // options of the stopping rule
}

// NamedMethods returns the methods that are more than a searcher with its default
// options and without a stopping rule. Any other name of a searcher is a method too:
// see [MethodOf].
func NamedMethods() []Method {
	// Runs that were stopped are dropped, and those that break a limit get a
	// very large value (Cello, Algorithm 1, lines 14 and 22).
	drop := map[string]any{"stopped": "drop", "penalty": 10.0}
	impute := map[string]any{"stopped": "impute", "penalty": 10.0}
	penalized := map[string]any{"penalty": 10.0}
	neural := map[string]any{"learner": "mlp", "penalty": 10.0}
	// The initial design of bo, ten runs, is measured in full.
	plain := map[string]any{"after": 10.0}
	// Numbers of options are float64, as the YAML reader leaves them (see fields).
	boost := map[string]any{"after": 10.0, "model": "boost"}
	paper := map[string]any{"after": 1.0, "base": 0.5}
	guard := map[string]any{"after": 10.0, "confidence": 0.9}
	return []Method{
		{"rs", "random configurations (Cello §4.3)", "random", nil, noStop, nil},
		{"bo", "Bayesian optimisation with a random forest (§4.3)", "bayes", drop, noStop, nil},
		{"bo-st", "bo, runs stopped at the first one's value and dropped (§4.3)", "bayes", drop, "static", nil},
		{"bo-tc", "bo, runs stopped at the best one's value and dropped (§4.3)", "bayes", drop, "incumbent", nil},
		{"bo-im", "bo-tc, but stopped runs are imputed (Hutter et al. 2013)", "bayes", impute, "incumbent", nil},
		{"bo-nn", "bo-st with networks and a Tobit loss (Eggensperger et al. 2020)", "bayes", neural, "static", nil},
		{"bo-gb", "bo, runs stopped by standard regression and dropped (§4.3)", "bayes", drop, "predictive", boost},
		{"bliss", "a pool of light models and a bandit (Roy et al. 2021)", "bliss", penalized, noStop, nil},
		{
			"cello", "bo, runs stopped by censored regression with a margin, and dropped",
			"bayes", drop, "predictive", guard,
		},
		{"cello-im", "cello, but stopped runs are imputed", "bayes", impute, "predictive", guard},
		{"cello-plain", "cello without the margin, as Algorithm 1 is printed", "bayes", drop, "predictive", plain},
		{
			"cello-paper", "Algorithm 1 as published: stops from the first run on, and boosting starts at " +
				"XGBoost's 0.5", "bayes", drop, "predictive", paper,
		},
		{
			"bo-po", "bo, runs stopped when their chance to become the best is small", "bayes", impute, posteriorStop,
			nil,
		},
		{DefaultSearcher, "the default of assay tune", DefaultSearcher, nil, autoStop, nil},
		{
			"auto-worst", "auto, which counts a run that breaks a limit as the worst one", DefaultSearcher,
			map[string]any{"limits": "worst"},
			autoStop, nil,
		},
		{"random-tc", "rs, runs stopped at the best one's value", "random", nil, "incumbent", nil},
		{"bayes-tc", "bayes, runs stopped at the best one's value", "bayes", nil, "incumbent", nil},
	}
}

// Methods returns all methods: the named ones, then the searchers that have no method
// of their name.
func Methods() []Method {
	all := NamedMethods()
	for _, s := range searchers() {
		if _, named := find(all, s.name, methodName); !named {
			all = append(all, Method{Name: s.name, Summary: s.summary, Searcher: s.name, Stopper: noStop})
		}
	}
	return all
}

// methodName is the key of find.
func methodName(m Method) string { return m.Name }

// MethodOf returns the method of that name.
// An unknown name is an error of the class usage, which lists all names.
func MethodOf(name string) (Method, error) {
	m, ok := find(Methods(), name, methodName)
	if !ok {
		return m, usagef("no method %q (there are %s)", name, list(rows(Methods(),
			func(m Method) Row { return Row{Name: m.Name} })))
	}
	return m, nil
}

// Make returns the searcher of the method, in the wrappers that every study has, and its stopper, which is nil if no
// run is to be stopped. A stopping rule may depend on the budget: on its kind, and on its time. Each call makes new
// ones, so that repetitions of a method may run side by side.
func (m Method) Make(
	space *assay.Space, goal assay.Goal, seed uint64, budget spec.Budget,
) (assay.Searcher, assay.Stopper, error) {
	p := &Problem{Space: space, Goal: goal, Definition: &spec.Study{
		Search: spec.Method{Name: m.Searcher, Seed: seed, Options: m.Search},
		Stop:   spec.Stop{Rule: m.Stopper, Options: m.Stop}, Budget: budget,
	}}
	if err := p.readMethod(); err != nil {
		return nil, nil, err
	}
	s, err := p.searcher(nil)
	return s, p.stopper, err
}
