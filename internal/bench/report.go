package bench

import (
	"math"

	"github.com/assay-run/assay/internal/stats"
)

// A Report is the result of [Run], in the shape of `assay bench --json`.
type Report struct {
	Studies []string  `json:"studies"`
	Methods []string  `json:"methods"`
	Seeds   int       `json:"seeds"`
	Charged bool      `json:"overhead_charged,omitempty"` // to the time budgets
	Rows    []Row     `json:"rows"`
	Geomean []Geomean `json:"geomean"`
	Raced   []Raced   `json:"raced,omitempty"` // where Options.Race is set
}

// BudgetAt is a budget as it is printed.
type BudgetAt struct {
	Kind    string  `json:"kind"`
	Value   float64 `json:"value"`
	Seconds float64 `json:"seconds,omitempty"`
}

// A Row is one method on one study at one budget. Errors are relative errors to
// the table's optimum, |best - optimum| / optimum (Cello, Eq. 6); the best is
// judged by its mean over repetitions, and is the table's worst row for a
// search that completed no feasible trial.
type Row struct {
	Study              string     `json:"study"`
	Method             string     `json:"method"`
	Budget             BudgetAt   `json:"budget"`
	Mean               float64    `json:"re_mean"`
	CI95               [2]float64 `json:"re_ci95"` // bootstrap interval of the mean
	Median             float64    `json:"re_median"`
	BySeed             []float64  `json:"re_by_seed"`
	Trials             float64    `json:"trials_mean"`
	Completed          float64    `json:"completed_mean"`
	Found              float64    `json:"found"`        // share of the seeds that had a run within the limits
	Outside            float64    `json:"outside_mean"` // runs that broke a limit
	Early              float64    `json:"early_mean"`   // runs stopped by a prediction, before they had reached the best
	Wrong              float64    `json:"wrong_mean"`   // of these, runs of configurations truly better than that best
	Spent              float64    `json:"spent_s_mean"`
	OverheadMSPerTrial float64    `json:"overhead_ms_per_trial"` // real time of searching, deciding and recording
	DecidingMSPerTrial float64    `json:"deciding_ms_per_trial"` // of this, the stopping rule's
	Curve              []float64  `json:"curve,omitempty"`       // mean error at 10 equal parts of the budget
}

// A Geomean is exp(mean of log(best/optimum)) - 1 over studies and seeds, each
// study weighing the same.
type Geomean struct {
	Method string     `json:"method"`
	Budget BudgetAt   `json:"budget"`
	RE     float64    `json:"re"`
	CI95   [2]float64 `json:"re_ci95"` // bootstrap over seeds
}

func (o *Options) report(cells map[key][]outcome) Report {
	r := Report{Seeds: o.Seeds, Charged: o.Charge}
	for _, p := range o.Problems {
		r.Studies = append(r.Studies, p.Name)
	}
	for mi, m := range o.Methods {
		r.Methods = append(r.Methods, m.Name)
		for bi, b := range o.Budgets {
			bySeed := make([]float64, o.Seeds) // mean over studies of the log ratio
			for pi := range o.Problems {
				outs := cells[key{pi, mi, bi}]
				r.Rows = append(r.Rows, o.row(pi, mi, bi, outs))
				for s, c := range outs {
					bySeed[s] += c.logRatio / float64(len(o.Problems))
				}
			}
			ci := Interval(bySeed)
			r.Geomean = append(r.Geomean, Geomean{
				Method: m.Name, Budget: BudgetAt{Kind: b.Kind, Value: b.Value, Seconds: b.Time.Seconds()},
				RE: math.Expm1(stats.Mean(bySeed)), CI95: [2]float64{math.Expm1(ci[0]), math.Expm1(ci[1])},
			})
		}
	}
	if o.Race > 0 {
		r.Raced = o.raced(cells)
	}
	return r
}

// Interval returns the 95 % bootstrap interval of the mean. One value has itself.
func Interval(x []float64) [2]float64 {
	e := stats.Bootstrap(x, stats.Mean, stats.BootstrapOptions{Seed: 1})
	if math.IsInf(e.Low, 0) || math.IsInf(e.High, 0) {
		return [2]float64{e.Value, e.Value}
	}
	return [2]float64{e.Low, e.High}
}

func (o *Options) row(pi, mi, bi int, outs []outcome) Row {
	p := &o.Problems[pi]
	b := o.Budgets[bi].At(p)
	row := Row{Study: p.Name, Method: o.Methods[mi].Name, Budget: BudgetAt{
		Kind: b.Kind, Value: b.Value,
		Seconds: b.Time.Seconds(),
	}}
	n := float64(len(outs))
	if o.Curve {
		row.Curve = make([]float64, 10)
	}
	for _, c := range outs {
		row.BySeed = append(row.BySeed, c.re)
		row.Trials += float64(c.ended) / n
		row.Completed += float64(c.completed) / n
		row.Outside += float64(c.outside) / n
		if c.found {
			row.Found += 1 / n
		}
		row.Early += float64(c.early) / n
		row.Wrong += float64(c.wrong) / n
		row.Spent += c.spent.Seconds() / n
		row.OverheadMSPerTrial += c.overheadPerTrial.Seconds() * 1e3 / n
		row.DecidingMSPerTrial += c.decidingPerTrial.Seconds() * 1e3 / n
		for k, re := range c.curve {
			row.Curve[k] += re / n
		}
	}
	row.Mean, row.Median = stats.Mean(row.BySeed), stats.Median(row.BySeed)
	row.CI95 = Interval(row.BySeed)
	return row
}
