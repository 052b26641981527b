package setup

import (
	"cmp"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/stop"
)

// A stopper is a row of the table of stopping rules. declare declares its options and returns the constructor for a
// study; nil stops nothing.
type stopper struct {
	name, summary string
	declare       func(f *fields) newStopper
}

// newStopper makes the rule of a study. It returns nil if nothing is to be stopped: the
// loop then observes no run.
type newStopper func(def *spec.Study, space *assay.Space) assay.Stopper

// stoppers is the table of stopping rules: --stop, and stop.rule of a study file. To
// add one, add a row; see CONTRIBUTING.md.
func stoppers() []stopper {
	always := func(s assay.Stopper) func(*fields) newStopper {
		return func(*fields) newStopper { return func(*spec.Study, *assay.Space) assay.Stopper { return s } }
	}
	return []stopper{
		{
			autoStop, "incumbent, and the first runs at a share of the budget, " +
				"if the searcher learns from stopped runs and the budget is a time; else none",
			func(*fields) newStopper { return newAutoStop },
		},
		{noStop, "every run goes on to its end", always(nil)},
		{"static", "a run stops at the value of the first trial", always(stop.Static{})},
		{"incumbent", "a run stops at the value of the best trial so far", always(stop.Incumbent{})},
		{
			dominatedStop, "several objectives that grow: a run stops when a finished one is better in all",
			declareDominated,
		},
		{predictStop, "early stopping by prediction: posterior, the rule whose stops are rarely wrong", declarePosterior},
		{predictiveStop, "a run stops when it is predicted to end no better than the best", declarePredictive},
		{
			posteriorStop, "a run stops when its chance to end better than the best, given how far it has " +
				"come, is small", declarePosterior,
		},
		{"median", "a run stops whose progress is worse than the median of the others' at the same step", declareMedian},
		{"curve", "a run stops whose progress is unlikely to end better than the best", declareCurve},
	}
}

// options declares all options of a row, the audit of any that stops runs among them.
func (s stopper) options(f *fields) newStopper {
	makes := s.declare(f)
	if s.name == noStop {
		return makes
	}
	share := 0.0
	f.share("audit", &share, 0.5)
	if share == 0 {
		return makes
	}
	return func(def *spec.Study, space *assay.Space) assay.Stopper {
		audit := stop.Audit{Share: share, Seed: def.Search.Seed}
		switch rule := makes(def, space).(type) {
		case nil:
			return nil
		case stop.Opening: // the bound of the first runs is not audited: one could take all of a budget
			audit.Rule = rule.Rule
			rule.Rule = audit
			return rule
		default:
			audit.Rule = rule
			return audit
		}
	}
}

const (
	autoStop = "auto" // of a study that names no rule
	noStop   = "none"

	predictStop    = "predict" // the word for prediction, as auto is that for the default
	posteriorStop  = "posterior"
	predictiveStop = "predictive"
)

// byPosterior reports whether a rule is posterior, whose stops the searcher takes for runs that reached the best.
func byPosterior(rule string) bool { return rule == posteriorStop || rule == predictStop }

// riskOf warns of a rule that stops many good runs; "" for any other.
func riskOf(rule string) string {
	if rule != predictiveStop {
		return ""
	}
	return "stopping rule " + predictiveStop + ": as published, 16 % of its stops were wrong on nine tables, and 60 % " +
		"of the better configurations were stopped; stop: " + predictStop + " stops by a prediction that was wrong in 0.5 %"
}

// declarePredictive is Cello's rule: a censored regression, or with model boost the
// standard one of its BO-GB.
func declarePredictive(f *fields) newStopper {
	o, kind, form, stopped := stop.PredictiveOptions{}, "aft", model.Extreme.String(), "drop"
	f.word("model", &kind, "aft", "boost")
	f.number("base", &o.AFT.Base, 1e-300, 1e300)
	f.word("distribution", &form, model.Extreme.String(), model.Normal.String(), model.Logistic.String())
	f.word("stopped", &stopped, "drop", "keep", "impute")
	f.rounds(&o)
	f.int("after", &o.After, 1, 10_000)
	f.number("confidence", &o.Confidence, 0, 0.999)
	f.number("spare", &o.Spare, 0, 0.999)
	if kind == "boost" {
		o.Learner, o.Standard = model.Boost{}, true
	}
	o.AFT.Distribution, _ = model.DistributionOf(form)
	o.Stopped, _ = stop.TrainingOf(stopped)
	return func(def *spec.Study, space *assay.Space) assay.Stopper {
		o.Seed = def.Search.Seed
		return stop.NewPredictive(space, o)
	}
}

// rounds declares the number of boosting rounds of the censored regression: a number,
// or auto for the one that cross-validation chooses.
func (f *fields) rounds(o *stop.PredictiveOptions) {
	if f.values["rounds"] == "auto" {
		f.value("rounds", "auto")
		o.AutoRounds = true
		return
	}
	f.int("rounds", &o.AFT.Boost.Rounds, 1, 10_000)
}

