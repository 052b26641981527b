package workflow

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay/internal/stats"
)

// This file fits calibrations and predicts with them. terms.go has the terms and the forms of
// models, nnls.go the least squares. A fit has no random numbers: equal executions in equal order
// give equal calibrations.

// An Execution is one run of a workflow whose makespan was recorded.
type Execution struct {
	Workflow *Workflow // with its recorded makespan
	// Config names the program, its input and its settings. Executions of one Config are repetitions, and
	// are left out together in cross-validation. "" makes an execution a Config of its own.
	Config string
	// App names the application, whatever its input. Executions of several Apps predict another App; whole
	// Apps are left out in the cross-validation that estimates the error of a prediction.
	App    string
	Weight float64 // how much it counts; 0 counts as 1
}

// A Calibration predicts makespans at one site from the overhead of executions there beyond their run
// times. It is an average of small models, each a sum of a few terms with coefficients that are not
// negative (see [Term]). It is immutable and safe for concurrent use, and is kept as JSON.
type Calibration struct {
	Version    int     `json:"version"`        // of this form: 1
	App        string  `json:"app,omitempty"`  // of the executions, if it is one
	Site       string  `json:"site,omitempty"` // of the executions
	Executions int     `json:"executions"`     // how many were fitted
	Configs    int     `json:"configs"`        // how many different ones
	NodeCores  float64 `json:"node_cores"`     // cores of one machine, the median

	// CVError is the median relative error when each Config is predicted from
	// the others (from itself if there is one only), NaN-free: 0 if unknown.
	CVError float64 `json:"cv_error"`
	// Sigma is the standard deviation of log(predicted/real) in the same
	// cross-validation, widened for few executions.
	Sigma  float64         `json:"sigma"`
	Models []WeightedModel `json:"models"` // of the average
}

// A WeightedModel is one of a Calibration's models.
type WeightedModel struct {
	Weight float64 `json:"weight"` // in the average
	// Twin reports that the executions do not distinguish this way to count slots from another with more
	// slots. The other is then used to predict other numbers of slots.
	Twin    bool          `json:"twin,omitempty"`
	Compute ComputeModel  `json:"compute"` // the way to count slots
	Terms   []Coefficient `json:"terms"`   // without those that are 0
}

// A Coefficient is the fitted size of a term.
type Coefficient struct {
	Term  Term    `json:"term"`  // its unit decides the unit of Value
	Value float64 `json:"value"` // at least 0
}

// Errors of [Calibrate].
var (
	ErrNoMakespan = errors.New("an execution has no recorded makespan")
	ErrNoRuns     = errors.New("no executions to calibrate from")
)

// calibrationOptions are the constants of the fit. They were chosen on the open
// half of the public executions by leave-one-out (lab/notes/workflow.md);
// halving or doubling any of them moves the median error there by less than two
// points.
const (
	// termPenalty is added to a model's score per term: between
	// models that do as well the one with fewer terms is to be believed.
	termPenalty = 0.5
	// modelSpread is the excess of a model's cross-validated error over the best that divides its weight by
	// e. Averaging beats choosing when there are fewer executions than models.
	modelSpread = 0.02
	// ridge shrinks coefficients by about this share of themselves.
	ridge = 0.03
	// priorNoise is the relative error that a single configuration is
	// believed to have, against which the prior sizes of terms (termScale)
	// hold. With two configurations or more the data speak for themselves.
	priorNoise = 0.05
	// leastWeight is the weight, relative to the best model's, below which a
	// model is left out of the average.
	leastWeight = 0.01
	// unknownSigma is the error of a prediction from one configuration of the application.
	unknownSigma = 0.3
	// fewFolds corrects for the uncertainty of an error that was estimated from few folds. It is the least
	// of 1, 1.5, 2, ... with which nine of ten intervals held from two to eight configurations, in the mean
	// over applications. It was chosen as often as there are applications, each time without the
	// application that was then judged, and the choices were 1 to 2.
	fewFolds = 1.5
	// uncalibratedSigma is the error of a prediction that nothing is known about: the root mean square
	// of log(predicted/real) of Algorithm 1 over seven applications, each with the same weight.
	uncalibratedSigma = 1.3
)

// Calibrate fits a calibration to executions of one application at one site. It tries every sum of at
// most three terms with every way to count slots (up to a thousand models), by weighted least squares of
// the relative error under nonnegative coefficients, and averages the predictions' logarithms. Half of
// the weight goes to models by how well they predict configurations left out (byValidation), half by how
// likely they make the recorded makespans (byEvidence).
//
// It returns [ErrNoRuns], or [ErrNoMakespan] for an execution without one. It costs O(models · configs ·
// executions).
func Calibrate(runs []Execution) (*Calibration, error) {
	if len(runs) == 0 {
		return nil, ErrNoRuns
	}
	set := &training{models: candidates()}
	for i := range runs {
		w := runs[i].Workflow
		if err := w.Check(); err != nil {
			return nil, err
		}
		if !(w.Makespan > 0) {
			return nil, fmt.Errorf("%w: %q", ErrNoMakespan, w.Name)
		}
	}
	for i := range runs {
		set.add(runs[i])
	}
	set.dropLinks()
	set.leaveOut(set.config, len(set.configs))
	c := &Calibration{
		Version: calibrationVersion, Executions: len(runs), Configs: len(set.configs),
		NodeCores: nodeCores(runs),
	}
	models, weight := set.average()
	twin := twins(set.feature)
	for i := range models {
		m := models[i].weighted(weight[i], models[i].theta[:])
		m.Twin = twin[models[i].model]
		c.Models = append(c.Models, m)
	}
	set.validate(c, models, weight)
	return c, nil
}

