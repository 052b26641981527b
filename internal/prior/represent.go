package prior

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// This file measures the similarity of studies by their fingerprints, without reading their trials, and chooses
// representatives. A fingerprint is the surrogate of a study at fixed points of its space (prune.Fingerprint), so that
// two of the same parameters can be compared point by point.

// representatives returns the names of at most n studies, chosen one by one such
// that the mean over all studies of the correlation of the fingerprints with the
// nearest chosen one grows most; those with most trials among equals. Studies with
// other ranges have fingerprints at other points and are like nothing but
// themselves. Cost: n times the square of their number.
// The choice is greedy, which for such a gain (monotone and submodular) is at least 1-1/e of
// the best (Nemhauser, Wolsey and Fisher 1978). The names come in the order of the choice;
// with at most n studies they come as they were given. A similarity below 0 counts as none.
func representatives(all []*entry, n int) []string {
	var names []string
	if len(all) <= n {
		for _, k := range all {
			names = append(names, k.Name)
		}
		return names
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(b.Told, a.Told) })
	unit := make([][]float32, len(all))
	for i, k := range all {
		unit[i] = standardized(k.Print)
	}
	// alike[i][j] is the correlation of the fingerprints of i and j, 1 for i itself.
	alike := make([][]float32, len(all))
	for i := range all {
		alike[i] = make([]float32, len(all))
		for j := range i {
			if sameParams(all[i].Params, all[j].Params) {
				alike[i][j] = dot(unit[i], unit[j])
				alike[j][i] = alike[i][j]
			}
		}
		alike[i][i] = 1
	}
	// nearest[j] is how alike j is to the chosen one that is most like it.
	nearest, chosen := make([]float32, len(all)), make([]bool, len(all))
	// A gain never grows while others are chosen: bound[i] is the gain of i when it was computed last.
	bound := slices.Repeat([]float32{math.MaxFloat32}, len(all))
	for range n {
		at, most := -1, float32(-1)
		for i := range all {
			if chosen[i] || bound[i] <= most {
				continue
			}
			var gain float32
			for j, r := range alike[i] {
				if r > nearest[j] {
					gain += r - nearest[j]
				}
			}
			if bound[i] = gain; gain > most {
				at, most = i, gain
			}
		}
		chosen[at] = true
		names = append(names, all[at].Name)
		for j := range all {
			nearest[j] = max(nearest[j], alike[at][j])
		}
	}
	return names
}

// standardized returns x with mean 0 and length 1; nil if it is constant.
// The dot product of two such vectors is Pearson's correlation. A nil one is like nothing: its
// dot product with any other is 0.
func standardized(x []float32) []float32 {
	var mean, square float64
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	for _, v := range x {
		square += (float64(v) - mean) * (float64(v) - mean)
	}
	if !(square > 0) || math.IsInf(square, 0) {
		return nil
	}
	u := make([]float32, len(x))
	for i, v := range x {
		u[i] = float32((float64(v) - mean) / math.Sqrt(square))
	}
	return u
}

// dot returns the sum of the products, or 0 if the lengths differ, as with a study that has no
// fingerprint.
func dot(a, b []float32) (sum float32) {
	if len(a) != len(b) {
		return 0
	}
	b = b[:len(a)]
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// sameParams reports whether fingerprints of studies of these parameters are at the
// same points.
// Slices that are the same need no comparison: intern makes that the usual case. The order of
// the parameters counts.
func sameParams(a, b []assay.Param) bool {
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) {
		return true
	}
	return slices.EqualFunc(a, b, func(p, q assay.Param) bool {
		return p.Name == q.Name && p.Kind == q.Kind && p.Lo == q.Lo && p.Hi == q.Hi && p.Step == q.Step &&
			p.Log == q.Log && slices.Equal(p.Levels, q.Levels)
	})
}

// printCorrelation estimates how alike two studies are; NaN if they have other
// parameters.
// It is also NaN without a fingerprint, and where stats.CrossCorrelation is.
func printCorrelation(a, b *entry) float64 {
	if !sameParams(a.Params, b.Params) || len(a.Print) == 0 || len(a.Print) != len(b.Print) {
		return math.NaN()
	}
	x, y := make([]float64, len(a.Print)), make([]float64, len(a.Print))
	for i := range x {
		x[i], y[i] = float64(a.Print[i]), float64(b.Print[i])
	}
	return stats.CrossCorrelation(x, y)
}
