package cello

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/study"
)

// Experiments are the names of all experiments, in the order in which they are reported.
var Experiments = []string{"error", "same", "overhead"}

// Options select the runs. All are required.
type Options struct {
	Experiments []string // some of Experiments
	Problems    []bench.Problem
	Methods     []bench.Method // of error and overhead
	BudgetX     float64        // time of error and overhead, in median run times of the table
	Seeds       int            // seeds 1..Seeds
	// Pool runs searches. Predictions do not depend on it; the time of a search does.
	Pool bench.Pool
}

// A Row is the result of one experiment on one method, or regression, and one study. Values that an
// experiment does not measure are absent.
type Row struct {
	Experiment string `json:"experiment"`
	Study      string `json:"study"`
	Method     string `json:"method"`
	// The mean over seeds of the mean squared error over all predictions of a seed, in
	// the unit of the objective squared, and its bootstrap interval.
	MSE         float64    `json:"mse,omitempty"`
	CI95        [2]float64 `json:"mse_ci95,omitzero"`
	Predictions int        `json:"predictions,omitempty"`
	Parts       []float64  `json:"mse_by_tenth,omitempty"` // when 1/10, ..., 9/10 of a run has passed
	// Real time by trial, and its parts: searching, and deciding about stops.
	Trials     float64    `json:"trials_mean,omitempty"`
	OverheadMS float64    `json:"overhead_ms_per_trial,omitempty"`
	OverheadCI [2]float64 `json:"overhead_ci95,omitzero"` // of the mean over seeds
	LearningMS float64    `json:"learning_ms_per_trial,omitempty"`
	DecidingMS float64    `json:"deciding_ms_per_trial,omitempty"`
}

