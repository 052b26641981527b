package workflow

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay/internal/stats"
)

// training holds the executions of a fit, as rows of terms. Executions are numbered as they were added;
// real, weight, config, app and feature are by that number, and members lists them by fold: the members
// of a fold are left out together.
//
// It belongs to one call of Calibrate and one goroutine, as grams is reused by every fit.
type training struct {
	models  []candidate // all candidates
	configs []string    // their names, by number
	apps    []string    // likewise
	config  []int       // of each execution
	app     []int       // of each execution
	fold    []int       // of each execution: its configuration, or its application
	members [][]int     // of each fold
	grams   []residuals // scratch, one for each fold
	weight  []float64   // of each execution
	real    []Seconds   // the recorded makespans
	feature []*features // values of the terms, by execution
}

// add adds an execution as a row of terms. One without a Config gets a name that no Config can have, so
// that it is left out by itself. Configurations of two applications are different even with equal names.
//
// Configurations and applications are numbered in the order of their first executions.
func (s *training) add(e Execution) {
	name := e.Config
	if name == "" {
		name = fmt.Sprintf("\x00%d", len(s.real))
	}
	s.config = append(s.config, number(&s.configs, e.App+"\x00"+name))
	s.app = append(s.app, number(&s.apps, e.App))
	wt := e.Weight
	if wt == 0 {
		wt = 1
	}
	s.weight = append(s.weight, wt)
	s.real = append(s.real, e.Workflow.Makespan)
	s.feature = append(s.feature, recordedFeatures(e.Workflow))
}

// number returns the index of a name in a list, to which it is added if it is not there.
func number(names *[]string, name string) int {
	i := slices.Index(*names, name)
	if i < 0 {
		i = len(*names)
		*names = append(*names, name)
	}
	return i
}

// leaveOut defines the folds: executions with equal numbers in fold, which are below n, are left out
// together.
func (s *training) leaveOut(fold []int, n int) {
	s.fold, s.members, s.grams = fold, make([][]int, n), make([]residuals, n)
	for k, g := range fold {
		s.members[g] = append(s.members[g], k)
	}
}

// fitted is one model on a training set.
//
// theta are the coefficients from all executions, in the order of the candidate's terms; those past
// its terms are 0. A smaller score is better: the weight of a model falls by a factor of e for each
// point.
type fitted struct {
	*candidate
	by    rule              // how its weight is computed
	theta [maxTerms]float64 // see above
	score float64           // see above
	left  []Seconds         // predictions of the executions, each from other folds
}

// A rule fits a model to all executions and scores it. left, if it is not nil, gets the predictions
// of the executions, each from the other folds, or from itself if there is one fold.
type rule func(s *training, m *candidate, left []Seconds) fitted

// byValidation is the rule that prefers models that predict well: it scores a model by the mean
// |log(predicted/real)|, at most 1 each, of the folds predicted from the others, and a penalty per term.
//
// The normal equations of a fold are kept apart, so that leaving one out is a subtraction: the cost of
// the cross-validation does not depend on the number of executions.
//
// With a single fold nothing can be left out. The score is then how badly the model fits, and how
// implausible its coefficients are.
func byValidation(s *training, m *candidate, left []Seconds) fitted {
	p := len(m.terms)
	parts, total := s.equations(m, func(int) float64 { return 1 })
	r := fitted{candidate: m, by: byValidation, theta: m.solve(total.gram, len(parts) == 1), left: left}
	sum, weight := 0.0, 0.0
	for g := range parts {
		theta := r.theta
		if len(parts) > 1 {
			theta = m.solve(total.gram.minus(&parts[g].gram), false)
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
	r.score = sum / weight / modelSpread
	if len(parts) == 1 {
		r.score += m.implausibility(r.theta[:p])
	} else {
		r.score += termPenalty * float64(p)
	}
	return r
}

// equations returns the normal equations of each fold and of all together. count is how much an
// execution counts, beside its weight.
func (s *training) equations(m *candidate, count func(k int) float64) (parts []residuals, total residuals) {
	var buf [maxTerms]float64
	x := buf[:len(m.terms)]
	parts = s.grams
	clear(parts)
	for k, f := range s.feature {
		b := 1 - m.row(f, x)/s.real[k]
		for i := range x {
			// Rows are divided by the makespan: the errors that are squared are relative.
			x[i] /= s.real[k]
		}
		parts[s.fold[k]].add(x, b, s.weight[k]*count(k))
	}
	for g := range parts {
		total.plus(&parts[g])
	}
	return parts, total
}

// solve returns the coefficients for normal equations m. Each is shrunk a little by the ridge. single
// means that the equations are from one configuration only: then any two terms explain it equally well,
// and each coefficient has a prior of the size that is usual for its term. Scale is not an overhead of a
// site, and has no prior.
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

// average fits every model by both rules and returns those that matter, heaviest first, and
// their weights, which add up to 1. Each rule has half of the weight: where executions are few
// they err in different directions, and their mean errs less than either (lab/notes/workflow.md).
//
// Models are ordered by weight and, of equal weights, as candidates returned them.
func (s *training) average() (models []fitted, weight []float64) {
	type heavy struct {
		fitted
		weight float64 // half of its weight by one rule
	}
	var all []heavy
	for _, r := range []rule{byValidation, byEvidence} {
		list, w := s.weigh(r)
		for i := range list {
			all = append(all, heavy{list[i], w[i] / 2})
		}
	}
	slices.SortStableFunc(all, func(a, b heavy) int { return -cmp.Compare(a.weight, b.weight) })
	for _, h := range all {
		models, weight = append(models, h.fitted), append(weight, h.weight)
	}
	return models, weight
}

// weigh fits every model by one rule and returns those that matter and their weights, which add up
// to 1. leastWeight cuts by score: exp(-d) < leastWeight.
func (s *training) weigh(r rule) (models []fitted, weight []float64) {
	all := make([]fitted, len(s.models))
	best := math.Inf(1)
	for i := range s.models {
		all[i] = r(s, &s.models[i], nil)
		best = min(best, all[i].score)
	}
	total := 0.0
	for _, m := range all {
		if m.score-best < -math.Log(leastWeight) {
			w := math.Exp(best - m.score)
			models, weight = append(models, m), append(weight, w)
			total += w
		}
	}
	for i := range weight {
		weight[i] /= total
	}
	return models, weight
}

// validate notes in c how well the average predicts each configuration from the others; where there are
// several applications, each application from the others, as the overhead of one application predicts
// little about another. The models' weights come from all executions: choosing them anew for each fold
// would multiply the cost by the number of folds.
//
// The prediction is the weighted mean of logarithms, as Predict makes it. CVError is the median of
// |predicted/real - 1|; Expm1 keeps it exact for small errors. The factor 1 + fewFolds/n widens Sigma
// for few folds.
func (s *training) validate(c *Calibration, models []fitted, weight []float64) {
	if len(s.apps) > 1 {
		s.leaveOut(s.app, len(s.apps))
	}
	mean := make([]float64, len(s.real))
	left := make([]Seconds, len(s.real))
	for i := range models {
		models[i].by(s, models[i].candidate, left)
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
	n := float64(len(s.members))
	if n == 1 {
		// Repetitions show how much they differ among themselves, not how well another configuration is
		// predicted.
		c.Sigma = max(unknownSigma, math.Sqrt(sum/total))
		return
	}
	// Half a fold with unknownSigma keeps a lucky few from promising too much.
	c.Sigma = math.Sqrt((n*sum/total + unknownSigma*unknownSigma/2) / (n + 0.5) * (1 + fewFolds/n))
}
