package costmodel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/assay-run/assay"
)

// A Model predicts the time of a program on any assignment of a space: a fitted cost model (Eq. 2). It is immutable and
// safe for concurrent use. Make one with [Fit] or [ActiveLearner.Model], or read one with UnmarshalJSON.
type Model struct {
	space     *assay.Space       // of the assignments
	attrs     []attribute        // its parameters
	runs      []Run              // finished; the functions are fitted to them
	failed    []assay.Config     // assignments of failed runs
	split     Split              // the parts that all runs separate
	forms     []form             // the specifications of parts
	parts     map[Part]*function // by the part they predict
	direct    float64            // weight of the prediction of the total as a whole
	error     float64            // MAPE in leave-one-out, percent
	spread    float64            // factor on the deviations; or the deviation itself
	absolute  bool               // spread is the deviation of the logarithm
	feasible  feasibility        // the risk of a failure
	ensemble  ensemble           // of the function of the total, if it is a surface
	residuals []float64          // log T - log T predicted without the run
	machine   Machine            // of the runs; nil if it is not known
}

// A Prediction is a Model's prediction for one assignment. Times are in seconds.
type Prediction struct {
	Seconds   float64 // the median
	Low, High float64 // an interval that holds the next run with a probability of 95 %
	// Split names the parts that are separated. Compute, Network, Disk and Other add up to Seconds. As in [Run], parts
	// that are not separated are included in one of them.
	Split                  Split
	Compute, Network, Disk float64
	Other                  float64 // neither the processor nor I/O
	DataFlow               float64 // D, units
	Deviation              float64 // of log(seconds), noise included; NaN if not estimated
	Fails                  float64 // probability that the run fails
}

// Fit fits a model to runs, with the assignments of runs that failed. With Best, the total time is predicted both as a
// whole and as D·Σ o where the runs were taken apart, each weighted by its error in leave-one-out cross-validation. The
// runs are split as far as the least detailed of them is. It returns an error that matches assay.ErrTooFew without any
// run, and an error if a configuration is no member of the space.
func Fit(space *assay.Space, runs []Run, failed []assay.Config, regression Regression) (*Model, error) {
	split := splitOf(runs)
	all := make([]int, space.Dim())
	for i := range all {
		all[i] = i
	}
	kind := regression
	if kind == Best {
		kind = Smooth
	}
	var forms []form
	attrs := attributesOf(space, nil)
	add := func(p Part) {
		f := form{part: p, regression: kind, attributes: all}
		if kind == Linear {
			f.transforms = publishedTransforms(attrs, all, nil)
		}
		if p == DataFlow && constantFlow(runs) {
			f.attributes, f.transforms = nil, nil
		}
		forms = append(forms, f)
	}
	if regression == Best || split == SplitNone {
		add(Time)
	}
	if split != SplitNone {
		for _, p := range split.Parts() {
			add(p)
		}
		if hasOther(runs) {
			add(Other)
		}
	}
	add(DataFlow)
	return newModel(space, runs, failed, forms)
}

// publishedTransforms returns the predetermined transformation of each of the attributes (§4.1).
func publishedTransforms(attrs []attribute, which []int, reciprocal []string) []Transform {
	ts := make([]Transform, len(which))
	for k, i := range which {
		ts[k] = attrs[i].published(reciprocal)
	}
	return ts
}

// splitOf returns the least detailed split of the runs: a predictor can only be fitted to parts that every run has.
// Without runs it is SplitFull.
func splitOf(runs []Run) Split {
	split := SplitFull
	for _, r := range runs {
		split = min(split, r.Split)
	}
	return split
}

// hasOther reports whether a run with a full split spent at least 1 % of its time on neither the processor nor I/O.
// Less is rounding.
func hasOther(runs []Run) bool {
	return splitOf(runs) == SplitFull &&
		slices.ContainsFunc(runs, func(r Run) bool { return r.Other >= 0.01*r.Of(Whole) })
}