// declarePosterior is the rule that a model's own doubt decides, with the margin and the
// first runs of auto.
func declarePosterior(f *fields) newStopper {
	o := stop.PosteriorOptions{Spare: 0.1}
	f.number("level", &o.Level, 1e-6, 0.5)
	f.int("after", &o.After, 1, 10_000)
	f.number("spare", &o.Spare, 0, 0.999)
	return func(def *spec.Study, space *assay.Space) assay.Stopper {
		o.Seed, o.Margin = def.Search.Seed, marginOf(def)
		return withOpening(stop.NewPosterior(space, o), def, space)
	}
}

// noiseMargin is how far above the best a run of a command may get before auto
// stops it: runs of one configuration differ by some per cent.
const noiseMargin = 0.1

// openingShare is the part of the time budget that the first run may take, one in so
// many: a first configuration that takes for ever must not be the only one.
const openingShare = 20

// newAutoStop returns the rule incumbent, with a margin for the noise of a command; recorded tables have no noise.
// The first runs are bounded by their share of the time budget, unless they begin with a default: it is the baseline.
//
// A stopped run teaches less than a complete one. So nothing is stopped if the budget counts runs alone, or if the
// searcher learns nothing from a stopped run.
func newAutoStop(def *spec.Study, space *assay.Space) assay.Stopper {
	byTrials := def.Budget.Trials > 0 && def.Budget.Time == 0
	if byTrials || !learnsCensored(def.Search.Name) {
		return nil
	}
	return withOpening(stop.Incumbent{Margin: marginOf(def)}, def, space)
}

// Stopping describes which rule may stop runs of the problem: the rule of the definition and, if it is auto, the rule
// that auto selects.
func (p *Problem) Stopping() string {
	rule, def := cmp.Or(p.Definition.Stop.Rule, autoStop), p.Definition
	f, follows := p.stopper.(assay.CurveStopper)
	switch {
	case p.Goal.Several():
		return stoppingOfFront(rule, p.Goal.Grows, p.stopper != nil)
	case follows && f.Follows():
		return rule
	case rule != noStop && !p.Goal.Grows:
		return rule + " (none: " + p.Goal.Metric + " may fall again while a run goes on)"
	case rule == predictStop:
		return rule + " (" + posteriorStop + ")"
	case rule != autoStop:
		return rule
	case p.stopper == nil && !learnsCensored(def.Search.Name):
		return rule + " (none: the searcher learns nothing from a run that was stopped)"
	case p.stopper == nil:
		return rule + " (none: the budget counts runs, and a full run teaches the model more)"
	}
	inner := p.stopper
	if l, ok := inner.(stop.Level); ok {
		inner = l.Rule
	}
	if o, ok := inner.(stop.Opening); ok && o.Limit > 0 {
		return rule + " (incumbent, and the first runs after " + o.Limit.String() + ")"
	}
	return rule + " (incumbent)"
}

// marginOf is the margin for the noise of a command; recorded tables have none.
func marginOf(def *spec.Study) float64 {
	if len(def.Command) > 0 {
		return noiseMargin
	}
	return 0
}

// withOpening bounds the first runs by their share of the time budget, unless they begin
// with a default.
func withOpening(rule assay.Stopper, def *spec.Study, space *assay.Space) assay.Stopper {
	if _, given, err := def.Default(space); given || err != nil {
		return rule
	}
	return stop.Opening{Rule: rule, Limit: def.Budget.Time / openingShare}
}

// learnsCensored reports whether a searcher learns from runs that were stopped. For any
// other a stopped run is a run spent for nothing.
func learnsCensored(searcher string) bool {
	return searcher == "" || searcher == DefaultSearcher || searcher == "bayes"
}

// readStopper returns the constructor of the stopper of a study. Flaws are of the class usage. Undeclared options are
// reported before flaws in declared ones.
func readStopper(def *spec.Study) (newStopper, error) {
	name := def.Stop.Rule
	if name == "" {
		name = autoStop
	}
	row, ok := find(stoppers(), name, func(s stopper) string { return s.name })
	if !ok {
		return nil, usagef("%sno stopping rule %q (there are %s)", def.At("stop.rule"), name, list(Stoppers()))
	}
	f := &fields{def: def, at: "stop", values: def.Stop.Options}
	makes := row.options(f)
	if err := f.unknown("stopping rule " + name); err != nil {
		return nil, err
	}
	return makes, f.err
}

// observeEvery is the default interval between observations of a run: a reading costs some 20 µs. It is for commands;
// Problem.Interval has the interval for tables.
const observeEvery = 100 * time.Millisecond

// finest is how often at most short runs are observed: see study.Study.Finest. A reading
// then takes 1/250 of the time.
const finest = 5 * time.Millisecond
