package study

import (
	"math"
	"time"

	"github.com/assay-run/assay"
)

// byGain is what an end is by that the Ender has judged.
const byGain = "gain"

// enough is what is known of the gain of going on.
type enough struct {
	assay.End      // the last one by gain on record, or that of this session; its By is "" if there is none
	judged    int  // how many trials had ended when the Ender was asked last
	off       bool // somebody gave a budget to a study that had ended so: the Ender is not asked any more
}

// gained reports whether the study has ended because going on is not worth it. The judgement
// of an earlier session holds, whatever the trials came to that were in flight, unless less gain is
// now worth going on for. What people have given is run all the same.
func (c *control) gained() bool {
	given, _ := c.parts.pending()
	switch {
	case c.Ender == nil || c.enough.off || given:
		return false
	case c.enough.By == byGain && c.Ender.Least() >= c.enough.Gain:
		return true
	}
	trials := c.parts.trials()
	if len(trials) == c.enough.judged {
		return false
	}
	t0 := time.Now()
	defer func() { c.overhead += time.Since(t0) }()
	c.enough.judged = len(trials)
	why, over := c.Ender.Enough(trials, c.ahead(len(trials)))
	if over {
		c.enough.End = assay.End{By: byGain, Why: why, Gain: c.Ender.Least()}
	}
	return over
}

// ahead returns what is left of the budget as a multiple of what was spent, +Inf without one.
func (c *control) ahead(trials int) float64 {
	ahead := math.Inf(1)
	if c.limit.Trials > 0 {
		ahead = float64(c.parts.room(c.limit.Trials)) / float64(max(1, trials))
	}
	if c.limit.Time > 0 {
		ahead = min(ahead, float64(c.left())/float64(max(1, c.record.spent())))
	}
	return max(0, ahead)
}