// constantFlow reports whether the data flow of the runs differs by 1 % at most: then it is
// taken for a constant, and no run is spent on learning it.
func constantFlow(runs []Run) bool {
	lo, hi := math.Inf(1), 0.0
	for _, r := range runs {
		lo, hi = min(lo, r.DataFlow), max(hi, r.DataFlow)
	}
	return hi <= 1.01*lo
}

// newModel fits the forms and validates the result. Among the forms is DataFlow, and Time or the parts of a split or
// both. It returns an error that matches assay.ErrTooFew without a run, and one for a run of no member of the space.
func newModel(space *assay.Space, runs []Run, failed []assay.Config, forms []form) (*Model, error) {
	if len(runs) == 0 {
		return nil, fmt.Errorf("no run: %w", assay.ErrTooFew)
	}
	for _, r := range runs {
		if err := space.Check(r.Config); err != nil {
			return nil, err
		}
	}
	m := &Model{
		space: space, attrs: attributesOf(space, nil), runs: runs, failed: failed, forms: forms,
		parts: map[Part]*function{},
	}
	for _, fm := range forms {
		f, err := fit(m.attrs, runs, fm, nil)
		if err != nil {
			return nil, err
		}
		m.parts[fm.part] = f
	}
	// The split of the model is the most detailed one whose parts its predictors have.
	for s := SplitFull; s > SplitNone; s-- {
		if m.has(s.Parts()) {
			m.split = s
			break
		}
	}
	var ok []assay.Config
	for _, r := range runs {
		ok = append(ok, r.Config)
	}
	m.feasible = newFeasibility(space, m.attrs, failed, ok)
	m.validate()
	if f := m.parts[Time]; f != nil && f.surface != nil && f.log {
		// With few runs left out of few, the residuals do not make intervals narrower.
		m.ensemble = ensembleOf(f.surface)
		m.spread = max(m.spread, 1)
	}
	return m, nil
}

// has reports whether there is a predictor of every part.
func (m *Model) has(parts []Part) bool {
	for _, p := range parts {
		if m.parts[p] == nil {
			return false
		}
	}
	return true
}

// whole reports whether the total is predicted without its parts.
func (m *Model) whole() bool { return m.parts[Time] != nil }

// apart reports whether the total is predicted by its parts.
func (m *Model) apart() bool { return m.split != SplitNone || m.parts[Whole] != nil }

// sum returns D·Σ o (Eq. 2) with the predictions from of, and the parts of the sum: computing, network, disk, other.
// Stalls that are not split count as disk. Without a split all time is computing.
func (m *Model) sum(of func(Part) float64) (total float64, parts [4]float64) {
	d := of(DataFlow)
	if m.split == SplitNone {
		if m.parts[Whole] != nil {
			parts[0] = d * of(Whole)
		}
		return parts[0], parts
	}
	for _, p := range m.split.Parts() {
		k := int(p)
		if p == Stall {
			k = int(Disk)
		}
		parts[k] = d * of(p)
	}
	if m.parts[Other] != nil {
		parts[3] = d * of(Other)
	}
	return parts[0] + parts[1] + parts[2] + parts[3], parts
}

// least is the least time that is predicted, in seconds. Linear functions can become 0 far
// from the runs, and logarithms are taken of predictions.
const least = 1e-9

// blend is the weighted geometric mean of both predictions of the total, direct and as a sum: errors of run times are
// errors of ratio. It is the one that there is if the model has only one.
func (m *Model) blend(direct, sum float64) float64 {
	switch {
	case !m.whole():
		return max(sum, least)
	case !m.apart() || m.direct == 1:
		return max(direct, least)
	}
	return math.Exp(m.direct*math.Log(max(direct, least)) + (1-m.direct)*math.Log(max(sum, least)))
}

