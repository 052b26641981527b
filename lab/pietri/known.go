package pietri

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay/internal/workflow/trace"
	"github.com/assay-run/assay/workflow"
)

// draws is how often FromKnown draws the configurations of a group. One configuration is not drawn:
// each has its turn.
const draws = 12

// FromKnown predicts executions from n configurations of their application and site alone: from each
// configuration if n is 1, else from n that are drawn at random, [draws] times for each group with more than n. An
// execution is predicted as often as its configuration is not among those drawn. Grids are left out. Equal
// arguments give equal outcomes.
func FromKnown(runs []trace.Recorded, n int) ([]Outcome, error) {
	var out []Outcome
	for _, g := range groups(runs) {
		if n < 1 || n >= len(g) {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(n), uint64(len(g))))
		times := draws
		if n == 1 {
			times = len(g)
		}
		for i := range times {
			order := rng.Perm(len(g))
			if n == 1 {
				at := slices.Index(order, i)
				order[0], order[at] = order[at], order[0]
			}
			var train []workflow.Execution
			for _, c := range order[:n] {
				for _, r := range g[c] {
					train = append(train, r.Execution)
				}
			}
			c, err := workflow.Calibrate(train)
			if err != nil {
				return nil, err
			}
			for _, k := range order[n:] {
				for _, r := range g[k] {
					o := outcome(r)
					o.From, o.Trained = "app and site", len(train)
					if o.Prediction, err = c.Predict(r.Workflow, workflow.TopDown{}, 0); err != nil {
						return nil, err
					}
					o.Error = workflow.RelError(r.Workflow.Makespan, o.Makespan)
					out = append(out, o)
				}
			}
		}
	}
	return out, nil
}

// groups returns the executions that are not on grids by application and site, and within these by
// configuration, in the order in which they come.
func groups(runs []trace.Recorded) [][][]*trace.Recorded {
	var out [][][]*trace.Recorded
	for i := range runs {
		r := &runs[i]
		if r.Grid {
			continue
		}
		g := slices.IndexFunc(out, func(x [][]*trace.Recorded) bool {
			return x[0][0].App == r.App && x[0][0].Site == r.Site
		})
		if g < 0 {
			g = len(out)
			out = append(out, nil)
		}
		c := slices.IndexFunc(out[g], func(x []*trace.Recorded) bool { return x[0].Config == r.Config })
		if c < 0 {
			c = len(out[g])
			out[g] = append(out[g], nil)
		}
		out[g][c] = append(out[g][c], r)
	}
	return out
}

// Repeats is how far repetitions of one configuration are from each other: the error of an execution
// that is predicted by the geometric mean of the makespans of its repetitions. No predictor that knows
// the configuration, but not the events of an execution, does much better.
type Repeats struct {
	Executions int     `json:"executions"`
	Median     float64 `json:"median_error"`
	Within20   float64 `json:"within_20"`
}

// repeats returns the error of repetitions that predict each other; nil without repetitions.
func repeats(runs []trace.Recorded) *Repeats {
	var errs []float64
	within := 0
	for _, g := range groups(runs) {
		for _, c := range g {
			sum := 0.0
			for _, r := range c {
				sum += math.Log(r.Workflow.Makespan)
			}
			for _, r := range c {
				if n := float64(len(c) - 1); n > 0 {
					real := r.Workflow.Makespan
					e := workflow.RelError(real, math.Exp((sum-math.Log(real))/n))
					if errs = append(errs, e); e < 0.2 {
						within++
					}
				}
			}
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return &Repeats{len(errs), workflow.Quantile(errs, 0.5), float64(within) / float64(len(errs))}
}
