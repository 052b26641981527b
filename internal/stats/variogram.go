package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Lag is a point of an experimental variogram.
type Lag struct {
	Distance float64 // mean distance of the pairs
	Gamma    float64 // half their mean squared difference
	Pairs    int     // number of pairs
}

// A Variogram describes how the values of a surface differ with distance.
type Variogram struct {
	Lags []Lag // by ascending distance; pairs at distance 0 (replicates) are a lag of their own

	// Nugget is γ(0+), the part that is not continuous at the scale of the sample; Sill is γ(∞), the level that far pairs
	// reach, at least Nugget. Range is the distance at which γ has covered 95 % of the way from Nugget to Sill. They are
	// the parameters of the model
	//
	//	γ(h) = Nugget + (Sill-Nugget)·(1 - exp(-3h/Range)).
	Nugget, Sill, Range float64
}

// VariogramOptions configures [NewVariogram].
type VariogramOptions struct {
	Lags        int     // number of classes of distance; 0 means 15
	MaxDistance float64 // of the pairs that are used; 0 means no limit
}

// NewVariogram returns the experimental variogram of the values z at n points
// (Silva et al. 2018, §3.6; Matheron's estimator)
//
//	γ(h) = 1/(2·n(h))·Σ (z_i - z_j)²,  over the n(h) pairs at lag h,
//
// for classes of distance of equal width, and the exponential model fitted to it
// by weighted least squares with weights n(h)/h² (the default of Pebesma's gstat),
// nugget >= 0, sill >= nugget, and a range between three times the first lag,
// below which everything is nugget, and the last. Classes without pairs are left out.
//
// It returns an error for fewer than 3 values, one that is not finite, or if all
// pairs within MaxDistance are at distance 0. distance(i, j) is symmetric, finite
// and not negative. Cost: n²/2 calls of it.
func NewVariogram(z []float64, distance func(i, j int) float64, opts VariogramOptions) (Variogram, error) {
	if opts.Lags < 0 || opts.MaxDistance < 0 {
		panic(fmt.Sprintf("stats: variogram of %d lags up to %v", opts.Lags, opts.MaxDistance))
	}
	if len(z) < 3 {
		return Variogram{}, fmt.Errorf("variogram of %d values", len(z))
	}
	for i, v := range z {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Variogram{}, fmt.Errorf("variogram of a value %v at point %d", v, i)
		}
	}
	v := Variogram{Lags: experimentalLags(z, distance, cmp.Or(opts.Lags, 15), opts.MaxDistance)}
	if len(v.Lags) == 0 || v.Lags[len(v.Lags)-1].Distance == 0 {
		return Variogram{}, errors.New("variogram of points that are all in one place")
	}
	v.fit()
	return v, nil
}

// Continuity returns 1 - Nugget/Sill in [0, 1]: the share of the variation that
// has spatial structure, the pruning aggressiveness that JobPruner suggests (Silva
// et al. 2018, §3.6). It is NaN for a constant surface, whose sill is 0.
func (v Variogram) Continuity() float64 { return 1 - v.Nugget/v.Sill }

// experimentalLags returns the classes of distance that have pairs.
func experimentalLags(z []float64, distance func(i, j int) float64, n int, limit float64) []Lag {
	most := 0.0
	for i := range z {
		for j := range i {
			if d := distance(i, j); limit == 0 || d <= limit {
				most = max(most, d)
			}
		}
	}
	lags := make([]Lag, n+1) // lags[0] holds the pairs at distance 0
	for i := range z {
		for j := range i {
			d := distance(i, j)
			if d > most {
				continue
			}
			k := 0
			if d > 0 {
				k = max(1, int(math.Ceil(d/most*float64(n))))
			}
			// Invariant: Distance and Gamma are sums until all pairs are in.
			lags[k].Distance += d
			lags[k].Gamma += (z[i] - z[j]) * (z[i] - z[j]) / 2
			lags[k].Pairs++
		}
	}
	lags = slices.DeleteFunc(lags, func(l Lag) bool { return l.Pairs == 0 })
	for i := range lags {
		lags[i].Distance /= float64(lags[i].Pairs)
		lags[i].Gamma /= float64(lags[i].Pairs)
	}
	return lags
}

// fit sets the model by a scan over the range: for a fixed range the other
// two are a linear least-squares problem.
func (v *Variogram) fit() {
	const steps = 40
	first, last := v.Lags[0].Distance, v.Lags[len(v.Lags)-1].Distance
	if first == 0 {
		first = v.Lags[1].Distance
	}
	from := 3 * first
	to := max(from, last)
	least := math.Inf(1)
	for s := range steps {
		r := from * math.Pow(to/from, float64(s)/(steps-1))
		nugget, partial, loss := v.fitLinear(r, first)
		if loss < least {
			least = loss
			v.Nugget, v.Sill, v.Range = nugget, nugget+partial, r
		}
	}
}

// fitLinear returns the least-squares nugget and partial sill, neither negative,
// for a given range, and their weighted loss. Pairs at distance 0 see the
// nugget alone, with the weight of the first lag.
func (v *Variogram) fitLinear(r, first float64) (nugget, partial, loss float64) {
	var sw, sf, sff, sg, sfg float64
	each := func(visit func(w, f, g float64)) {
		for _, l := range v.Lags {
			h := max(l.Distance, first)
			visit(float64(l.Pairs)/(h*h), -math.Expm1(-3*l.Distance/r), l.Gamma)
		}
	}
	each(func(w, f, g float64) {
		sw += w
		sf += w * f
		sff += w * f * f
		sg += w * g
		sfg += w * f * g
	})
	if det := sw*sff - sf*sf; det > 1e-12*sw*sff {
		nugget, partial = (sff*sg-sf*sfg)/det, (sw*sfg-sf*sg)/det
	} else {
		nugget = sg / sw // a single lag cannot separate the two
	}
	switch {
	case nugget < 0:
		nugget, partial = 0, sfg/sff
	case partial < 0:
		nugget, partial = sg/sw, 0
	}
	each(func(w, f, g float64) {
		d := g - nugget - partial*f
		loss += w * d * d
	})
	return nugget, partial, loss
}
