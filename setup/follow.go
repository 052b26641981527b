package setup

import (
	"cmp"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/stop"
)

// declareMedian is the rule that compares runs at the same step.
func declareMedian(f *fields) newStopper {
	r := stop.Median{Maximize: f.def.Objective.Maximize}
	f.int("after", &r.After, 2, 10_000)
	f.int("from", &r.From, 1, 1_000_000)
	return func(*spec.Study, *assay.Space) assay.Stopper { return r }
}

// declareCurve is the rule that predicts where a run ends by how others went on.
func declareCurve(f *fields) newStopper {
	r := stop.Curve{Maximize: f.def.Objective.Maximize}
	f.int("after", &r.After, 3, 10_000)
	f.int("from", &r.From, 2, 1_000_000)
	f.number("level", &r.Level, 1e-6, 0.5)
	return func(*spec.Study, *assay.Space) assay.Stopper { return r }
}

// checkFollowed returns an error unless runs report the objective while they go on, if the stopping rule follows
// that.
func checkFollowed(def *spec.Study, rule assay.Stopper) error {
	f, ok := rule.(assay.CurveStopper)
	if !ok || !f.Follows() {
		return nil
	}
	objective := cmp.Or(def.Objective.Metric, "elapsed")
	if m, ok := def.Progress(); ok && m.Name == objective {
		return nil
	}
	return usagef("%sstopping rule %s follows the reports of runs: progress: {metric: %s, source: ...} is "+
		"needed",
		def.At("stop.rule"), def.Stop.Rule, objective)
}
