package workflow

import (
	"math"
	"math/rand/v2"
	"slices"
)

// VaryOptions are the conditions of a Monte-Carlo estimate.
type VaryOptions struct {
	Error   float64 // run times are multiplied by a factor uniform in [1-Error, 1+Error]
	Samples int     // sets of run times; 0 counts as 100, as in the paper
	Seed    uint64  // of the factors
}

// A Spread summarises the predictions for one number of slots.
type Spread struct {
	Slots          int       // number of slots
	Mean, Min, Max Seconds   // of Predictions
	Low, High      Seconds   // the 5 % and 95 % quantiles
	Predictions    []Seconds // one for each sample
}

// Vary predicts the makespan of w by levels for each number of slots, with
// random errors in the run times (Pietri et al., §V.C c and d: Table I with an
// Error of 0.05, 0.10 and 0.15; Fig. 4 with 0.10 and slots from 4 to 256). The
// same seed gives the same predictions, and every number of slots sees the same
// run times. It costs O(samples · (tasks + slots · levels)) for a
// [FixedLeveler].
func Vary(w *Workflow, leveler Leveler, overhead Overhead, slots []int, opt VaryOptions) ([]Spread, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	return vary(w, leveler, slots, opt, func(levels []Level,
		n int,
	) Seconds {
		return overhead.Makespan(levels, n)
	}), nil
}

// vary is Vary for any prediction of a makespan from levels. Run times are drawn in the order of samples
// and tasks, so that more slots do not change the draws.
//
// All samples of one number of slots are in the order of the draws, so that predictions with equal index
// have equal run times. The second seed is arbitrary but fixed: recorded predictions depend on it.
func vary(w *Workflow, leveler Leveler, slots []int, opt VaryOptions, predict func([]Level, int) Seconds) []Spread {
	samples := opt.Samples
	if samples == 0 {
		samples = 100
	}
	rng := rand.New(rand.NewPCG(opt.Seed, 0x5e7f))
	_, fixed := leveler.(FixedLeveler)
	var level []int32
	out := make([]Spread, len(slots))
	run := make([]Seconds, len(w.Tasks))
	src := w.Runs()
	for range samples {
		for i, r := range src {
			run[i] = r * (1 + opt.Error*(2*rng.Float64()-1))
		}
		var levels []Level
		for i, n := range slots {
			if !fixed || level == nil {
				level = leveler.Level(w.Graph, run, n)
			}
			if !fixed || levels == nil {
				levels = Profile(w, run, level)
			}
			out[i].Predictions = append(out[i].Predictions, predict(levels, n))
		}
	}
	for i := range out {
		out[i].Slots = slots[i]
		out[i].summarise()
	}
	return out
}

// summarise fills the rest from Predictions, of which there is at least one.
//
// Predictions keep their order: Quantile sorts a copy.
func (s *Spread) summarise() {
	sum := 0.0
	for _, x := range s.Predictions {
		sum += x
	}
	s.Mean = sum / float64(len(s.Predictions))
	sorted := slices.Clone(s.Predictions)
	s.Low, s.High = Quantile(sorted, 0.05), Quantile(sorted, 0.95)
	s.Min, s.Max = sorted[0], sorted[len(sorted)-1]
}

// Quantile returns the q-quantile of x, which it sorts in place; NaN if x is empty.
// It interpolates linearly between order statistics (type 7 of Hyndman and Fan
// 1996), as stats.Quantile does. It is not that function, because its sum rounds
// otherwise in the last digit and the intervals of plans that people keep as JSON
// would change.
func Quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	slices.Sort(x)
	at := q * float64(len(x)-1)
	i := int(at)
	if i+1 >= len(x) {
		return x[len(x)-1]
	}
	return x[i] + (at-float64(i))*(x[i+1]-x[i])
}

// Share returns the part of the predictions whose error against real is less
// than limit: an entry of Table I.
func (s *Spread) Share(real Seconds, limit float64) float64 {
	n := 0
	for _, p := range s.Predictions {
		if RelError(real, p) < limit {
			n++
		}
	}
	return float64(n) / float64(len(s.Predictions))
}