// nodeCores returns the median of the cores of the machines used, 1 where no machine is
// recorded. A machine without a core count has one.
func nodeCores(runs []Execution) float64 {
	var cores []float64
	for _, e := range runs {
		for _, m := range e.Workflow.Machines {
			cores = append(cores, float64(max(m.Cores, 1)))
		}
	}
	if len(cores) == 0 {
		return 1
	}
	return stats.Median(cores)
}

// A Prediction is a predicted makespan and an interval that holds the real one
// in nine of ten cases if log errors are normal.
type Prediction struct {
	Makespan, Low, High Seconds
}

// Predict returns the makespan of w on a number of slots (recorded cores, as in
// the executions that c was fitted to), with levels from leveler. Slots 0, or
// as many as the recorded execution had cores, means its machines, where it is
// known which task ran on which; on others models that do not count slots, and twins, are
// left out.
func (c *Calibration) Predict(w *Workflow, leveler Leveler, slots int) (Prediction, error) {
	if err := w.Check(); err != nil {
		return Prediction{}, err
	}
	if slots < 0 {
		return Prediction{}, fmt.Errorf("%d slots", slots)
	}
	if slots == 0 || slots == w.Cores() && w.Makespan > 0 {
		return c.predict(levelFeatures(w, leveler, w.Cores(), 0), nil, 0), nil
	}
	f := levelFeatures(w, leveler, slots, c.NodeCores)
	// Fits carry no information about slots far from the recorded ones; no schedule beats the bounds of the
	// run times alone.
	return c.predict(f, c.scales(), Bounds(w, Overhead{}, slots).Makespan()), nil
}

// predict returns the prediction for f, at least least, by the models for which use is true. The
// interval combines the error of the cross-validation and the differences between the models: where they
// disagree, the executions did not show which of them holds there.
func (c *Calibration) predict(f *features, use func(*WeightedModel) bool, least Seconds) Prediction {
	p, variance := predictModels(c.Models, f, use)
	return interval(max(p, least), math.Sqrt(c.Sigma*c.Sigma+variance))
}

// scales returns the filter of models that predict other numbers of slots: those that count slots and
// are no twins, or all if no such model exists.
//
// nil is the filter that lets every model pass.
func (c *Calibration) scales() func(*WeightedModel) bool {
	counts := func(m *WeightedModel) bool { return m.Compute != ComputeModel{} && !m.Twin }
	for i := range c.Models {
		if counts(&c.Models[i]) {
			return counts
		}
	}
	return nil
}

// Uncalibrated returns the prediction of a makespan by a model without a fit. Its interval is the error
// of Algorithm 1 with the delay that the paper found, and all recorded cores as slots.
func Uncalibrated(makespan Seconds) Prediction { return interval(makespan, uncalibratedSigma) }

// interval returns p with the interval of sigma about it: from p·exp(-z·σ) to p·exp(z·σ),
// nine cases in ten if log errors are normal.
func interval(p Seconds, sigma float64) Prediction {
	const z = 1.645 // the normal 95 % quantile
	r := math.Exp(z * sigma)
	return Prediction{Makespan: p, Low: p / r, High: p * r}
}

// BestOverhead returns the most weighty model that counts slots as an [Overhead], for use in a
// [LevelModel] or a simulation. Terms per machine are given per task and byte for the machines of slots
// cores; a manager's link is left out, since it carries bytes that are not among the tasks' files.
func (c *Calibration) BestOverhead(slots int) Overhead {
	nodes := max(1, math.Round(float64(slots)/max(c.NodeCores, 1)))
	m := c.Models[0]
	if use := c.scales(); use != nil {
		m = c.Models[slices.IndexFunc(c.Models, func(m WeightedModel) bool { return use(&m) })]
	}
	s := Overhead{Scale: 1, Share: m.Compute.Share, SlotCap: m.Compute.Cap}
	for _, t := range m.Terms {
		switch t.Term {
		case Start:
			s.Start = t.Value
		case PerLevel:
			s.Level = t.Value
		case PerTask:
			s.Dispatch += t.Value
		case PerGB:
			s.Byte += t.Value / 1e9
		case TaskPerNode:
			s.Dispatch += t.Value / nodes
		case GBPerNode:
			s.Byte += t.Value / 1e9 / nodes
		case PerWave:
			s.Task = t.Value
		case WorkPerNode:
			s.Share = min(1, 1/(t.Value*max(c.NodeCores, 1)))
		case Scale:
			s.Scale = t.Value
		}
	}
	return s
}

// Mean returns the weighted mean of each term's coefficient over the models, for people: the site's
// average overhead.
func (c *Calibration) Mean() []Coefficient {
	var sum [numTerms]float64
	for _, m := range c.Models {
		for _, t := range m.Terms {
			sum[t.Term] += m.Weight * t.Value
		}
	}
	var out []Coefficient
	for t, v := range sum {
		if v > 0 {
			out = append(out, Coefficient{Term(t), v})
		}
	}
	return out
}
