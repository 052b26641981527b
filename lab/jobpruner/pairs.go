package jobpruner

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// This file measures the effect of one earlier study on another, by how alike the two are. In the tables
// of the paper the nearest of many studies helps, so that the effect of a study which resembles no other
// is not seen there.

// PairOptions select the pairs of environments and their measurements. All are required.
type PairOptions struct {
	Method      string // name of the searcher
	Use         string // of the knowledge base: see [Variant]
	Trials      []int  // after which the best is looked at, at least 1
	Repetitions int    // at least 1
	Pairs       int    // of each band and data set, at most
	Seed        uint64 // of the first repetition; the pairs are the same for any
	Searcher    func(name string, space *assay.Space, seed uint64) (assay.Searcher, error)
	Pool        bench.Pool // runs subjects; the result does not depend on it
}

// bands are the lower ends of the ranges of rank correlation, the last one first.
var bands = []float64{0.8, 0.5, 0.2, -1}

// bandName describes the rank correlations of a band.
func bandName(i int) string {
	return [...]string{"from 0.8", "0.5 to 0.8", "0.2 to 0.5", "below 0.2"}[i]
}

// bandOf returns the band of a rank correlation.
func bandOf(r float64) int {
	return slices.IndexFunc(bands, func(low float64) bool { return r >= low })
}

// errorFloor is added to both errors of a ratio: a difference of less than a part of it is of no use to anybody,
// and an error of 0 is no divisor.
const errorFloor = 1e-3

// A Pair is an environment that is searched with another one as the only earlier study, and without.
type Pair struct {
	DataSet string      `json:"data_set"`
	Subject string      `json:"environment"`
	Helper  string      `json:"helper"`
	Rank    float64     `json:"rank_correlation"`
	None    [][]float64 `json:"error_none"`  // relative, by trials and repetition
	Helped  [][]float64 `json:"error_prior"` // the same with the helper
	band    int
}

// A PairRow is one band at one number of trials, of one data set or of all together.
type PairRow struct {
	DataSet string  `json:"data_set"` // "" for all
	Band    string  `json:"band"`     // of the rank correlation
	Pairs   int     `json:"pairs"`
	Trials  int     `json:"trials"`
	None    float64 `json:"error_none"` // mean
	Helped  float64 `json:"error_prior"`
	// Ratio is the geometric mean over the pairs of (error with + 0.1 %) / (error without + 0.1 %), of which each
	// error is the mean over the repetitions; over all data sets each of them counts the same.
	Ratio float64 `json:"ratio"`
	// RatioCI is its 95 % bootstrap interval, by resampling of the pairs and of the repetitions of each.
	RatioCI [2]float64 `json:"ratio_ci95"`
}

// A PairReport is the output of `assay-lab jobpruner --pairs --json`.
type PairReport struct {
	Pairs []Pair    `json:"pairs"`
	Rows  []PairRow `json:"rows"`
}

// Pairs searches pairs of environments, up to o.Pairs of each band, drawn by chance.
func (d *DataSet) Pairs(ctx context.Context, o PairOptions) ([]Pair, error) {
	groups := bySubject(d.drawPairs(o.Pairs))
	err := o.Pool.Each(ctx, len(groups), func(ctx context.Context, _, i int) error {
		return d.playPairs(ctx, o, groups[i])
	})
	if err != nil {
		return nil, err
	}
	return slices.Concat(groups...), nil
}

// drawPairs returns at most n pairs of each band, the pairs of one subject together.
func (d *DataSet) drawPairs(n int) []Pair {
	var all []Pair
	for _, s := range d.subjects {
		for _, h := range d.subjects {
			if r := stats.Spearman(s.beside(h)); h != s && !math.IsNaN(r) {
				all = append(all, Pair{DataSet: d.Name, Subject: s.name, Helper: h.name, Rank: r, band: bandOf(r)})
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 17))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	count := make([]int, len(bands))
	all = slices.DeleteFunc(all, func(p Pair) bool {
		count[p.band]++
		return count[p.band] > n
	})
	slices.SortStableFunc(all, func(a, b Pair) int { return cmp.Compare(a.Subject, b.Subject) })
	return all
}

// bySubject cuts pairs that are sorted by subject where it changes.
func bySubject(pairs []Pair) (groups [][]Pair) {
	for i := range pairs {
		if i == 0 || pairs[i].Subject != pairs[i-1].Subject {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], pairs[i])
	}
	return groups
}

