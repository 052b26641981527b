package requests

import (
	"math"
	"slices"

	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/workflow/request"
)

// This file has the requests of papers. All double requests that were too small. None of them asks for
// time.

// memories returns the uses of each kind that have a peak.
func memories(seen []request.Use) map[string][]request.Use {
	kinds := map[string][]request.Use{}
	for i := range seen {
		if seen[i].Memory > 0 {
			kinds[seen[i].Kind] = append(kinds[seen[i].Kind], seen[i])
		}
	}
	return kinds
}

// perKind makes a sizer of a rule that is fitted to the tasks of a kind. fit may return nil, for none.
func perKind(fit func(uses []request.Use) func(*request.Use) float64) request.Sizer {
	return func(seen []request.Use) func(*request.Use) (memory, time request.Rule) {
		fitted := map[string]func(*request.Use) float64{}
		for kind, uses := range memories(seen) {
			fitted[kind] = fit(uses)
		}
		return func(u *request.Use) (memory, time request.Rule) {
			f := fitted[u.Kind]
			if f == nil {
				return request.Rule{}, request.Rule{}
			}
			if x := f(u); x > 0 {
				return request.Constant(x), request.Rule{}
			}
			return request.Rule{}, request.Rule{}
		}
	}
}

// wittPercentile is the percentile method of Witt, Wagner and Leser, Feedback-based resource allocation for
// batch scheduling of scientific workflows (HPCS 2019): a percentile of the peaks that were seen.
func wittPercentile(p float64) request.Sizer {
	return perKind(func(uses []request.Use) func(*request.Use) float64 {
		peaks := make([]float64, len(uses))
		for i := range uses {
			peaks[i] = uses[i].Memory
		}
		x := stats.Quantile(peaks, p)
		return func(*request.Use) float64 { return x }
	})
}

// wittRegression is their linear regression on the input size, lifted by the standard deviation of its
// relative errors. If it predicts nothing, the request is the largest peak that was seen.
func wittRegression(uses []request.Use) func(*request.Use) float64 {
	x, y := columns(uses)
	a, b := leastSquares(x, y, 1)
	errs := make([]float64, len(x))
	for i := range x {
		errs[i] = (y[i] - (a + b*x[i])) / y[i]
	}
	offset, most := 0.0, slices.Max(y)
	if len(errs) > 1 {
		offset = stats.StdDev(errs)
	}
	return func(u *request.Use) float64 {
		if p := a + b*u.In; p > 0 {
			return p * (1 + offset)
		}
		return most
	}
}

// ponderLeast is the least that Ponder adds to its expectation, 128 MiB.
const ponderLeast = 128 << 20

// ponder is the rule of Lehmann et al., Ponder: online prediction of task memory requirements for
// scientific workflows (2024). With fewer than five tasks it asks for the largest peak and 128 MiB if
// one of them had a larger input, and leaves the request as it is otherwise. With a correlation of input
// size and peak above 0.3 it asks for a line, whose errors above the peak count a tenth of the errors
// below, within the seen range, and two standard deviations of its errors, near inputs weighing more;
// otherwise for the largest peak; and for 128 MiB more at least.
func ponder(uses []request.Use) func(*request.Use) float64 {
	x, y := columns(uses)
	least, most, widest := slices.Min(y), slices.Max(y), slices.Max(x)
	if len(uses) < 5 {
		return func(u *request.Use) float64 {
			if u.In < widest {
				return most + ponderLeast
			}
			return 0
		}
	}
	if r := stats.Correlation(x, y); !(r > 0.3) {
		return func(*request.Use) float64 { return most + ponderLeast }
	}
	a, b := leastSquares(x, y, 0.1)
	return func(u *request.Use) float64 {
		p := a + b*u.In
		switch {
		case p < least:
			p = least
		case p > most && u.In < widest || p < most && u.In >= widest:
			p = most
		}
		return p + max(ponderLeast, 2*weightedDeviation(x, y, a, b, u.In))
	}
}

// columns returns the input sizes and the peaks.
func columns(uses []request.Use) (x, y []float64) {
	for i := range uses {
		x, y = append(x, uses[i].In), append(y, uses[i].Memory)
	}
	return x, y
}

// leastSquares returns the line of least squares where points below it count over times as much as
// those above: weights are set from the errors until they stay.
func leastSquares(x, y []float64, over float64) (a, b float64) {
	w := make([]float64, len(x))
	for i := range w {
		w[i] = 1
	}
	for range 100 {
		var n, mx, my, xx, xy float64
		for i := range x {
			n, mx, my = n+w[i], mx+w[i]*x[i], my+w[i]*y[i]
		}
		mx, my = mx/n, my/n
		for i := range x {
			xx += w[i] * (x[i] - mx) * (x[i] - mx)
			xy += w[i] * (x[i] - mx) * (y[i] - my)
		}
		b = 0
		if xx > 0 {
			b = xy / xx
		}
		a = my - b*mx
		same := true
		for i := range x {
			v := 1.0
			if y[i] < a+b*x[i] {
				v = over
			}
			same, w[i] = same && v == w[i], v
		}
		if same {
			break
		}
	}
	return a, b
}

// weightedDeviation returns the standard deviation of a line's errors, where the weight of a point
// falls with the distance of its input from at, to 0 for the farthest once there are ten.
func weightedDeviation(x, y []float64, a, b, at float64) float64 {
	farthest := 0.0
	for i := range x {
		farthest = max(farthest, math.Abs(x[i]-at))
	}
	extra := max(1-float64(len(x))/10, 0) / 100
	var v1, v2, mean, sum float64
	weight := func(i int) float64 {
		if farthest == 0 {
			return 1
		}
		return 1 - math.Abs(x[i]-at)/farthest + extra
	}
	for i := range x {
		w := weight(i)
		v1, v2, mean = v1+w, v2+w*w, mean+w*(y[i]-a-b*x[i])
	}
	if !(v1 > 0) {
		return 0
	}
	mean /= v1
	for i := range x {
		e := y[i] - a - b*x[i] - mean
		sum += weight(i) * e * e
	}
	if d := v1 - v2/v1; d > 0 {
		return math.Sqrt(sum / d)
	}
	return 0
}