// Run returns a row for each experiment, study and method, in that order. Methods that never predict
// have no row in error. An unknown experiment, or a lack of methods that predict, is an error of the
// class usage.
func Run(ctx context.Context, o Options) ([]Row, error) {
	for _, name := range o.Experiments {
		if !slices.Contains(Experiments, name) {
			return nil, assay.Errorf(assay.ClassUsage, "no experiment %q (there are %s)", name,
				strings.Join(Experiments, ", "))
		}
	}
	var rows []Row
	searches := slices.Contains(o.Experiments, "error") || slices.Contains(o.Experiments, "overhead")
	var found []outcome
	if searches {
		var err error
		if found, err = o.searches(ctx); err != nil {
			return nil, err
		}
	}
	for _, name := range Experiments {
		if !slices.Contains(o.Experiments, name) {
			continue
		}
		var some []Row
		var err error
		switch name {
		case "error":
			some, err = o.errors(found)
		case "same":
			some, err = o.same(ctx)
		case "overhead":
			some = o.overheads(found)
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

// An outcome is the result of one method on one problem with one seed.
type outcome struct {
	trials  int
	errors  squares
	meter   bench.Meter
	problem int
	method  int
}

// searches runs every method on every problem with every seed: by problem, method and seed.
func (o *Options) searches(ctx context.Context) ([]outcome, error) {
	all := make([]outcome, len(o.Problems)*len(o.Methods)*o.Seeds)
	return all, o.Pool.Each(ctx, len(all), func(ctx context.Context, _, i int) (err error) {
		seed := uint64(i%o.Seeds) + 1
		s := outcome{problem: i / o.Seeds / len(o.Methods), method: i / o.Seeds % len(o.Methods)}
		p, m := &o.Problems[s.problem], &o.Methods[s.method]
		if err := s.run(ctx, p, m, o.BudgetX, seed); err != nil {
			return fmt.Errorf("%s on %s, seed %d: %w", m.Name, p.Name, seed, err)
		}
		all[i] = s
		return nil
	})
}

// run plays a method, and compares the predictions of its rule at each interval with the final value of
// the run.
func (s *outcome) run(ctx context.Context, p *bench.Problem, m *bench.Method, budgetX float64, seed uint64) error {
	budget := bench.Budget{Kind: "budget-x", Value: budgetX}.At(p)
	q := *p
	q.Time = budget.Time
	searcher, stopper, err := m.New(&q, seed)
	if err != nil {
		return err
	}
	runner, clock := p.Replay(seed)
	if stopper != nil {
		stopper = &witness{stopper, p.True, &s.errors}
	}
	res, err := bench.Cell{
		Space: p.Space, Goal: p.Goal, Searcher: searcher, Stopper: stopper, Runner: runner, Clock: clock,
		Interval: p.Interval, Budget: study.Budget{Time: budget.Time}, Meter: &s.meter,
	}.Run(ctx)
	s.trials = len(res.Trials)
	return err
}

// squares are squared errors.
type squares struct {
	sum float64
	n   int
}

// add adds the error of a prediction. Unknown values and missing predictions add nothing.
func (s *squares) add(predicted, truth float64) {
	if e := predicted - truth; !math.IsNaN(e) && !math.IsInf(e, 0) {
		s.sum += e * e
		s.n++
	}
}

// mean returns the mean squared error, NaN of none.
func (s squares) mean() float64 { return s.sum / float64(s.n) }

// A witness compares the predictions of a rule with the true values.
type witness struct {
	assay.Stopper
	truth func(assay.Config) (float64, bool)
	seen  *squares
}

// Decide implements [assay.Stopper].
func (w *witness) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	d := w.Stopper.Decide(history, running)
	if v, _ := w.truth(running.Config); v > 0 {
		w.seen.add(d.Predicted, v)
	}
	return d
}

// of returns the outcomes of a method on a problem, by seed.
func of(all []outcome, problem, method int) (some []outcome) {
	for _, s := range all {
		if s.problem == problem && s.method == method {
			some = append(some, s)
		}
	}
	return some
}

// errors returns the rows of Figure 8.
func (o *Options) errors(found []outcome) ([]Row, error) {
	var rows []Row
	for pi := range o.Problems {
		for mi := range o.Methods {
			var bySeed []squares
			for _, s := range of(found, pi, mi) {
				bySeed = append(bySeed, s.errors)
			}
			r := Row{Experiment: "error", Study: o.Problems[pi].Name, Method: o.Methods[mi].Name}
			if r.setErrors(bySeed); r.Predictions > 0 {
				rows = append(rows, r)
			}
		}
	}
	if len(rows) == 0 {
		return nil, assay.Errorf(assay.ClassUsage,
			"no method predicted the final value of a run (bo-gb, cello-paper and cello do)")
	}
	return rows, nil
}

// setErrors sets the mean squared error over all seeds, and its interval.
func (r *Row) setErrors(bySeed []squares) {
	var all squares
	var means []float64
	for _, s := range bySeed {
		all.sum, all.n = all.sum+s.sum, all.n+s.n
		if s.n > 0 {
			means = append(means, s.mean())
		}
	}
	if r.Predictions = all.n; all.n == 0 {
		return
	}
	r.MSE, r.CI95 = stats.Mean(means), bench.Interval(means)
}

// overheads returns the rows of Figures 9 and 10.
func (o *Options) overheads(found []outcome) []Row {
	var rows []Row
	for pi := range o.Problems {
		for mi := range o.Methods {
			r := Row{Experiment: "overhead", Study: o.Problems[pi].Name, Method: o.Methods[mi].Name}
			var total []float64
			some := of(found, pi, mi)
			for _, s := range some {
				perTrial := 1e3 / float64(max(1, s.trials))
				learning, deciding := s.meter.Learning.Seconds()*perTrial, s.meter.Deciding.Seconds()*perTrial
				total = append(total, learning+deciding)
				r.Trials += float64(s.trials) / float64(len(some))
				r.LearningMS += learning / float64(len(some))
				r.DecidingMS += deciding / float64(len(some))
			}
			r.OverheadMS, r.OverheadCI = stats.Mean(total), bench.Interval(total)
			rows = append(rows, r)
		}
	}
	return rows
}
