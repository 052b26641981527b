package race

import (
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// A margin is the distance from the limits that a configuration needs before it is run again: one standard deviation of
// the limited metric. A configuration that is closer breaks the limit in about one run of six, so that repeated runs
// find out sooner or later, and the time for them is lost.
//
// Distances are shares: of the greater side of the comparison that is the limit. The standard deviation is the one of
// the normal distribution with the same median difference of two runs of one configuration, as in [Field.Noise]. It is
// 0 until a configuration has run twice.
type margin struct {
	bounds []assay.Bound // of the goal
	roll   assay.ConfigIndex
	runs   [][]float64 // of each configuration: the distances of its runs, one a bound, NaN if not measured
	differ [][]float64 // of each bound: of runs of one configuration, each with the one before it
	off    []float64   // the standard deviations
}

// add adds a run that ended by itself.
func (m *margin) add(t assay.Trial) {
	if len(m.bounds) == 0 || t.State != assay.Done && t.State != assay.Infeasible {
		return
	}
	if m.off == nil {
		m.differ, m.off = make([][]float64, len(m.bounds)), make([]float64, len(m.bounds))
	}
	i, added := m.roll.Number(t.Config)
	if added {
		m.runs = append(m.runs, nil)
	}
	before := len(m.runs[i]) - len(m.bounds)
	for b, bound := range m.bounds {
		d := math.NaN()
		if left, right, err := bound.Sides(t.Measurement.Metric); err == nil {
			d = inside(left, right)
		}
		m.runs[i] = append(m.runs[i], d)
		if before < 0 {
			continue
		}
		if apart := math.Abs(d - m.runs[i][before+b]); apart >= 0 { // both were measured
			m.differ[b] = append(m.differ[b], apart)
			m.off[b] = stats.Median(m.differ[b]) / (math.Sqrt2 * quartile)
		}
	}
}

// inside returns by how much left is below right, as a share of the greater.
func inside(left, right float64) float64 {
	if left == right {
		return 0
	}
	return (right - left) / max(math.Abs(left), math.Abs(right))
}

// known reports whether the noise of a limited metric is known, so that a configuration may be near a limit.
func (m *margin) known() bool {
	return slices.ContainsFunc(m.off, func(off float64) bool { return off > 0 })
}

// near reports whether a configuration is closer to a limit than one standard deviation.
func (m *margin) near(c assay.Config) bool {
	i, ok := m.roll.Find(c)
	if !ok {
		return false
	}
	for b, off := range m.off {
		var of []float64
		for k := b; k < len(m.runs[i]); k += len(m.bounds) {
			if d := m.runs[i][k]; !math.IsNaN(d) {
				of = append(of, d)
			}
		}
		if off > 0 && len(of) > 0 && stats.Median(of) < off {
			return true
		}
	}
	return false
}