// playPairs fills in the errors of the pairs of one subject.
func (d *DataSet) playPairs(ctx context.Context, o PairOptions, pairs []Pair) error {
	sub := d.subject(pairs[0].Subject)
	none, err := d.errorsOf(ctx, o, sub, nil)
	if err != nil {
		return err
	}
	for i := range pairs {
		p := &pairs[i]
		p.None = none
		k := prune.NewKnowledge(sub.space, sub.goal, []prune.Study{d.subject(p.Helper).study()})
		if p.Helped, err = d.errorsOf(ctx, o, sub, k); err != nil {
			return err
		}
	}
	return nil
}

// subject returns the environment of that name.
func (d *DataSet) subject(name string) *subject {
	return d.subjects[slices.IndexFunc(d.subjects, func(s *subject) bool { return s.name == name })]
}

// errorsOf returns the errors by trials and repetition, without a knowledge base if k is nil.
func (d *DataSet) errorsOf(ctx context.Context, o PairOptions, sub *subject, k *prune.Knowledge) ([][]float64, error) {
	v := Variant{Method: o.Method, Use: o.Use, KB: "all", kb: -1}
	if k == nil {
		v.Use, k = "none", prune.NewKnowledge(sub.space, sub.goal, nil)
	}
	out := make([][]float64, len(o.Trials))
	build := Options{Searcher: o.Searcher}
	for r := range o.Repetitions {
		searcher, _, err := build.build(v, sub.space, k, o.Seed+uint64(r))
		if err != nil {
			return nil, err
		}
		curve, err := sub.play(ctx, searcher, slices.Max(o.Trials))
		if err != nil {
			return nil, err
		}
		for i, n := range o.Trials {
			out[i] = append(out[i], curve[n-1])
		}
	}
	return out, nil
}

// NewPairReport summarizes pairs of any number of data sets that were measured after these trials.
func NewPairReport(pairs []Pair, trials []int) PairReport {
	rep := PairReport{Pairs: pairs}
	var names []string
	for _, p := range pairs {
		if !slices.Contains(names, p.DataSet) {
			names = append(names, p.DataSet)
		}
	}
	for b := range bands {
		var sets [][]Pair
		for _, name := range names {
			some := slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return p.DataSet != name || p.band != b })
			if len(some) == 0 {
				continue
			}
			sets = append(sets, some)
			for i := range trials {
				rep.Rows = append(rep.Rows, pairRow(name, b, i, trials[i], [][]Pair{some}))
			}
		}
		for i := range trials {
			if len(sets) > 1 {
				rep.Rows = append(rep.Rows, pairRow("", b, i, trials[i], sets))
			}
		}
	}
	return rep
}

// pairRow summarizes the pairs of a band, by data set, after trials[at].
func pairRow(name string, band, at, trials int, sets [][]Pair) PairRow {
	row := PairRow{DataSet: name, Band: bandName(band), Trials: trials}
	all := slices.Concat(sets...)
	row.Pairs = len(all)
	for _, p := range all {
		row.None += stats.Mean(p.None[at]) / float64(len(all))
		row.Helped += stats.Mean(p.Helped[at]) / float64(len(all))
	}
	row.Ratio = pairRatio(sets, at, nil)
	rng := rand.New(rand.NewPCG(1, 3))
	var resampled []float64
	for range 1000 {
		resampled = append(resampled, pairRatio(sets, at, rng))
	}
	slices.Sort(resampled)
	row.RatioCI = [2]float64{resampled[25], resampled[974]}
	return row
}

// pairRatio is PairRow.Ratio, of pairs and repetitions that rng draws anew unless it is nil. A repetition is drawn
// with and without the helper together, since both began with the same seed.
func pairRatio(sets [][]Pair, at int, rng *rand.Rand) float64 {
	var sum float64
	for _, pairs := range sets {
		for i := range pairs {
			if rng != nil {
				i = rng.IntN(len(pairs))
			}
			none, helped := pairs[i].None[at], pairs[i].Helped[at]
			var n, h float64
			for r := range none {
				if rng != nil {
					r = rng.IntN(len(none))
				}
				n += none[r] / float64(len(none))
				h += helped[r] / float64(len(none))
			}
			sum += math.Log((h+errorFloor)/(n+errorFloor)) / float64(len(pairs)) / float64(len(sets))
		}
	}
	return math.Exp(sum)
}

// Write writes the rows for people.
func (r PairReport) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "rank correlation", "data set", ">pairs", ">trials", ">error % none", ">prior",
		">to none", "95 %")
	for _, row := range r.Rows {
		t.Add(row.Band, cmp.Or(row.DataSet, "all"), fmt.Sprint(row.Pairs), fmt.Sprint(row.Trials),
			fmt.Sprintf("%.2f", 100*row.None), fmt.Sprintf("%.2f", 100*row.Helped), fmt.Sprintf("%.2f", row.Ratio),
			fmt.Sprintf("%.2f – %.2f", row.RatioCI[0], row.RatioCI[1]))
	}
	return t.Write(w)
}
