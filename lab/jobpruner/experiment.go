package jobpruner

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/study"
)

// Options select the measurements in each environment. All are required unless stated.
type Options struct {
	Variants    []Variant // see [Choices.Variants]
	Budgets     []float64 // trials, in per cent of the configurations: in (0, 100]
	Repetitions int       // at least 2
	Subjects    int       // environments that are searched; all of them are known to the others
	MaxTrials   int       // limit of a budget
	Threshold   float64   // least correlation of a study that prunes; 0 is the default of prune.Options
	Seed        uint64    // of the first repetition
	// Searcher makes a searcher by its name.
	Searcher func(name string, space *assay.Space, seed uint64) (assay.Searcher, error)
	Pool     bench.Pool // runs environments; the result does not depend on it
}

// An outcome is the result of one variant in one environment.
type outcome struct {
	errors [][]float64 // [budget][repetition]; relative to the optimum
	pruned []float64   // by repetition: share of the configurations at the end
}

// Run measures every variant in every environment of the data set and returns a row
// for each variant and budget, in that order. It returns the error of a searcher, or
// one of the class of usage if it cannot be narrowed and a variant prunes.
func (d *DataSet) Run(ctx context.Context, o Options) ([]Row, error) {
	subjects := d.subjects[:min(o.Subjects, len(d.subjects))]
	outcomes := make([][]outcome, len(subjects)) // [subject][variant]
	err := o.Pool.Each(ctx, len(subjects), func(ctx context.Context, _, i int) (err error) {
		outcomes[i], err = o.one(ctx, subjects[i], d.knowledge(subjects[i]))
		return err
	})
	if err != nil {
		return nil, err
	}
	return o.rows(d.Name, subjects, outcomes), nil
}

// one runs every variant in one environment.
func (o *Options) one(ctx context.Context, sub *subject, k *prune.Knowledge) ([]outcome, error) {
	most := o.trials(sub, slices.Max(o.Budgets))
	out := make([]outcome, len(o.Variants))
	for i, v := range o.Variants {
		out[i].errors = make([][]float64, len(o.Budgets))
		for r := range o.Repetitions {
			searcher, pruner, err := o.build(v, sub.space, k, o.Seed+uint64(r))
			if err != nil {
				return nil, err
			}
			curve, err := sub.play(ctx, searcher, most)
			if err != nil {
				return nil, err
			}
			for b, percent := range o.Budgets {
				out[i].errors[b] = append(out[i].errors[b], curve[o.trials(sub, percent)-1])
			}
			out[i].pruned = append(out[i].pruned, sub.pruned(pruner))
		}
	}
	return out, nil
}

// trials returns a budget in trials, at least 1.
func (o *Options) trials(sub *subject, percent float64) int {
	return min(o.MaxTrials, max(1, int(math.Round(percent/100*float64(len(sub.trials))))))
}

// play lets a searcher run n trials, each of which measures the mean of the recorded runs, and returns
// the relative error of the best one after each: the error of the worst row before the first result, and
// the last error for the trials after the search ended.
func (s *subject) play(ctx context.Context, searcher assay.Searcher, n int) ([]float64, error) {
	clock := &table.SimClock{}
	runner := bench.Simulate(clock, func(c assay.Config) assay.Measurement { return s.measured[c.Key()] })
	res, err := bench.Cell{
		Space: s.space, Goal: s.goal, Searcher: searcher, Runner: runner, Clock: clock, Budget: study.Budget{Trials: n},
	}.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	best := s.worst
	curve := make([]float64, n)
	for i := range curve {
		if i < len(res.Trials) && res.Trials[i].State == assay.Done {
			best = min(best, res.Trials[i].Value)
		}
		curve[i] = math.Abs(best-s.optimum) / math.Abs(s.optimum)
	}
	return curve, nil
}

// pruned returns the share of the configurations that are cut.
func (s *subject) pruned(p *prune.Pruner) float64 {
	if p == nil {
		return 0
	}
	n := 0.0
	for c := range s.space.All() {
		if !p.Keeps(c) {
			n++
		}
	}
	return n / float64(len(s.trials))
}
