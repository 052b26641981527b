// Package recorded judges rules of assay itself on recorded tables, in simulated time:
//
//	budget.go    the best found in a short time
//	fleet.go     machines that differ, as the workers of one study
//	gain.go      whether the rule that ends studies is right
//	level.go     the value of cheap levels
//	parallel.go  the cost of runs at once
package recorded

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/study"
)

// play runs a study of a problem's table by a method within a budget, with a number of runs at once, and
// returns its result and its start, in simulated time.
func play(
	ctx context.Context, p *bench.Problem, m bench.Method, seed uint64, b study.Budget, parallel int,
) (res study.Result, began time.Time, err error) {
	searcher, stopper, err := m.New(p, seed)
	if err != nil {
		return res, began, err
	}
	runner, clock := p.Replay(seed)
	began = clock.Now()
	res, err = bench.Cell{
		Space: p.Space, Goal: p.Goal, Searcher: searcher, Stopper: stopper, Runner: runner, Clock: clock,
		Interval: p.Interval, Budget: b, Parallel: parallel,
	}.Run(ctx)
	return res, began, err
}

// errorOf returns the relative error of a trial to the optimum, or of the worst configuration without a trial.
func errorOf(p *bench.Problem, t assay.Trial) float64 {
	v := p.Worst
	if t.Config != nil {
		if x, ok := p.True(t.Config); ok {
			v = x
		}
	}
	return math.Abs(v-p.Optimum) / math.Abs(p.Optimum)
}

// ratioOf returns the geometric mean of ratios, of which the logarithms are given, and its interval.
func ratioOf(logs []float64) (mean float64, ci [2]float64) {
	e := stats.MeanInterval(logs, 0.95)
	return math.Exp(e.Value), [2]float64{math.Exp(e.Low), math.Exp(e.High)}
}

func percent(x float64) string { return fmt.Sprintf("%.1f", 100*x) }
