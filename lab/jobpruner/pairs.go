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
	Unlike      int    // see [Pair]
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

// A Pair is an environment that is searched with another one as the only earlier study, and without. If it has
// unlike ones, it is searched with these and the helper, and with the helper alone.
type Pair struct {
	DataSet string      `json:"data_set"`
	Subject string      `json:"environment"`
	Helper  string      `json:"helper"`
	Unlike  []string    `json:"unlike,omitempty"` // environments whose rank correlation is below 0.2
	Rank    float64     `json:"rank_correlation"` // of the helper
	None    [][]float64 `json:"error_none"`       // relative, by trials and repetition; with the helper if some are unlike
	Helped  [][]float64 `json:"error_prior"`      // the same with all
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
	groups := bySubject(d.drawPairs(o.Pairs, o.Unlike))
	err := o.Pool.Each(ctx, len(groups), func(ctx context.Context, _, i int) error {
		return d.playPairs(ctx, o, groups[i])
	})
	if err != nil {
		return nil, err
	}
	return slices.Concat(groups...), nil
}

// drawPairs returns at most n pairs of each band, the pairs of one subject together. With unlike ones these are of the
// first band alone.
func (d *DataSet) drawPairs(n, unlike int) []Pair {
	var all []Pair
	rng, strangers := rand.New(rand.NewPCG(1, 17)), rand.New(rand.NewPCG(1, 19))
	for _, s := range d.subjects {
		var pairs []Pair
		var others []string // that are unlike
		for _, h := range d.subjects {
			r := stats.Spearman(s.beside(h))
			if h == s || math.IsNaN(r) {
				continue
			}
			p := Pair{DataSet: d.Name, Subject: s.name, Helper: h.name, Rank: r, band: bandOf(r)}
			if p.band == len(bands)-1 {
				others = append(others, h.name)
			}
			if unlike == 0 || p.band == 0 {
				pairs = append(pairs, p)
			}
		}
		for i := range pairs {
			if len(others) < unlike {
				break
			}
			for _, k := range strangers.Perm(len(others))[:unlike] {
				pairs[i].Unlike = append(pairs[i].Unlike, others[k])
			}
			all = append(all, pairs[i])
		}
	}
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
	with := func(names ...string) ([][]float64, error) {
		var studies []prune.Study
		for _, name := range names {
			studies = append(studies, d.subject(name).study())
		}
		return d.errorsOf(ctx, o, sub, prune.NewKnowledge(sub.space, sub.goal, studies))
	}
	var none [][]float64
	var err error
	if o.Unlike == 0 {
		if none, err = d.errorsOf(ctx, o, sub, nil); err != nil {
			return err
		}
	}
	for i := range pairs {
		p := &pairs[i]
		p.None = none
		if o.Unlike > 0 {
			if p.None, err = with(p.Helper); err != nil {
				return err
			}
		}
		if p.Helped, err = with(append([]string{p.Helper}, p.Unlike...)...); err != nil {
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
	base := "none"
	if len(r.Pairs) > 0 && len(r.Pairs[0].Unlike) > 0 {
		base = "it alone"
	}
	t := report.NewTable(p, "rank correlation", "data set", ">pairs", ">trials", ">error % "+base, ">prior",
		">to "+base, "95 %")
	for _, row := range r.Rows {
		t.Add(row.Band, cmp.Or(row.DataSet, "all"), fmt.Sprint(row.Pairs), fmt.Sprint(row.Trials),
			fmt.Sprintf("%.2f", 100*row.None), fmt.Sprintf("%.2f", 100*row.Helped), fmt.Sprintf("%.2f", row.Ratio),
			fmt.Sprintf("%.2f – %.2f", row.RatioCI[0], row.RatioCI[1]))
	}
	return t.Write(w)
}
