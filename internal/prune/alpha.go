package prune

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

const (
	// FixedAlpha is the aggressiveness where the automatic one has no ground (Silva et al. 2018, §3.6).
	FixedAlpha = 0.6
	// maxAlpha is the default cap of the automatic aggressiveness: at 0.99 the
	// paper's own results were worse than without pruning in a case out of six.
	maxAlpha = 0.9
	// variogramSample is how many trials the variogram and the tests see: n²/2 pairs, and with more values a test finds
	// every real surface to be different from its ideal.
	variogramSample = 200
	significance    = 0.05 // of the tests
)

// SuggestAlpha returns the aggressiveness that the trials of a study suggest (Silva et al. 2018, §3.6)
//
//	alpha = 1 - nugget/sill,
//
// of the experimental variogram of their outcomes, at most limit (0 means 0.9; it is below 1). The distance of two
// configurations is [assay.Space.Distance]: Euclidean on the unit cube, with a distance of 1 between different
// categories. The variogram needs outcomes that are normal (Shapiro-Francia), with the same mean (Kruskal-Wallis) and
// variance (Brown-Forsythe) on both sides of every parameter, each at the level 0.05, the latter two by Bonferroni. For
// positive outcomes, the logarithms may satisfy the conditions instead. Otherwise alpha is 0.6, limited likewise, and
// note gives the reason; note is "" otherwise. With more than 200 finished trials, 200 are drawn. Cost: 20,000
// distances.
func SuggestAlpha(space *assay.Space, trials []assay.Trial, limit float64) (alpha float64, note string) {
	if limit < 0 || limit >= 1 {
		panic(fmt.Sprintf("prune: cap %v of the aggressiveness", limit))
	}
	if limit == 0 {
		limit = maxAlpha
	}
	fixed := func(why string) (float64, string) {
		return min(FixedAlpha, limit), why + ", so that no variogram applies"
	}
	var ts []assay.Trial
	var raw []float64
	for _, t := range trials {
		if t.State == assay.Done {
			ts, raw = append(ts, t), append(raw, t.Value)
		}
	}
	if len(ts) > variogramSample {
		// The draw is fixed, so that a study has one alpha.
		rng := rand.New(rand.NewPCG(0, 0))
		rng.Shuffle(len(ts), func(i, j int) { ts[i], ts[j] = ts[j], ts[i]; raw[i], raw[j] = raw[j], raw[i] })
		ts, raw = ts[:variogramSample], raw[:variogramSample]
	}
	if len(ts) < 10 {
		return fixed(fmt.Sprintf("%d outcomes are too few", len(ts)))
	}
	z := raw
	// Run times are often log-normal: logarithms get a second chance.
	if stats.ShapiroFrancia(z).P < significance {
		if sc := newScale(raw); sc != identity {
			z = make([]float64, len(raw))
			for i, v := range raw {
				z[i] = sc.forward(v)
			}
		}
		if stats.ShapiroFrancia(z).P < significance {
			return fixed("the outcomes are not normal")
		}
	}
	if what := unsteady(space, ts, z); what != "" {
		return fixed("the outcomes have no constant " + what)
	}
	v, err := stats.NewVariogram(z, func(i, j int) float64 { return space.Distance(ts[i].Config, ts[j].Config) },
		stats.VariogramOptions{})
	if err != nil || math.IsNaN(v.Continuity()) {
		return fixed("the outcomes lie in one place")
	}
	return min(v.Continuity(), limit), ""
}

// unsteady returns the difference between the sides of a parameter: "mean", "variance" or "". The sides of an ordered
// parameter are below and above the middle of its range, and the sides of a category are its levels. The level of each
// test is divided by the number of parameters (Bonferroni), since one test of many fails by chance.
func unsteady(space *assay.Space, ts []assay.Trial, z []float64) string {
	mean, variance := 1.0, 1.0
	for i, p := range space.Params {
		n := 2
		if !p.Ordered() {
			n = len(p.Levels)
		}
		groups := make([][]float64, n)
		for k, t := range ts {
			g := int(t.Config[i])
			if p.Ordered() {
				g = min(1, int(2*p.ToUnit(t.Config[i])))
			}
			groups[g] = append(groups[g], z[k])
		}
		mean = min(mean, stats.KruskalWallis(groups...).P)
		variance = min(variance, stats.BrownForsythe(groups...).P)
	}
	level := significance / float64(space.Dim())
	switch {
	case mean < level:
		return "mean"
	case variance < level:
		return "variance"
	}
	return ""
}
