package jobpruner

import (
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay/internal/stats"
)

// A Row is one variant at one budget, in the shape of `assay-lab jobpruner --json`.
type Row struct {
	DataSet string `json:"data_set"`
	Variant
	Budget    float64    `json:"budget_percent"`
	Trials    float64    `json:"trials_mean"` // over the environments
	Error     float64    `json:"error_mean"`  // relative, mean over environments and repetitions
	CI95      [2]float64 `json:"error_ci95"`
	Ratio     float64    `json:"ratio"`         // of Error to the error of none
	RatioCI95 [2]float64 `json:"ratio_ci95"`    // by bootstrap of the repetitions, in pairs
	Similar   float64    `json:"error_similar"` // over environments with a rank correlation above 0.8
	SimRatio  float64    `json:"ratio_similar"`
	Pruned    float64    `json:"pruned_mean"` // share of the configurations at the end
	PrunedCI  [2]float64 `json:"pruned_ci95"`
	BySubject []float64  `json:"error_by_environment"`
}

// A Set describes a data set of the result: its environments, and how much each is
// like the nearest other one.
type Set struct {
	Name         string       `json:"name"`
	Environments []string     `json:"environments"`
	Rank         Correlations `json:"best_rank_correlation"`
	NCC          Correlations `json:"best_cross_correlation"`
}

// Correlations are the correlations of environments with their nearest other environment: -Inf, null in
// JSON, for an environment without any, as all of its runs had the same result.
type Correlations []float64

// MarshalJSON implements [json.Marshaler].
func (c Correlations) MarshalJSON() ([]byte, error) {
	out := make([]*float64, len(c))
	for i := range c {
		if !math.IsInf(c[i], -1) {
			out[i] = &c[i]
		}
	}
	return json.Marshal(out)
}

// known returns those that there are.
func (c Correlations) known() []float64 {
	return slices.DeleteFunc(slices.Clone(c), func(r float64) bool { return math.IsInf(r, -1) })
}

// A Report is the result of several data sets.
type Report struct {
	DataSets []Set `json:"data_sets"`
	Rows     []Row `json:"rows"`
}

// A Part is the rows that belong to one table of the paper, never none.
type Part struct {
	Title string
	Rows  []Row
}

// Parts returns the tables of the report. Each has the rows without a knowledge base,
// with which the others are compared; one that has no row of its own is still there.
func (r Report) Parts() []Part {
	parts := []Part{
		{Title: "aggressiveness (Table I, Fig. 5 to 8)"},
		{Title: "size of the knowledge base (Table II, Fig. 9 to 12)"},
		{Title: "uses of the knowledge base"},
	}
	for _, row := range r.Rows {
		prunes := row.prunes()
		for i, belongs := range []bool{prunes && row.KB == "all", prunes && row.Alpha == "auto", !prunes} {
			if belongs || row.Use == "none" {
				parts[i].Rows = append(parts[i].Rows, row)
			}
		}
	}
	return slices.DeleteFunc(parts, func(p Part) bool { return len(p.Rows) == 0 })
}

// Set returns the description of the data set.
func (d *DataSet) Set() Set {
	set := Set{Name: d.Name}
	for _, s := range d.subjects {
		set.Environments = append(set.Environments, s.name)
		set.Rank, set.NCC = append(set.Rank, s.nearest), append(set.NCC, s.nearestR)
	}
	return set
}

// rows summarizes the outcomes by variant and budget. Ratios are to the variant without
// a knowledge base of the same method, repetition by repetition.
func (o *Options) rows(name string, subjects []*subject, outcomes [][]outcome) []Row {
	var rows []Row
	base := 0
	for vi, v := range o.Variants {
		if v.Use == "none" {
			base = vi
		}
		for bi := range o.Budgets {
			row := o.row(subjects, outcomes, vi, base, bi)
			row.DataSet, row.Variant = name, v
			rows = append(rows, row)
		}
	}
	return rows
}

// row summarizes variant vi at budget bi, of which base is that without knowledge.
func (o *Options) row(subjects []*subject, outcomes [][]outcome, vi, base, bi int) Row {
	row := Row{Budget: o.Budgets[bi]}
	errs, none := make([]float64, o.Repetitions), make([]float64, o.Repetitions) // means over the environments
	var similar, similarNone, pruned []float64
	n := float64(len(subjects))
	for si, sub := range subjects {
		c, b := outcomes[si][vi], outcomes[si][base]
		row.Trials += float64(o.trials(sub, row.Budget)) / n
		row.BySubject = append(row.BySubject, stats.Mean(c.errors[bi]))
		for r := range o.Repetitions {
			errs[r] += c.errors[bi][r] / n
			none[r] += b.errors[bi][r] / n
		}
		if sub.nearest > 0.8 {
			similar = append(similar, c.errors[bi]...)
			similarNone = append(similarNone, b.errors[bi]...)
		}
		pruned = append(pruned, c.pruned...)
	}
	row.Error, row.CI95 = stats.Mean(errs), interval(errs)
	row.Ratio, row.RatioCI95 = ratio(errs, none)
	if len(similar) > 0 {
		row.Similar = stats.Mean(similar)
		row.SimRatio = quotient(row.Similar, stats.Mean(similarNone))
	}
	row.Pruned, row.PrunedCI = stats.Mean(pruned), interval(pruned)
	return row
}

// interval returns the 95 % bootstrap interval of the mean; one value is its own.
func interval(x []float64) [2]float64 {
	e := stats.Bootstrap(x, stats.Mean, stats.BootstrapOptions{Seed: 1})
	if math.IsInf(e.Low, 0) || math.IsInf(e.High, 0) || math.IsNaN(e.Low) {
		return [2]float64{e.Value, e.Value}
	}
	return [2]float64{e.Low, e.High}
}

// quotient returns x/y, 1 for equal ones: an error of 0 is no worse than another.
func quotient(x, y float64) float64 {
	if x == y {
		return 1
	}
	return x / max(y, 1e-9)
}

// ratio returns the ratio of the means and its 95 % percentile interval by 2,000
// resamples of the pairs.
func ratio(x, y []float64) (float64, [2]float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []float64
	for range 2000 {
		var sx, sy float64
		for range x {
			i := rng.IntN(len(x))
			sx += x[i]
			sy += y[i]
		}
		all = append(all, quotient(sx, sy))
	}
	slices.SortFunc(all, cmp.Compare[float64])
	return quotient(stats.Mean(x), stats.Mean(y)), [2]float64{all[50], all[1949]}
}
