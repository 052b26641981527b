package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay/stats"
)

// This file fits calibrations and predicts with them. terms.go has the terms and the forms of
// models, nnls.go the least squares. A fit has no random numbers: equal executions in equal order
// give equal calibrations.

// An Execution is one run of a workflow whose makespan was recorded.
type Execution struct {
	Workflow *Workflow
	// Config names what was run and how; executions of one Config are
	// repetitions, and are left out together in cross-validation. "" makes an
	// execution a Config of its own.
	Config string
	Weight float64 // how much it counts; 0 counts as 1
}

// A Calibration predicts makespans at one site from what executions there took
// beyond their run times. It is an average of small models, each a sum of a few
// terms with coefficients that are not negative (see [Term]). It is immutable and
// safe for concurrent use, and is kept as JSON.
type Calibration struct {
	Version    int     `json:"version"` // of this form: 1
	App        string  `json:"app,omitempty"`
	Site       string  `json:"site,omitempty"`
	Executions int     `json:"executions"`
	Configs    int     `json:"configs"`
	NodeCores  float64 `json:"node_cores"` // cores of one machine, the median

	// CVError is the median relative error when each Config is predicted from
	// the others (from itself if there is one only), NaN-free: 0 if unknown.
	CVError float64 `json:"cv_error"`
	// Sigma is the standard deviation of log(predicted/real) in the same
	// cross-validation, widened for few executions.
	Sigma  float64         `json:"sigma"`
	Models []WeightedModel `json:"models"`
}

// A WeightedModel is one of a Calibration's models.
type WeightedModel struct {
	Weight float64 `json:"weight"`
	// Twin says that the executions cannot tell this way to count slots from
	// one with more of them, which is then believed for other numbers of slots.
	Twin    bool          `json:"twin,omitempty"`
	Compute ComputeModel  `json:"compute"`
	Terms   []Coefficient `json:"terms"`
}

// A Coefficient is the fitted size of a term.
type Coefficient struct {
	Term  Term    `json:"term"`
	Value float64 `json:"value"`
}

// Errors of [Calibrate].
var (
	ErrNoMakespan = errors.New("an execution has no recorded makespan")
	ErrNoRuns     = errors.New("no executions to calibrate from")
)

// calibrationOptions are the constants of the fit. They were chosen on the open
// half of the public executions by leave-one-out (docs/results/workflow.md);
// halving or doubling any of them moves the median error there by less than two
// points.
const (
	// termPenalty is added to a model's cross-validated error per term: between
	// models that do as well the one with fewer terms is to be believed.
	termPenalty = 0.01
	// modelSpread is how much worse a model can be than the best before its
	// weight falls by a factor of e. Averaging beats choosing when there are
	// fewer executions than models.
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
	// unknownSigma is the error of a prediction that nothing is known about:
	// what pooled calibrations of other applications reach.
	unknownSigma = 0.3
)

// Calibrate fits a calibration to executions of one application at one site. It
// tries every sum of at most three terms with every way to count slots
// (up to a thousand models), by weighted least squares of the relative error
// under nonnegative coefficients; scores each by the mean of
// |log(predicted/real)| over configurations left out; and averages the
// predictions' logarithms with weights exp(-score/0.02). From one configuration
// alone models are told apart by what is plausible, not by how they fit.
//
// It returns [ErrNoRuns], or [ErrNoMakespan] for an execution without one.
// It costs O(models · configs · executions).
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

// training is the executions of a fit, as rows of terms. Executions are numbered as they were
// added; real, weight, config and feature are by that number, and members lists them by
// configuration.
//
// It belongs to one call of Calibrate and one goroutine, as grams is reused by every fit.
type training struct {
	models  []candidate
	configs []string
	config  []int   // of each execution
	members [][]int // executions of each configuration
	grams   []gram  // scratch, one for each configuration
	weight  []float64
	real    []Seconds
	feature []*features
}

