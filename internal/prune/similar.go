package prune

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// A Similarity is how an earlier study compares with the running one.
type Similarity struct {
	Study       string  // name of the earlier one
	Correlation float64 // NaN if it is undefined
	Points      int     // configurations that were compared
	Trials      int     // trials of the earlier study that serve
	Err         error   // why the study cannot serve; nil if it can
}

// Rank compares a running study's trials with the earlier studies, the most similar study first. Studies without a
// correlation and studies that cannot serve come last. The correlation is the normalised cross-correlation
// (stats.CrossCorrelation) of the two surrogates at the configurations of the running study's finished trials, without
// censored ones: there the running surrogate is exact, and elsewhere it would be a guess. A surrogate is exact on
// trials and the mean of the five nearest elsewhere; it uses the logarithms of outcomes of one sign. The correlation of
// fewer than three points, and of equal outcomes, is undefined.
func Rank(k *Knowledge, trials []assay.Trial) []Similarity {
	return RankBy(k, NoSurrogate, trials)
}

// RankBy is [Rank] as Silva et al. 2018, §3.4 have it: both studies have a surrogate of that kind, and these are
// compared at common points. The points are all configurations of a space of at most 1,000, else 1,000 drawn ones, the
// same for all studies. Outcomes are compared as they are. The correlation is undefined if the running study has fewer
// than three trials, or a surrogate is constant. Cost: for each study a fit and 1,000 predictions, the first time that
// the knowledge is asked.
func RankBy(k *Knowledge, s Surrogate, trials []assay.Trial) []Similarity {
	b := newBase(k, s)
	b.learn(trials...)
	var out []Similarity
	for i, s := range b.sources {
		r, n := b.correlation(i)
		out = append(out, Similarity{Study: s.name, Correlation: r, Points: n, Trials: len(s.trials)})
	}
	for _, r := range k.refused {
		out = append(out, Similarity{Study: r.Study, Correlation: math.NaN(), Err: r.Err})
	}
	slices.SortStableFunc(out, func(a, b Similarity) int {
		if x, y := math.IsNaN(a.Correlation), math.IsNaN(b.Correlation); x || y {
			return compareBools(x, y)
		}
		return cmp.Compare(b.Correlation, a.Correlation)
	})
	return out
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// A base has the earlier studies that serve a running one, and its trials so far.
//
// Invariant: at[i][k] is the prediction of the surrogate of source i for trials[k]. Surrogates do not change, so that a
// new trial costs one prediction by each source.
type base struct {
	space   *assay.Space // of the running study
	sources []*source    // the earlier studies

	trials []assay.Trial // that ended, censored ones left out
	at     [][]float64   // by source, its surrogate at each of the trials
	best   assay.Trial   // the running study's, if found
	found  bool

	judges   bool  // see [TransferOptions]
	said     []int // see voices
	voicesOf int   // one more than the trials that they are of; 0 before

	pair *pair // compares surrogates; nil for the trials with the earlier surrogates there
}

// newBase returns the base before the first trial. It shares the sources of k.
func newBase(k *Knowledge, s Surrogate) *base {
	b := &base{space: k.space, sources: k.sources, at: make([][]float64, len(k.sources))}
	if s != NoSurrogate {
		b.pair = &pair{kind: s, common: k.comparison(s)}
	}
	return b
}

// learn adds trials of the running study. A censored trial is no point of comparison and is left out. A trial of
// another space is ignored, and one that is done without a number for a value counts as failed.
func (b *base) learn(trials ...assay.Trial) {
	for _, t := range trials {
		if t.State == assay.Done && (math.IsNaN(t.Value) || math.IsInf(t.Value, 0)) {
			t.State = assay.Failed
		}
		if t.State == assay.Censored || len(t.Config) != b.space.Dim() || !b.space.Contains(t.Config) {
			continue
		}
		b.trials = append(b.trials, t)
		if t.State == assay.Done && (!b.found || t.Value < b.best.Value) {
			b.best, b.found = t, true
		}
		for i, s := range b.sources {
			if b.pair == nil {
				b.at[i] = append(b.at[i], s.predict(t.Config))
			}
		}
	}
}

// outcomes returns the scaled outcomes of the trials, failed and infeasible ones as the worst; nil if no trial
// finished. The scale is the running study's: NCC ignores factors between studies.
func (b *base) outcomes() []float64 {
	// It is computed anew for each call: a new worst or a first negative value changes all of them.
	values := finishedValues(b.trials)
	if len(values) == 0 {
		return nil
	}
	sc, worst := newScale(values), slices.Max(values)
	y := make([]float64, len(b.trials))
	for i, t := range b.trials {
		v := worst
		if t.State == assay.Done {
			v = t.Value
		}
		y[i] = sc.forward(v)
	}
	return y
}

// correlation returns the normalised cross-correlation of source i with the running study, and the number of points it
// was taken at. It is NaN for fewer than three points, where any two lines agree, and for equal outcomes.
func (b *base) correlation(i int) (r float64, points int) {
	if b.pair != nil {
		return b.pair.correlation(b, b.sources[i]), len(b.pair.common.points)
	}
	y := b.outcomes()
	if len(y) < 3 {
		return math.NaN(), len(y)
	}
	return stats.CrossCorrelation(y, b.at[i]), len(y)
}

// mostSimilar returns the source with the greatest correlation, the first of equals; -1 if none has one.
func (b *base) mostSimilar() (at int, r float64) {
	at, r = -1, math.NaN()
	for i := range b.sources {
		// A comparison with NaN is false, so that the first defined one is let in by the second condition.
		if c, _ := b.correlation(i); c > r || at < 0 && !math.IsNaN(c) {
			at, r = i, c
		}
	}
	return at, r
}

// surely reports whether a correlation of n points is positive, at the one-sided level of 0.05
// by Fisher's z: atanh r has a standard error of 1/√(n-3), and 1.645 of them is the normal
// quantile. The paper has the threshold alone, which three points reach by chance too often.
//
// min keeps atanh from NaN where rounding makes r greater than 1.
func surely(r float64, n int) bool {
	return n > 3 && math.Atanh(min(r, 1))-1.645/math.Sqrt(float64(n-3)) > 0
}
