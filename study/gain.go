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
func (l *loop) gained() bool {
	switch {
	case l.Ender == nil || l.enough.off || l.owes() > 0 || len(l.open) > 0:
		return false
	case l.enough.By == byGain && l.Ender.Least() >= l.enough.Gain:
		return true
	case l.judge.size() == l.enough.judged:
		return false
	}
	t0 := time.Now()
	defer func() { l.overhead += time.Since(t0) }()
	l.enough.judged = l.judge.size()
	why, over := l.Ender.Enough(l.judge.ended(), l.ahead())
	if over {
		l.enough.End = assay.End{By: byGain, Why: why, Gain: l.Ender.Least()}
	}
	return over
}

// ahead returns what is left of the budget as a multiple of what was spent, +Inf without one.
func (l *loop) ahead() float64 {
	ahead := math.Inf(1)
	if l.Budget.Trials > 0 {
		ahead = float64(l.affords()) / float64(max(1, l.judge.size()))
	}
	if l.Budget.Time > 0 {
		ahead = min(ahead, float64(l.left())/float64(max(1, l.spent())))
	}
	return max(0, ahead)
}
