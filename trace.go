package assay

import (
	"fmt"
	"math"
	"time"
)

// A Trace is a level that varies over time, such as the rate of a link: each of its points
// holds until the next one, and the last one for ever. It has one point at least; see [Trace.Check].
type Trace struct {
	Points []TracePoint `json:"points"`
	// Every is after how long the trace begins again; 0 means never. It is more than the time of
	// the last point.
	Every time.Duration `json:"every_ns,omitempty"`
}

// A TracePoint is a level from a time on.
type TracePoint struct {
	At    time.Duration `json:"at_ns"` // since the beginning
	Level float64       `json:"level"`
}

// Check returns the flaw of a trace, and the index of the point at fault, -1 for the whole. The first point is at 0,
// the times of the others increase, and levels are finite.
func (t Trace) Check() (point int, err error) {
	if len(t.Points) == 0 {
		return -1, fmt.Errorf("a trace without a level")
	}
	for i, p := range t.Points {
		switch {
		case i == 0 && p.At != 0:
			return i, fmt.Errorf("the first level is at second %g, not at second 0", p.At.Seconds())
		case i > 0 && p.At <= t.Points[i-1].At:
			return i, fmt.Errorf("second %g does not come after second %g", p.At.Seconds(), t.Points[i-1].At.Seconds())
		case math.IsNaN(p.Level) || math.IsInf(p.Level, 0):
			return i, fmt.Errorf("a level of %v is not finite", p.Level)
		}
	}
	if last := t.Points[len(t.Points)-1].At; t.Every != 0 && t.Every <= last {
		return -1, fmt.Errorf("it begins again every %v, before its last level at %v", t.Every, last)
	}
	return 0, nil
}

// Level returns the level at a time since the beginning, and until when it holds; the latter is
// negative if it holds for ever. Times before the beginning have the first level.
func (t Trace) Level(at time.Duration) (level float64, until time.Duration) {
	at = max(0, at)
	var round time.Duration
	if t.Every > 0 {
		round = at - at%t.Every
	}
	i := 0
	for i+1 < len(t.Points) && t.Points[i+1].At <= at-round {
		i++
	}
	switch {
	case i+1 < len(t.Points):
		return t.Points[i].Level, round + t.Points[i+1].At
	case t.Every > 0:
		return t.Points[i].Level, round + t.Every
	}
	return t.Points[i].Level, -1
}

// Mean returns the time-weighted mean level: over one round of a repeating trace, else up to its last point, since the
// duration of the last level is unknown. A single point is its mean.
func (t Trace) Mean() float64 {
	over := t.Points[len(t.Points)-1].At
	if t.Every > 0 {
		over = t.Every
	}
	return t.Over(over)
}

// Over returns the time-weighted mean level from the beginning to a time.
func (t Trace) Over(end time.Duration) float64 {
	if end <= 0 {
		return t.Points[0].Level
	}
	sum := 0.0
	for at := time.Duration(0); at < end; {
		level, until := t.Level(at)
		if until < 0 || until > end {
			until = end
		}
		sum += level * (until - at).Seconds()
		at = until
	}
	return sum / end.Seconds()
}

// Bounds returns the least and the greatest level.
func (t Trace) Bounds() (least, greatest float64) {
	least, greatest = t.Points[0].Level, t.Points[0].Level
	for _, p := range t.Points {
		least, greatest = min(least, p.Level), max(greatest, p.Level)
	}
	return least, greatest
}