// Average predicts the makespan for each number of slots from each of several
// recorded executions, with random errors in their run times, and sums up all
// predictions for a number of slots together (Fig. 4: 900 predictions from nine
// executions of Montage). Each execution has a seed of its own, counted up from
// opt.Seed. The executions need not have the same tasks: clustered ones differ. It
// panics if there are none.
func Average(runs []*Workflow, leveler Leveler, overhead Overhead, slots []int, opt VaryOptions) ([]Spread, error) {
	return average(runs, opt, func(w *Workflow, opt VaryOptions) ([]Spread, error) {
		return Vary(w, leveler, overhead, slots, opt)
	})
}

// Average is [Average] with the calibration's prediction of each execution. Random errors multiply it by
// the factor by which they multiply the prediction of the overhead that is closest to the calibration
// (see BestOverhead).
func (c *Calibration) Average(runs []*Workflow, leveler Leveler, slots []int, opt VaryOptions) ([]Spread, error) {
	return average(runs, opt, func(w *Workflow, opt VaryOptions) ([]Spread, error) {
		overhead := c.BestOverhead(slots[0])
		all, err := Vary(w, leveler, overhead, slots, opt)
		if err != nil {
			return nil, err
		}
		point, err := NewLevelModel(w, leveler, overhead)
		if err != nil {
			return nil, err
		}
		for i := range all {
			n := all[i].Slots
			x, err := point.Makespan(n)
			if err != nil {
				return nil, err
			}
			p, err := c.Predict(w, leveler, n)
			if err != nil {
				return nil, err
			}
			if x > 0 {
				for k := range all[i].Predictions {
					all[i].Predictions[k] *= p.Makespan / x
				}
			}
		}
		return all, nil
	})
}

// average sums up the predictions of vary from each execution with a seed of its own.
//
// vary must return one Spread for each number of slots, in the same order each time. opt is a copy, so
// that the seed of the caller stays.
func average(runs []*Workflow, opt VaryOptions, vary func(*Workflow, VaryOptions) ([]Spread, error)) ([]Spread, error) {
	if len(runs) == 0 {
		panic("workflow: no executions")
	}
	var all []Spread
	for _, w := range runs {
		s, err := vary(w, opt)
		if err != nil {
			return nil, err
		}
		opt.Seed++
		if all == nil {
			all = s
			continue
		}
		for i := range all {
			all[i].Predictions = append(all[i].Predictions, s[i].Predictions...)
		}
	}
	for i := range all {
		all[i].summarise()
	}
	return all, nil
}

// kneeGain is the least saving that makes more slots worthwhile: one part in twenty of the makespan.
const kneeGain = 0.05

// Knee returns the index of the fewest slots whose makespan is within 5 % of the
// least: "there is no performance improvement if more than 64 slots are used"
// (§V.C d). slots ascend. It returns -1 if there are none.
func Knee(slots []int, makespan []Seconds) int {
	if len(slots) != len(makespan) {
		panic("workflow: slice length mismatch")
	}
	if len(slots) == 0 {
		return -1
	}
	limit := slices.Min(makespan) * (1 + kneeGain)
	return slices.IndexFunc(makespan, func(x Seconds) bool { return x <= limit })
}

// Vary predicts w on the machines of its recorded execution with random errors
// in the run times, as [Vary] does without a calibration.
func (c *Calibration) Vary(w *Workflow, leveler Leveler, opt VaryOptions) Spread {
	samples := opt.Samples
	if samples == 0 {
		samples = 100
	}
	rng := rand.New(rand.NewPCG(opt.Seed, 0x5e7f))
	s := Spread{Slots: w.Cores()}
	for range samples {
		run := w.Runs()
		for i := range run {
			run[i] *= 1 + opt.Error*(2*rng.Float64()-1)
		}
		y, _ := predictModels(c.Models, levelFeatures(w.WithRuns(run), leveler, w.Cores(), 0), nil)
		s.Predictions = append(s.Predictions, y)
	}
	s.summarise()
	return s
}
