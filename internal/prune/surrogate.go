package prune

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/model"
)

// A Surrogate is how a study is continued to configurations that it has not run (Silva et al. 2018, §3.3): exact where
// there are trials, and one of JobPruner's four regressions elsewhere. With one, an earlier study and the running one
// are compared surrogate with surrogate at common points, as the paper does: see [RankBy]. The zero value is no
// surrogate of the running study: see [Rank].
type Surrogate uint8

// The surrogates, in the order of the paper's section 3.3 but for the nearest neighbours, which its experiments use.
const (
	NoSurrogate Surrogate = iota
	Nearest               // the mean of the five nearest
	Linear                // piecewise linear interpolation
	Cubic                 // cubic convolution
	Spline                // cubic spline
)

// commonPoints is the number of points at which two surrogates are compared: all configurations of a space of at most
// this size, or this number of random configurations of a larger space.
const commonPoints = 1000

// surrogates is the table of surrogates.
//
// It is in the order of the constants. [ParseSurrogate] reads the names, so that they do not change.
var surrogates = [...]struct {
	name string
	make assay.Learner
}{
	NoSurrogate: {name: "none"},
	Nearest:     {"knn", model.KNN{}},
	Linear:      {"linear", model.Interpolate{By: model.Multilinear}},
	Cubic:       {"cubic", model.Interpolate{By: model.Cubic}},
	Spline:      {"spline", model.Interpolate{By: model.Spline}},
}

// SurrogateNames returns the names of the surrogates, "none" left out.
func SurrogateNames() []string {
	var names []string
	for _, s := range surrogates[1:] {
		names = append(names, s.name)
	}
	return names
}

// ParseSurrogate reads the name of a surrogate; "" and "none" are NoSurrogate.
func ParseSurrogate(name string) (Surrogate, error) {
	for i, s := range surrogates {
		if s.name == cmp.Or(name, "none") {
			return Surrogate(i), nil
		}
	}
	return 0, fmt.Errorf("%q is not one of %s", name, strings.Join(SurrogateNames(), ", "))
}

// String returns the name.
func (s Surrogate) String() string {
	if int(s) < len(surrogates) {
		return surrogates[s].name
	}
	return fmt.Sprintf("Surrogate(%d)", uint8(s))
}

// at returns the surrogate of trials at the points, whose features are codes. It uses the goal's outcomes without a
// transform. A failed or infeasible trial has the worst outcome; censored trials are left out. It returns nil if no
// trial finished, or if the regression cannot be fitted. Cost: a fit, and a prediction at each point.
func (s Surrogate) at(space *assay.Space, trials []assay.Trial, points []assay.Config, codes [][]float64) []float64 {
	values := finishedValues(trials)
	if len(values) == 0 {
		return nil
	}
	// Unlike [source.examples] this stays on the scale of the values, as the paper does.
	worst := slices.Max(values)
	var d assay.Data
	sum, n := map[string]float64{}, map[string]float64{}
	for _, t := range trials {
		v := worst
		switch t.State {
		case assay.Censored:
			continue
		case assay.Done:
			v = t.Value
		}
		k := t.Config.Key()
		sum[k] += v
		n[k]++
		d.X, d.Y = append(d.X, space.Encode(t.Config)), append(d.Y, v)
	}
	fitted, err := surrogates[s].make.Fit(d)
	if err != nil {
		return nil
	}
	out := make([]float64, len(points))
	for i, c := range points {
		if k := c.Key(); n[k] > 0 {
			out[i] = sum[k] / n[k]
			continue
		}
		out[i] = fitted.Predict(codes[i]).Mean
	}
	return out
}

// A comparison is where surrogates are compared, and the values of those that are
// known. It belongs to a [Knowledge], whose searchers share it.
//
// points and codes have the same length and never change. values grows by one entry for each study and
// is the reason why a Knowledge is not safe for concurrent use.
type comparison struct {
	points []assay.Config        // of the space
	codes  [][]float64           // their features
	values map[*source][]float64 // of the earlier studies; nil if there is no surrogate
}

// newComparison draws the common points of a space. They depend on the space alone.
func newComparison(space *assay.Space) *comparison {
	c := &comparison{values: map[*source][]float64{}}
	if space.Indexed() && space.Size().N <= commonPoints {
		c.points = slices.Collect(space.All())
	} else {
		// The seed is fixed, so that a search that is taken up again compares at the same points. If relations
		// make Draw give up, there are fewer points.
		rng := rand.New(rand.NewPCG(commonPoints, 0))
		for range commonPoints {
			if p, ok := space.Draw(rng); ok {
				c.points = append(c.points, p)
			}
		}
	}
	for _, p := range c.points {
		c.codes = append(c.codes, space.Encode(p))
	}
	return c
}

// of returns the surrogate of an earlier study at the common points.
func (c *comparison) of(s Surrogate, src *source) []float64 {
	v, ok := c.values[src]
	if !ok {
		// A nil result is kept too, so that a fit that fails is not tried again.
		v = s.at(src.space, src.trials, c.points, c.codes)
		c.values[src] = v
	}
	return v
}

// A pair compares the running study with earlier ones by two surrogates.
//
// The trials of a base only grow, so that their number shows whether now is up to date.
type pair struct {
	kind   Surrogate   // of the surrogates
	common *comparison // of all searchers
	now    []float64   // the running study's surrogate at the common points
	trials int         // that it was made of
}

// correlation returns the correlation of an earlier study with the running one, whose trials are in b: NaN for fewer
// than three trials, and for a surrogate that is constant or cannot be fitted.
func (p *pair) correlation(b *base, src *source) float64 {
	if len(b.trials) < leastTrials {
		return math.NaN()
	}
	if p.trials != len(b.trials) {
		p.now, p.trials = p.kind.at(b.space, b.trials, p.common.points, p.common.codes), len(b.trials)
	}
	then := p.common.of(p.kind, src)
	if p.now == nil || then == nil {
		return math.NaN()
	}
	return stats.CrossCorrelation(p.now, then)
}

// comparison returns the common points for a surrogate, made when they are needed first.
//
// The values in it depend on the kind of surrogate, so that each kind has its own.
func (k *Knowledge) comparison(s Surrogate) *comparison {
	if k.compared == nil {
		k.compared = map[Surrogate]*comparison{}
	}
	if k.compared[s] == nil {
		k.compared[s] = newComparison(k.space)
	}
	return k.compared[s]
}
