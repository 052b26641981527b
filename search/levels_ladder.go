package search

import (
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// A ladder estimates values at the full level from values at lower ones: at each level by the same share, or by the
// same amount if values are not all above 0. It is the median of the configurations that ran there and higher.
// Between levels with a known value it is interpolated on the scale of the logarithm.
type ladder struct {
	at     []float64            // the depth of each rung: 0 at the full level, 1 at the cheapest
	runs   map[string][]stepped // of a configuration at all levels, by Key
	keys   []string             // of runs in the order in which they came
	lowest int                  // rung where new configurations begin
	signed bool                 // a value was not above 0
	up     []float64            // by rung: the amount (if signed) or log factor to the full level
}

// A stepped is a run at a level.
type stepped struct {
	rung           int     // the level
	value, elapsed float64 // there; elapsed in seconds
}

func newLadder(o FidelityOptions) ladder {
	n := len(o.Levels)
	c := ladder{at: make([]float64, n), runs: map[string][]stepped{}, up: make([]float64, n)}
	p := o.Space.Params[o.Level.Param]
	number := func(k int) float64 {
		x, _ := p.NumberAt(o.Levels[k])
		return x
	}
	for k := range c.at[:n-1] {
		c.at[k] = math.Log(number(n-1)/number(k)) / math.Log(number(n-1)/number(0))
	}
	return c
}

func (c *ladder) depth(rung int) float64 { return c.at[rung] }

// raise returns the estimated value at the full level for a value from below.
func (c *ladder) raise(depth, value float64) float64 {
	k := slices.Index(c.at, depth)
	switch {
	case k < 0 || depth == 0:
		return value
	case c.signed:
		return value + c.up[k]
	}
	return value * math.Exp(c.up[k])
}

// add adds a run of a configuration of the full level.
func (c *ladder) add(config assay.Config, rung int, t assay.Trial) {
	if t.State != assay.Done || math.IsNaN(t.Value) || math.IsInf(t.Value, 0) || len(c.at) == 1 {
		return
	}
	key := config.Key()
	if c.runs[key] == nil {
		c.keys = append(c.keys, key)
	}
	c.signed = c.signed || t.Value <= 0
	c.runs[key] = append(c.runs[key], stepped{rung, t.Value, t.Measurement.Elapsed.Seconds()})
	if len(c.runs[key]) > 1 {
		c.estimate()
	}
}

// estimate finds the step at each rung, from the top down.
func (c *ladder) estimate() {
	top := len(c.at) - 1
	known := make([]bool, len(c.at))
	known[top] = true
	dear := make([]int, top) // the level that a level was found to be no cheaper than; 0 for none
	for k := top - 1; k >= 0; k-- {
		var ups, shares []float64
		beside := top
		for _, key := range c.keys {
			low, high := c.pair(key, k, known)
			if low < 0 || high < 0 {
				continue
			}
			a, b := c.runs[key][low], c.runs[key][high]
			if b.elapsed > 0 {
				shares, beside = append(shares, a.elapsed/b.elapsed), min(beside, b.rung)
			}
			if c.signed {
				ups = append(ups, b.value-a.value+c.up[b.rung])
			} else {
				ups = append(ups, math.Log(b.value/a.value)+c.up[b.rung])
			}
		}
		if len(shares) > 0 && stats.Median(shares) > cheapEnough {
			dear[k] = beside
		}
		if known[k] = len(ups) > 0; known[k] {
			c.up[k] = stats.Median(ups)
		}
	}
	// A level between two levels of which the lower is no cheaper is no cheaper either.
	c.lowest = 0
	for reach := 0; c.lowest < top; c.lowest++ {
		if reach = max(reach, dear[c.lowest]); reach <= c.lowest {
			break
		}
	}
	c.interpolate(known)
}

// pair returns the run of a configuration at rung k and its run at the highest known rung above, -1 for none.
func (c *ladder) pair(key string, k int, known []bool) (low, high int) {
	low, high = -1, -1
	for i, r := range c.runs[key] {
		if r.rung == k {
			low = i
		}
		if r.rung > k && known[r.rung] && (high < 0 || r.rung > c.runs[key][high].rung) {
			high = i
		}
	}
	return low, high
}

// interpolate finds the step at the unknown rungs: below the lowest known rung it is the step of that rung.
func (c *ladder) interpolate(known []bool) {
	for k := range c.at {
		if known[k] {
			continue
		}
		above := k + slices.Index(known[k:], true) // the top is known
		below := k - 1
		for below >= 0 && !known[below] {
			below--
		}
		if below < 0 {
			c.up[k] = c.up[above]
			continue
		}
		share := (c.at[k] - c.at[above]) / (c.at[below] - c.at[above])
		c.up[k] = c.up[above] + share*(c.up[below]-c.up[above])
	}
}