// add adds an execution as a row of terms. One without a Config gets a name that
// no Config can have, so that it is left out by itself.
//
// Configurations are numbered in the order of their first executions.
func (s *training) add(e Execution) {
	name := e.Config
	if name == "" {
		name = fmt.Sprintf("\x00%d", len(s.real))
	}
	i := slices.Index(s.configs, name)
	if i < 0 {
		i = len(s.configs)
		s.configs = append(s.configs, name)
		s.members = append(s.members, nil)
		s.grams = append(s.grams, gram{})
	}
	s.members[i] = append(s.members[i], len(s.real))
	s.config = append(s.config, i)
	wt := e.Weight
	if wt == 0 {
		wt = 1
	}
	s.weight = append(s.weight, wt)
	s.real = append(s.real, e.Workflow.Makespan)
	s.feature = append(s.feature, recordedFeatures(e.Workflow))
}

// fitted is one model on a training set.
//
// theta are the coefficients from all executions, in the order of the candidate's terms; those past
// its terms are 0. A smaller score is better.
type fitted struct {
	*candidate
	theta [maxTerms]float64
	score float64
	left  []Seconds // predictions of the executions, each from other configurations
}

// fit fits a model to all executions and scores it by the mean
// |log(predicted/real)|, at most 1 each, of the configurations predicted from
// the others. left is filled if it is not nil.
//
// The normal equations of a configuration are kept apart, so that leaving one out is a
// subtraction: the cost of the cross-validation does not depend on how many executions there
// are.
//
// With a single configuration there is nothing to leave out. The score is then how badly the
// model fits, and how implausible its coefficients are.
func (s *training) fit(m *candidate, left []Seconds) fitted {
	p := len(m.terms)
	var buf [maxTerms]float64
	x := buf[:p]
	parts := s.grams
	clear(parts)
	var total gram
	for k, f := range s.feature {
		b := 1 - m.row(f, x)/s.real[k]
		for i := range x {
			// Rows are divided by the makespan: the errors that are squared are relative.
			x[i] /= s.real[k]
		}
		parts[s.config[k]].add(x, b, s.weight[k])
	}
	for g := range parts {
		for i := range total.g {
			total.g[i] += parts[g].g[i]
		}
		for i := range total.c {
			total.c[i] += parts[g].c[i]
		}
	}
	r := fitted{candidate: m, theta: m.solve(total, len(s.configs) == 1), left: left}
	sum, weight := 0.0, 0.0
	for g := range parts {
		theta := r.theta
		if len(parts) > 1 {
			theta = m.solve(total.minus(&parts[g]), false)
		}
		for _, k := range s.members[g] {
			y := m.predict(s.feature[k], theta[:p])
			if left != nil {
				left[k] = y
			}
			sum += s.weight[k] * min(math.Abs(math.Log(y/s.real[k])), 1)
			weight += s.weight[k]
		}
	}
	r.score = sum/weight + termPenalty*float64(p)
	if len(s.configs) == 1 {
		r.score = sum/weight + m.implausibility(r.theta[:p])
	}
	return r
}

// solve returns the coefficients for normal equations m. Each is shrunk a little by the ridge.
// single says that the equations come from one configuration only: then any two terms explain
// it equally well, and each coefficient has a prior of the size that is usual for its term.
// Scale is none of those that sites add, and has no prior.
func (c *candidate) solve(m gram, single bool) [maxTerms]float64 {
	for i, t := range c.terms {
		d := &m.g[i*maxTerms+i]
		*d *= 1 + ridge
		if single && t != Scale {
			prior := priorNoise / termScale[t]
			*d += prior * prior
		}
	}
	return m.nnls(len(c.terms))
}

