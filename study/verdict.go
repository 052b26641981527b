package study

import (
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// Little is the share below which a gain counts for nothing: two configurations that differ by less are as good as one
// another.
const Little = 0.01

// A Verdict compares the best configuration of a study with the first one.
type Verdict struct {
	stats.Comparison // of the metric as people read it: Change is (best - first) / |first|
	// Pairs is the number of pairs of runs that were made for the comparison. Without a pair and without several runs of
	// the best that were made for it, Change is the change of the two medians, and nothing more is known.
	Pairs int
}

// Verdict compares the best configuration with the first one, which ran to its end and is another, else ok is false.
// The pairs are the runs that were made for it when the choice of the best was made; [stats.CompareVerdict] defines
// the other runs that count.
func (r *Result) Verdict(g assay.Goal) (v Verdict, ok bool) {
	if !r.Found || r.First.State != assay.Done || r.Best.Config.Equal(r.First.Config) {
		return v, false
	}
	first, best, n := r.pairs(g)
	if n == 0 && len(best) < 2 {
		value, _ := r.FirstMeasured(g)
		v.Comparison = stats.CompareFew([]float64{value}, []float64{g.Show(r.Best.Value)}, nil, stats.CompareOptions{})
		return v, true
	}
	var earlier []float64
	var others repeats
	for _, t := range slices.Concat(r.Trials, r.Races) {
		switch {
		case t.State != assay.Done:
		case t.Config.Equal(r.First.Config):
			earlier = append(earlier, g.Show(t.Value))
		case !t.Config.Equal(r.Best.Config):
			others.add(t.Config, g.Show(t.Value))
		}
	}
	v.Comparison, v.Pairs = stats.CompareVerdict(first, best, earlier, others.groups()), n
	return v, true
}

// FirstMeasured returns the median of all complete runs of the first configuration, as people read it, and their
// number.
func (r *Result) FirstMeasured(g assay.Goal) (value float64, runs int) {
	values := []float64{}
	for _, t := range r.RunsOf(r.First.Config) {
		if t.State == assay.Done {
			values = append(values, t.Value)
		}
	}
	if len(values) == 0 {
		return g.Show(r.First.Value), 1
	}
	return g.Show(stats.Median(values)), len(values)
}

// RunsOf returns all runs of a configuration: its trials, then those that were made again.
func (r *Result) RunsOf(c assay.Config) (runs []assay.Trial) {
	for _, all := range [][]assay.Trial{r.Trials, r.Races, r.Checks} {
		for _, t := range all {
			if t.Config.Equal(c) {
				runs = append(runs, t)
			}
		}
	}
	return runs
}

// pairs returns the values of the n pairs of runs in which both are complete. The runs of the best after the last pair
// are the last of best.
func (r *Result) pairs(g assay.Goal) (first, best []float64, n int) {
	var of [2][]assay.Trial
	for _, c := range r.Checks {
		switch c.ID {
		case r.First.ID:
			of[0] = append(of[0], c)
		case r.Best.ID:
			of[1] = append(of[1], c)
		}
	}
	for i := range min(len(of[0]), len(of[1])) {
		if a, b := of[0][i], of[1][i]; a.State == assay.Done && b.State == assay.Done {
			first, best = append(first, g.Show(a.Value)), append(best, g.Show(b.Value))
		}
	}
	for _, c := range of[1][min(len(of[0]), len(of[1])):] {
		if c.State == assay.Done {
			best = append(best, g.Show(c.Value))
		}
	}
	return first, best, len(first)
}

// repeats are values by configuration.
type repeats struct {
	roll   assay.ConfigIndex
	values [][]float64
}

func (r *repeats) add(c assay.Config, value float64) {
	i, added := r.roll.Number(c)
	if added {
		r.values = append(r.values, nil)
	}
	r.values[i] = append(r.values[i], value)
}

// groups returns the values of the configurations that have several.
func (r *repeats) groups() [][]float64 {
	return slices.DeleteFunc(r.values, func(x []float64) bool { return len(x) < 2 })
}
