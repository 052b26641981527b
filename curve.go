package assay

import (
	"slices"
	"time"
)

// MaxCurve is the most points of a [Curve].
const MaxCurve = 64

// A Curve is the series of reports of one metric during a run. If a run reports more often than MaxCurve times, points
// are left out evenly; the first and the last report are always kept. Steps count reports, so that runs on machines of
// different speed are comparable.
type Curve struct {
	Metric string    `json:"metric"`
	Step   []int     `json:"step"` // which report of the run it was, from 1, rising
	At     []float64 `json:"at_s"` // when it was seen, in seconds since the run began
	Value  []float64 `json:"value"`

	stride int // between the points that are kept
}

// Add adds a report. One that is no later than the last is left out.
func (c *Curve) Add(step int, at time.Duration, value float64) {
	n := len(c.Step)
	if n > 0 && step <= c.Step[n-1] {
		return
	}
	if n > 1 && c.Step[n-1]-c.Step[n-2] < c.stride { // the last one was there because it was the last
		c.cut(n - 1)
	}
	c.Step, c.At, c.Value = append(c.Step, step), append(c.At, at.Seconds()), append(c.Value, value)
	if len(c.Step) > MaxCurve {
		c.thin()
	}
}

// thin doubles the distance of the points.
func (c *Curve) thin() {
	c.stride = 2 * max(1, c.stride)
	last, kept := len(c.Step)-1, 0
	for i := range c.Step {
		if i > 0 && i < last && c.Step[i]-c.Step[kept-1] < c.stride {
			continue
		}
		c.Step[kept], c.At[kept], c.Value[kept] = c.Step[i], c.At[i], c.Value[i]
		kept++
	}
	c.cut(kept)
}

func (c *Curve) cut(n int) { c.Step, c.At, c.Value = c.Step[:n], c.At[:n], c.Value[:n] }

// Last returns the step of the last report, 0 without a report.
func (c *Curve) Last() int {
	if c == nil || len(c.Step) == 0 {
		return 0
	}
	return c.Step[len(c.Step)-1]
}

// Upto returns the values of the reports up to a step, the last one last. They are the curve's own.
func (c *Curve) Upto(step int) []float64 {
	if c == nil {
		return nil
	}
	n, found := slices.BinarySearch(c.Step, step)
	if found {
		n++
	}
	return c.Value[:min(n, len(c.Value))]
}

// Clone returns a copy that does not change; nil of nil.
func (c *Curve) Clone() *Curve {
	if c == nil {
		return nil
	}
	out := *c
	out.Step, out.At, out.Value = slices.Clone(c.Step), slices.Clone(c.At), slices.Clone(c.Value)
	return &out
}