// average fits every model and returns those that matter, heaviest first, and
// their weights, which add up to 1.
//
// Models are ordered by score and, of equal scores, as candidates returned them. leastWeight cuts
// by score: exp(-d/modelSpread) < leastWeight.
func (s *training) average() (models []fitted, weight []float64) {
	all := make([]fitted, len(s.models))
	best := math.Inf(1)
	for i := range s.models {
		all[i] = s.fit(&s.models[i], nil)
		best = min(best, all[i].score)
	}
	for _, m := range all {
		if m.score-best < -modelSpread*math.Log(leastWeight) {
			models = append(models, m)
		}
	}
	slices.SortStableFunc(models, func(a, b fitted) int { return cmp.Compare(a.score, b.score) })
	total := 0.0
	for i := range models {
		weight = append(weight, math.Exp(-(models[i].score-best)/modelSpread))
		total += weight[i]
	}
	for i := range weight {
		weight[i] /= total
	}
	return models, weight
}

// validate notes in c how well the average predicts each configuration from the
// others. The models' weights are those of all executions: choosing them anew
// for each configuration would cost as many times more.
//
// The prediction is the weighted mean of logarithms, as Predict makes it. CVError is the median of
// |predicted/real - 1|; Expm1 keeps it exact for small errors. The factor 1 + 1/n widens Sigma for few configurations.
func (s *training) validate(c *Calibration, models []fitted, weight []float64) {
	mean := make([]float64, len(s.real))
	left := make([]Seconds, len(s.real))
	for i := range models {
		s.fit(models[i].candidate, left)
		for k, y := range left {
			mean[k] += weight[i] * math.Log(y)
		}
	}
	var errs []float64
	sum, total := 0.0, 0.0
	for k, real := range s.real {
		e := mean[k] - math.Log(real)
		errs = append(errs, math.Abs(math.Expm1(e)))
		sum += s.weight[k] * e * e
		total += s.weight[k]
	}
	c.CVError = stats.Median(errs)
	n := float64(len(s.configs))
	if len(s.configs) == 1 {
		// Repetitions say how much they differ among themselves, not how well
		// another configuration is predicted.
		c.Sigma = max(unknownSigma, math.Sqrt(sum/total))
		return
	}
	// A quarter of a configuration with unknownSigma keeps a lucky few from
	// promising too much.
	c.Sigma = math.Sqrt((n*sum/total + unknownSigma*unknownSigma/4) / (n + 0.25) * (1 + 1/n))
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
		return c.interval(predictModels(c.Models, levelFeatures(w, leveler, w.Cores(), 0), nil)), nil
	}
	f := levelFeatures(w, leveler, slots, c.NodeCores)
	p := predictModels(c.Models, f, c.scales())
	// Fits say nothing about slots far from the recorded ones; no schedule beats
	// the bounds of the run times alone.
	p = max(p, Bounds(w, Overhead{}, slots).Makespan())
	return c.interval(p), nil
}

// scales returns which models say something about other numbers of slots: those
// that count slots and are no twins, or all if there are none.
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

// Uncalibrated returns the prediction of a makespan by a model that nothing was
// fitted to: its interval is what pooled calibrations of other applications
// reach.
func Uncalibrated(makespan Seconds) Prediction {
	c := Calibration{Sigma: unknownSigma}
	return c.interval(makespan)
}

// interval returns p with the interval of c's Sigma about it: from p·exp(-z·σ) to p·exp(z·σ),
// nine cases in ten if log errors are normal.
func (c *Calibration) interval(p Seconds) Prediction {
	const z = 1.645 // the normal 95 % quantile
	r := math.Exp(z * c.Sigma)
	return Prediction{Makespan: p, Low: p / r, High: p * r}
}

// BestOverhead returns the most weighty model that counts slots as an [Overhead],
// for what takes one: a [LevelModel] or a simulation. Terms per machine are given per task and byte
// for the machines of slots cores; a manager's link is left out, since it carries
// bytes that the tasks' files do not tell.
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

// Mean returns the weighted mean of each term's coefficient over the models,
// for people: what the site adds, on average.
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
