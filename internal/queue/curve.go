package queue

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// maxCurve is the number of points kept of an attempt. When it is exceeded, every second point is dropped, and from
// then on every second new one.
const maxCurve = 128

// A Curve has the reports of an attempt over time, in the order of At. A metric that was not reported at a point is NaN
// there.
type Curve struct {
	At      []time.Duration // since the attempt began, rising
	Metrics map[string][]float64

	stride, skipped int
}

// add adds a report, unless it is to be skipped or repeats the last one.
func (c *Curve) add(m assay.Measurement) {
	if len(m.Metrics) == 0 || len(c.At) > 0 && m.Elapsed <= c.At[len(c.At)-1] {
		return
	}
	if c.skipped++; c.skipped < c.stride {
		return
	}
	c.skipped = 0
	if c.Metrics == nil {
		c.Metrics = map[string][]float64{}
	}
	c.At = append(c.At, m.Elapsed)
	for name := range m.Metrics {
		if _, known := c.Metrics[name]; !known {
			c.Metrics[name] = missing(len(c.At) - 1)
		}
	}
	for name, list := range c.Metrics {
		x, ok := m.Metrics[name]
		if !ok {
			x = math.NaN()
		}
		c.Metrics[name] = append(list, x)
	}
	if len(c.At) < maxCurve {
		return
	}
	c.At = halve(c.At)
	for name, list := range c.Metrics {
		c.Metrics[name] = halve(list)
	}
	c.stride = max(1, c.stride) * 2
}

// missing returns n times no value.
func missing(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.NaN()
	}
	return list
}

// halve keeps every second element, the last one among them.
func halve[T any](list []T) []T {
	n := 0
	for i := (len(list) + 1) % 2; i < len(list); i += 2 {
		list[n] = list[i]
		n++
	}
	return list[:n]
}

// clone returns a copy that does not change.
func (c *Curve) clone() Curve {
	out := Curve{At: append([]time.Duration(nil), c.At...), Metrics: map[string][]float64{}}
	for name, list := range c.Metrics {
		out.Metrics[name] = append([]float64(nil), list...)
	}
	return out
}

// A Reported has the reports of one attempt at a run of a trial, since this process knows of it.
type Reported struct {
	ID     assay.RunID
	Placed bool // a worker is at it
	Worker string
	Silent time.Duration     // since the last beat
	So     assay.Measurement // the last report
	Curve  Curve
}

// Reported returns the reports of the attempts at the runs of a trial, including those that ended recently: the last
// few hundred runs of a study are kept, and none over a restart.
func (f *Fleet) Reported(study string, trial int64) (all []Reported) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.studies[study]
	if m == nil {
		return nil
	}
	defer func() {
		slices.SortFunc(all, func(a, b Reported) int {
			return cmp.Or(cmp.Compare(a.ID.Repeat, b.ID.Repeat), cmp.Compare(a.ID.Attempt, b.ID.Attempt))
		})
	}()
	for key, r := range m.runs { // a few hundred
		if key.trial != trial {
			continue
		}
		for _, a := range r.Attempts {
			if a.State >= ledger.Placed {
				all = append(all, Reported{
					a.id(), a.State == ledger.Placed, a.Worker, a.Silent(f.o.Now()), a.Latest, a.curve.clone(),
				})
			}
		}
	}
	return all
}
