package study

import (
	"math"
	"time"

	"github.com/assay-run/assay"
)

// byGain is the By of an end that the StudyStopper has judged.
const byGain = "gain"

// enough holds the judgement whether the expected gain is worth going on.
type enough struct {
	assay.End      // the last one by gain on record, or this session's; its By is "" without one
	judged    int  // how many trials had ended when the StudyStopper was asked last
	off       bool // a budget was given to a study that had ended so: the StudyStopper is not asked any more
}

// gained reports whether the study has ended because going on is not worth it. The judgement of an earlier session
// holds, for any results of the trials in flight, unless the least gain was lowered since. Enqueued configurations
// are run all the same.
func (c *control) gained() bool {
	given, _ := c.parts.pending()
	switch {
	case c.StudyStopper == nil || c.enough.off || given:
		return false
	case c.enough.By == byGain && c.StudyStopper.Least() >= c.enough.Gain:
		return true
	}
	trials := c.parts.trials()
	if len(trials) == c.enough.judged {
		return false
	}
	t0 := time.Now()
	defer func() { c.overhead += time.Since(t0) }()
	c.enough.judged = len(trials)
	why, over := c.StudyStopper.Enough(trials, c.ahead(len(trials)))
	if over {
		c.enough.End = assay.End{By: byGain, Why: why, Gain: c.StudyStopper.Least()}
	}
	return over
}

// ahead returns the rest of the budget as a multiple of the spent part, +Inf without a budget.
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