// Predict returns the prediction at c, which is a member of the space. Cost: n² for each part, n runs.
func (m *Model) Predict(c assay.Config) Prediction {
	of := func(p Part) float64 { mean, _, _ := m.parts[p].at(c); return mean }
	p := Prediction{Split: m.split, DataFlow: of(DataFlow), Deviation: math.NaN(), Fails: m.feasible.risk(c)}
	sum, parts := m.sum(of)
	direct := math.NaN()
	if m.whole() {
		direct, _, p.Deviation = m.parts[Time].at(c)
	}
	p.Seconds = m.blend(direct, sum)
	if sum > 0 {
		// The parts keep their ratios and add up to the blend, so that they divide up the predicted time.
		for i := range parts {
			parts[i] *= p.Seconds / sum
		}
	} else {
		parts = [4]float64{p.Seconds}
	}
	p.Compute, p.Network, p.Disk, p.Other = parts[0], parts[1], parts[2], parts[3]
	p.Deviation = m.deviation(c, p.Seconds, p.Deviation)
	if p.Deviation *= m.spread; m.absolute {
		p.Deviation = m.spread
	}
	p.Low, p.High = m.interval(p.Seconds, p.Deviation)
	return p
}

// fewRuns widens intervals while runs are few, by half after 8 of them and by a tenth after 16. A step between
// two levels that no run has shown yet is in no deviation: with 8 runs, intervals held 89 and 91 % on two
// of four families of programs without it (TestIntervalsHoldElsewhere).
const fewRuns = 25

// interval returns the 95 % interval of a log-normal outcome: seconds·exp(±t·deviation), with Student's t for one
// degree of freedom less than runs. It is wider for a deviation estimated from few runs, which may also have missed
// variation. With a single run, or without an estimate, the interval is unbounded.
func (m *Model) interval(seconds, deviation float64) (low, high float64) {
	freedom := float64(len(m.runs) - 1)
	if math.IsNaN(deviation) || freedom < 1 {
		return 0, math.Inf(1)
	}
	t := distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(0.975)
	t *= 1 + fewRuns/(freedom*freedom)
	factor := math.Exp(min(t*deviation, 700))
	return seconds / factor, min(seconds*factor, math.MaxFloat64)
}

// Error is the mean absolute percentage error in leave-one-out cross-validation, in percent
// (§3.6). It is NaN for a single run.
func (m *Model) Error() float64 { return m.error }

// Elsewhere is the mean absolute percentage error to expect on assignments of the space, in percent. It is the
// geometric mean of two errors: the leave-one-out error, which is too low for few and short runs, and the error implied
// by the deviations over the space, which is too high for them. It is [Model.Error] if no deviation depends on the
// assignment. Cost: a prediction for each of at most 160 assignments.
func (m *Model) Elsewhere() float64 {
	if m.absolute || !(m.error > 0) {
		return m.error
	}
	if e := m.expected(someOf(m.space, rand.New(rand.NewPCG(0, 0)))); e > 0 {
		return math.Sqrt(m.error * e)
	}
	return m.error
}

// expected is the mean error in percent implied by the deviations on those assignments that do not fail; NaN if all
// fail. The mean of |x| for x from N(0, σ²) is √(2/π)·σ.
func (m *Model) expected(at []assay.Config) float64 {
	var sum, n float64
	for _, c := range at {
		if p := m.Predict(c); p.Fails < 0.5 && !math.IsNaN(p.Deviation) {
			sum, n = sum+p.Deviation, n+1
		}
	}
	return 100 * math.Sqrt(2/math.Pi) * sum / n
}

// WithoutOne returns for each of [Model.Runs] the seconds that are predicted without the runs of its
// assignment (§3.6), NaN if there are no others.
func (m *Model) WithoutOne() []float64 {
	out := make([]float64, len(m.runs))
	for i, r := range m.runs {
		out[i] = math.NaN()
		if !math.IsNaN(m.error) {
			out[i] = r.Seconds / math.Exp(m.residuals[i])
		}
	}
	return out
}

// Runs returns the runs that the model was fitted to. The caller does not change them.
func (m *Model) Runs() []Run { return m.runs }

// Failed returns the assignments on which the program failed.
func (m *Model) Failed() []assay.Config { return m.failed }

// Space returns the space of assignments.
func (m *Model) Space() *assay.Space { return m.space }

// Split returns the most detailed split of the time that the model predicts.
func (m *Model) Split() Split { return m.split }
