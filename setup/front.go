package setup

import (
	"cmp"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/stop"
)

// This file holds the code that only studies with several objectives need.

// frontSearchers are the searchers that look for a front, or at no values at all.
var frontSearchers = []string{DefaultSearcher, FrontSearcher, "nsga2", "random", "sobol", "lhs", "grid"}

// frontStoppers are the rules that can compare runs by several objectives.
var frontStoppers = []string{autoStop, noStop, dominatedStop}

// dominatedStop is the rule that auto is of several objectives.
const dominatedStop = "dominated"

func declareFront(f *fields) newSearcher {
	o := search.FrontOptions{}
	f.initial(&o.Initial)
	return simply(func(s *assay.Space, seed uint64) assay.Searcher {
		o.Seed = seed
		return search.NewFront(s, o)
	})
}

func declareNSGA2(f *fields) newSearcher {
	o := search.NSGA2Options{}
	f.int("population", &o.Population, 2, 10_000)
	return simply(func(s *assay.Space, seed uint64) assay.Searcher {
		o.Seed = seed
		return search.NewNSGA2(s, o)
	})
}

// declareDominated is the rule of several objectives; of one it is incumbent.
func declareDominated(*fields) newStopper {
	return func(def *spec.Study, _ *assay.Space) assay.Stopper {
		goal, err := def.Goal()
		if err != nil {
			return nil // the study is at fault, and has reported it
		}
		return stop.Dominated{Goal: goal, Margin: marginOf(def)}
	}
}

// forFront returns the definition for the tables of searchers and stoppers: with several objectives auto is another
// searcher. A searcher or stopper for one best value is an error of the class usage.
func forFront(def *spec.Study) (*spec.Study, error) {
	name, rule := cmp.Or(def.Search.Name, DefaultSearcher), cmp.Or(def.Stop.Rule, autoStop)
	if !slices.Contains(frontSearchers, name) {
		return nil, usagef("%sthe searcher %s looks for one best value; for several objectives there are %s",
			def.At("search.name"), name, words(frontSearchers))
	}
	if !slices.Contains(frontStoppers, rule) {
		return nil, usagef("%sthe stopping rule %s compares by one value; for several objectives there are %s",
			def.At("stop.rule"), rule, words(frontStoppers))
	}
	if _, audited := def.Stop.Options["audit"]; audited {
		return nil, usagef("%san audit judges stops by one objective", def.At("stop.audit"))
	}
	if _, penalized := def.Search.Options["penalty"]; penalized {
		return nil, usagef("%sa penalty is for one objective", def.At("search.penalty"))
	}
	if name != DefaultSearcher {
		return def, nil
	}
	as := *def
	as.Search.Name = FrontSearcher
	return &as, nil
}

// frontStopper returns the rule of a study with several objectives.
func frontStopper(def *spec.Study, goal assay.Goal, space *assay.Space) assay.Stopper {
	rule := stop.Dominated{Goal: goal, Margin: marginOf(def)}
	switch name := cmp.Or(def.Stop.Rule, autoStop); {
	case name == noStop || !goal.Grows:
		return nil
	case name == dominatedStop:
		return rule
	}
	byTrials := def.Budget.Trials > 0 && def.Budget.Time == 0
	searcher := cmp.Or(def.Search.Name, DefaultSearcher)
	if byTrials || searcher != DefaultSearcher && searcher != FrontSearcher {
		return nil // as newAutoStop
	}
	return withOpening(rule, def, space)
}

func words(of []string) string {
	all := make([]Row, len(of))
	for i, name := range of {
		all[i].Name = name
	}
	return list(all)
}

// stoppingOfFront is Stopping of several objectives.
func stoppingOfFront(rule string, grows, stops bool) string {
	switch {
	case rule == noStop:
		return rule
	case !grows:
		return rule + " (none: not every objective can only grow during a run)"
	case !stops:
		return rule + " (none: the budget counts runs, or the searcher learns nothing from a run that was stopped)"
	case rule == dominatedStop:
		return rule
	}
	return rule + " (dominated)"
}
