package recorded

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/study"
)

// BudgetOptions select the studies that are searched within short budgets. All are required unless stated.
type BudgetOptions struct {
	Problems []bench.Problem
	Tables   []*table.Table // of the problems
	Method   bench.Method
	Budgets  []float64 // in median run times
	Noise    []float64 // standard deviations of the logarithm of a run time
	Within   float64   // which share above the best possible is good enough
	Seeds    int
	First    uint64 // optional: the first seed
	Workers  int    // studies at once; 0 means 1
	Progress func(done, total int)
}

// A BudgetReport is the result of [Budgets], in the shape of `assay-lab budget --json`.
type BudgetReport struct {
	Method string      `json:"method"`
	Within float64     `json:"within"`
	Seeds  int         `json:"seeds"`
	Rows   []BudgetRow `json:"rows"` // by study, budget and noise; rows without a study are of all
}

// A BudgetRow is the outcome of the studies of one budget and noise.
type BudgetRow struct {
	Study  string  `json:"study,omitempty"`
	Budget float64 `json:"budget_x"`
	Noise  float64 `json:"noise"`
	// Near is the share of the studies whose answer is good enough: in truth at most Within above the best that the same
	// search finds in the same time if no run differs and none is made again.
	Near float64    `json:"near"`
	CI95 [2]float64 `json:"near_ci95"`
	// Error is the mean of the logarithm of the answer's true value, as a share of that best.
	Error float64 `json:"log_ratio_mean"`
	// Trials is the mean number of trials, and Again the mean share of the time of all runs that repeated ones took.
	Trials float64 `json:"trials_mean"`
	Again  float64 `json:"again_mean"`
}

// A budgetOutcome belongs to one study.
type budgetOutcome struct{ logRatio, trials, again float64 }

// Budgets searches each study with each budget and noise as a study of a command would, and judges its answer.
func Budgets(ctx context.Context, o BudgetOptions) (BudgetReport, error) {
	if len(o.Problems) == 0 || len(o.Tables) != len(o.Problems) || o.Seeds < 1 || len(o.Budgets)*len(o.Noise) == 0 {
		return BudgetReport{}, fmt.Errorf("%d problems, %d tables, %d seeds, %d budgets, %d noises",
			len(o.Problems), len(o.Tables), o.Seeds, len(o.Budgets), len(o.Noise))
	}
	o.First = max(1, o.First)
	outs := make([][]budgetOutcome, len(o.Problems)*o.Seeds)
	pool := bench.Pool{Workers: o.Workers, Progress: o.Progress}
	err := pool.Each(ctx, len(outs), func(ctx context.Context, _, i int) (err error) {
		if outs[i], err = o.one(ctx, i/o.Seeds, o.First+uint64(i%o.Seeds)); err != nil {
			return fmt.Errorf("%s, seed %d: %w", o.Problems[i/o.Seeds].Name, o.First+uint64(i%o.Seeds), err)
		}
		return nil
	})
	if err != nil {
		return BudgetReport{}, err
	}
	r := BudgetReport{Method: o.Method.Name, Within: o.Within, Seeds: o.Seeds}
	for pi := range o.Problems {
		r.Rows = append(r.Rows, o.rows(o.Problems[pi].Name, outs[pi*o.Seeds:(pi+1)*o.Seeds])...)
	}
	r.Rows = append(r.Rows, o.rows("", outs)...)
	return r, nil
}

// one plays the studies of a table with one seed, by budget and then by noise.
func (o *BudgetOptions) one(ctx context.Context, of int, seed uint64) (outs []budgetOutcome, err error) {
	p := o.Problems[of]
	replays := make([]*table.Table, len(o.Noise))
	for i, noise := range o.Noise {
		replays[i] = bench.LogNormal(noise).Runs(o.Tables[of], seed, i)
	}
	for _, x := range o.Budgets {
		p.Time = time.Duration(x * float64(p.Median))
		free, _, err := play(ctx, &p, o.Method, seed, study.Budget{Time: p.Time}, 1)
		if err != nil {
			return nil, err
		}
		best := 1 + errorOf(&p, free.Best)
		for _, runs := range replays {
			res, err := bench.Whole(ctx, &p, o.Method, runs, seed, nil, 0)
			if err != nil {
				return nil, err
			}
			outs = append(outs, o.outcome(&p, &res, best))
		}
	}
	return outs, nil
}

// outcome judges the answer of a study.
func (o *BudgetOptions) outcome(p *bench.Problem, res *study.Result, best float64) budgetOutcome {
	var answer assay.Trial // without a configuration if no run ended by itself
	if res.Found {
		answer = res.Best
	}
	elapsed := func(runs []assay.Trial) (sum float64) {
		for _, t := range runs {
			sum += t.Measurement.Elapsed.Seconds()
		}
		return sum
	}
	again := elapsed(res.Races) + elapsed(res.Checks)
	return budgetOutcome{
		logRatio: math.Log((1 + errorOf(p, answer)) / best), trials: float64(len(res.Trials)),
		again: again / (again + elapsed(res.Trials)),
	}
}

// rows sums up the studies of one table, or of all.
func (o *BudgetOptions) rows(name string, outs [][]budgetOutcome) (rows []BudgetRow) {
	for bi, x := range o.Budgets {
		for ni, noise := range o.Noise {
			r, near := BudgetRow{Study: name, Budget: x, Noise: noise}, 0
			n := float64(len(outs))
			for _, of := range outs {
				out := of[bi*len(o.Noise)+ni]
				if out.logRatio <= math.Log1p(o.Within) {
					near++
				}
				r.Error, r.Trials, r.Again = r.Error+out.logRatio/n, r.Trials+out.trials/n, r.Again+out.again/n
			}
			share := stats.Proportion(near, len(outs), 0.95)
			r.Near, r.CI95 = share.Value, [2]float64{share.Low, share.High}
			rows = append(rows, r)
		}
	}
	return rows
}

// Write writes the report for people.
func (r BudgetReport) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "study", ">budget", ">noise %", ">near %", "95 %", ">above %", ">trials", ">again %")
	for _, row := range r.Rows {
		name := row.Study
		if name == "" {
			name = "all"
		}
		t.Add(name, fmt.Sprintf("%gx", row.Budget), fmt.Sprintf("%g", 100*row.Noise), percent(row.Near),
			percent(row.CI95[0])+" – "+percent(row.CI95[1]), percent(math.Expm1(row.Error)),
			fmt.Sprintf("%.1f", row.Trials), percent(row.Again))
	}
	return t.Write(w)
}
