package costmodel

import (
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// without returns the predictions of a part for every run by a function fitted without the runs of its assignment; NaN
// if no other run is left to fit to. Another run of the same assignment would give the prediction away. A smooth
// function keeps its kernel. A run outside the fit has its plain prediction. Deviations are of the logarithm, NaN if
// not estimated.
func (m *Model) without(p Part) (means, deviations []float64) {
	return leaveOut(m.attrs, m.runs, m.parts[p])
}

// leaveOut is [Model.without] for any function. Groups of runs of one assignment are left out together.
//
// For a surface, the predictions have a closed form with the kernel kept: one factorization serves all groups. Any
// other function is fitted again for each group. If all runs are of one assignment, nothing is left to fit to, and the
// predictions are NaN.
//
// Invariant: serves[i] is 0 for a run that f is not fitted to, and else its place among the runs of f, from 1.
func leaveOut(attrs []attribute, runs []Run, f *function) (means, deviations []float64) {
	means, deviations = make([]float64, len(runs)), make([]float64, len(runs))
	// A function may be fitted to part of the runs, and its surface knows only these.
	serves := make([]int, len(runs)) // place among the runs that f is fitted to, from 1
	for k, i := range f.runs {
		serves[i] = k + 1
	}
	if f.runs == nil {
		for i := range serves {
			serves[i] = i + 1
		}
	}
	groups := byAssignment(runs, f.runs)
	var fast []assay.Prediction
	if f.surface != nil {
		fast = f.surface.leaveOut(places(groups, serves))
	}
	for i, r := range runs {
		if serves[i] == 0 {
			means[i], _, deviations[i] = f.at(r.Config)
		}
	}
	for _, group := range groups {
		var g *function
		if fast == nil && len(groups) > 1 {
			// If no run is left for this function, g is nil and its predictions are NaN.
			g, _ = fit(attrs, runs, f.form, func(k int) bool { return slices.Contains(group, k) })
		}
		for _, i := range group {
			switch {
			case len(groups) > 1 && fast != nil:
				means[i], _, deviations[i] = f.unscale(fast[serves[i]-1])
			case g != nil:
				means[i], _, deviations[i] = g.at(runs[i].Config)
			default:
				means[i], deviations[i] = math.NaN(), math.NaN()
			}
		}
	}
	return means, deviations
}

// byAssignment returns the indices of runs, or of all if which is nil, in groups of
// the same assignment, in the order of the first of each.
//
// Each index is in one group. Coordinates are compared exactly.
func byAssignment(runs []Run, which []int) [][]int {
	var groups [][]int
	at := map[string]int{}
	add := func(i int) {
		k := runs[i].Config.Key()
		g, ok := at[k]
		if !ok {
			g = len(groups)
			at[k] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	for _, i := range which {
		add(i)
	}
	for i := range runs {
		if which == nil {
			add(i)
		}
	}
	return groups
}

// places translates groups of indices of runs into groups of places among the examples of a
// surface, which has only the runs that it was fitted to. from counts places from 1.
func places(groups [][]int, from []int) [][]int {
	out := make([][]int, len(groups))
	for g, group := range groups {
		for _, i := range group {
			out[g] = append(out[g], from[i]-1)
		}
	}
	return out
}

// validate sets the model's own error estimates, all by leave-one-out cross-validation (§3.6):
//
//   - direct, the weight of the prediction of the total as a whole against the sum of its parts: inverse squares of
//     their errors, with extra weight for the parts if there are few runs.
//   - error, the mean absolute percentage error of the blend.
//   - spread, which fits the width of intervals to the residuals: a factor on the deviations that the function of T
//     estimates, or the deviation itself if it estimates none.
func (m *Model) validate() {
	n := len(m.runs)
	parts := map[Part][]float64{}
	var deviations []float64
	for _, fm := range m.forms {
		mean, dev := m.without(fm.part)
		parts[fm.part] = mean
		if fm.part == Time {
			deviations = dev
		}
	}
	direct, sums := make([]float64, n), make([]float64, n)
	for i := range n {
		sums[i], _ = m.sum(func(p Part) float64 { return parts[p][i] })
		if m.whole() {
			direct[i] = parts[Time][i]
		}
	}
	// The cases are: no function of the total (0), nothing but that (1), and both.
	if m.direct = 0; m.whole() {
		if m.direct = 1; m.apart() {
			// While there are few runs, the parts have three quarters of the weight:
			// each depends on little, so that few runs show it.
			a, b := m.logError(direct), m.logError(sums)
			// With few = 0.2/n the weight tends to few/(4·few) = 1/4 where the errors are
			// small beside it, and to that by errors as n grows.
			few := 0.2 / float64(n)
			if m.direct = (b*b + few) / (a*a + b*b + 4*few); math.IsNaN(m.direct) {
				m.direct = 0.25
			}
		}
	}
	// The blend is of predictions of each run without itself, so that error and spread are not measured on runs that the
	// model has seen.
	blended := make([]float64, n)
	m.residuals = make([]float64, n)
	var ratio, square float64
	for i, r := range m.runs {
		blended[i] = m.blend(direct[i], sums[i])
		m.residuals[i] = math.Log(r.Seconds / blended[i])
		e := m.residuals[i]
		square += e * e / float64(n)
		if deviations != nil {
			ratio += e * e / (deviations[i] * deviations[i]) / float64(n)
		}
	}
	m.error = stats.MAPE(seconds(m.runs), blended)
	m.absolute = deviations == nil
	if m.spread = math.Sqrt(square); !m.absolute {
		// Shrunk towards 1 with the weight of five runs: few residuals are weak evidence.
		m.spread = math.Sqrt((ratio*float64(n) + 5) / float64(n+5))
		if math.IsNaN(m.spread) {
			m.spread = 1
		}
	}
}

// logError is the root mean square of log(T/predicted). The 1e-6 keeps the weights finite
// where a prediction is exact.
func (m *Model) logError(predicted []float64) float64 {
	var sum float64
	for i, r := range m.runs {
		e := math.Log(r.Seconds / max(predicted[i], least))
		sum += e * e / float64(len(m.runs))
	}
	return math.Sqrt(sum) + 1e-6
}

// seconds returns the times of runs, T in s.
func seconds(runs []Run) []float64 {
	t := make([]float64, len(runs))
	for i, r := range runs {
		t[i] = r.Seconds
	}
	return t
}

// partError is the mean absolute percentage error of predictions of a part, in
// percent. An occupancy below 1 % of the whole is compared with that 1 %: a
// stall that is nearly nothing is predicted well by nothing.
func partError(runs []Run, which []int, p Part, predicted []float64) float64 {
	var sum float64
	for k, i := range which {
		actual := runs[i].Of(p)
		base := actual
		if p <= Whole || p == Other {
			base = max(actual, 0.01*runs[i].Of(Whole))
		}
		sum += math.Abs(actual-predicted[k]) / base
	}
	return 100 * sum / float64(len(which))
}
