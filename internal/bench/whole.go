package bench

import (
	"context"

	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

const (
	// pairsAtMost is the greatest number of pairs at the end, as in a study of a command with a time budget.
	pairsAtMost = 200
	// repetitions is how many runs of a configuration differ before they begin again.
	repetitions = 40
)

// Whole plays a study of a problem like a study of a command, within p.Time: with the repeated runs that find the best
// configuration and compare it with the first. runs is the table of its runs. meter records own time, as in a [Cell]; a
// part of it costs rate of the clock's time, 0 for nothing.
func Whole(
	ctx context.Context, p *Problem, m Method, runs *table.Table, seed uint64, meter *Meter, rate float64,
) (study.Result, error) {
	searcher, stopper, err := m.New(p, seed)
	if err != nil {
		return study.Result{}, err
	}
	clock := &table.SimClock{}
	return Cell{
		Space: p.Space, Goal: p.Goal, Searcher: searcher, Stopper: stopper,
		Runner: table.NewReplay(runs, clock, spec.Grows), Clock: clock, Interval: p.Interval,
		Budget: study.Budget{Time: p.Time}, Race: true, Check: pairsAtMost, Sequential: true,
		Meter: meter, Charge: rate > 0, Rate: rate,
	}.Run(ctx)
}
