package setup

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/stop"
)

// declareMedian is the rule that compares runs at the same step.
func declareMedian(f *fields) newStopper {
	r := stop.Median{Maximize: f.def.Objective.Maximize}
	f.int("after", &r.After, 2, 10_000)
	f.int("from", &r.From, 1, 1_000_000)
	f.follows()
	return func(*config.Study, *assay.Space) assay.Stopper { return r }
}

// declareCurve is the rule that predicts where a run ends by how others went on.
func declareCurve(f *fields) newStopper {
	r := stop.Curve{Maximize: f.def.Objective.Maximize}
	f.int("after", &r.After, 3, 10_000)
	f.int("from", &r.From, 2, 1_000_000)
	f.number("level", &r.Level, 1e-6, 0.5)
	f.follows()
	return func(*config.Study, *assay.Space) assay.Stopper { return r }
}

// follows is a flaw unless runs report the objective while they go on.
func (f *fields) follows() {
	m, ok := f.def.Progress()
	if f.err != nil || ok && m.Name == f.def.Objective.Metric {
		return
	}
	objective := f.def.Objective.Metric
	if objective == "" {
		objective = "elapsed"
	}
	f.err = usagef("%sstopping rule %s follows what runs report while they go on: progress: {metric: %s, source: ...} is needed",
		f.def.At("stop.rule"), f.def.Stop.Rule, objective)
}
