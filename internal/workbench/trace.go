package workbench

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// Resources that vary while a run goes on: the levels of a trace, and the record of which level was in
// force when.

// Varied are the attributes that may follow a trace. Memory may not: a limit below the memory in use
// ends the program.
func Varied() []string { return []string{CPU, RTT, Bandwidth, Disk} }

// CheckTrace returns an error if an attribute cannot follow a trace, and the index of the point at
// fault, -1 for the whole.
func CheckTrace(attribute string, t assay.Trace) (point int, err error) {
	if !slices.Contains(Varied(), attribute) {
		return -1, fmt.Errorf("%s does not vary while a run goes on", attribute)
	}
	if point, err := t.Check(); err != nil {
		return point, err
	}
	lo, hi, unit := bounds(attribute)
	for i, p := range t.Points {
		if _, err := inRange(attribute, p.Level, lo, hi, unit); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// bounds returns the least and the greatest level of an attribute of ours, and its unit.
func bounds(attribute string) (lo, hi float64, unit string) {
	switch attribute {
	case CPU:
		return minCPU, float64(runtime.NumCPU()), "processors"
	case Memory:
		return minMemory, math.MaxInt64, "B"
	case RTT:
		return 0, MaxRTT.Seconds(), "s"
	case Bandwidth:
		return MinRate, MaxRate, "bit/s"
	}
	return minDisk, math.MaxInt64, "B/s"
}

// A course is which levels of an attribute were in force during a run, one span after the other.
type course []span

// A span is a stretch of time in which a level was in force, or, while it was set anew, one of two.
type span struct {
	from, to time.Time
	lo, hi   float64
}

// within returns the parts of the spans between two times. The first and the last level extend to times
// outside.
func (c course) within(from, to time.Time) course {
	var out course
	for i, s := range c {
		if i == 0 && from.Before(s.from) {
			s.from = from
		}
		if i == len(c)-1 && to.After(s.to) {
			s.to = to
		}
		if s.from.Before(from) {
			s.from = from
		}
		if s.to.After(to) {
			s.to = to
		}
		if !s.to.Before(s.from) {
			out = append(out, s)
		}
	}
	return out
}

// least and greatest return the bounds of the levels, NaN of none.
func (c course) least() float64 {
	if len(c) == 0 {
		return math.NaN()
	}
	return slices.MinFunc(c, func(a, b span) int { return cmp.Compare(a.lo, b.lo) }).lo
}

func (c course) greatest() float64 {
	if len(c) == 0 {
		return math.NaN()
	}
	return slices.MaxFunc(c, func(a, b span) int { return cmp.Compare(a.hi, b.hi) }).hi
}

// mean returns the time-weighted mean level, NaN of no time.
func (c course) mean() float64 {
	sum, seconds := 0.0, 0.0
	for _, s := range c {
		took := s.to.Sub(s.from).Seconds()
		sum, seconds = sum+took*(s.lo+s.hi)/2, seconds+took
	}
	return sum / seconds
}

// most returns the largest amount of a rate over any given number of seconds of the course: the sum over
// the seconds in which it was highest.
func (c course) most(seconds float64) float64 {
	sorted := slices.Clone(c)
	slices.SortFunc(sorted, func(a, b span) int { return cmp.Compare(b.hi, a.hi) })
	sum, left := 0.0, seconds
	for _, s := range sorted {
		took := min(left, s.to.Sub(s.from).Seconds())
		sum, left = sum+took*s.hi, left-took
	}
	if left > 0 && len(sorted) > 0 { // longer than the course: a difference of clocks
		sum += left * sorted[0].hi
	}
	return sum
}
