package workereffect

import (
	"math"
	"slices"
)

// Deviations of the effects, in logarithms, before any run.
const (
	// alike is the deviation of workers of one class, and alikeWeight the number of workers for which it counts.
	alike       = 0.03
	alikeWeight = 2
	// apart is the deviation of classes: nearly uninformative.
	apart = 1.0
	// ridge is the variance of a run, relative to the variance of the coefficient of a feature.
	ridge = 0.5
	// rounds is how often the deviations are learned in turn with the effects.
	rounds = 8
	// leastNoise is the least deviation of a run that is believed.
	leastNoise = 1e-4
	// mostFeatures is how many features the model has at most; further ones are noise to it.
	mostFeatures = 200
	// mostShared bounds how many times as much configurations may vary as runs of one.
	mostShared = 1e4
)

// An estimate is the result of a fit. Its zero value is the result without runs.
type estimate struct {
	class  []float64 // effects of classes
	worker []float64 // effects of workers, within their class
	off    []float64 // standard deviations of those
	noise  float64   // standard deviation of a run, with the part not explained by the features
	alike  float64   // deviation of workers of one class
	// rest is the part of each run that is explained by neither its features, its class, nor other runs of its
	// configuration: the worker and noise.
	rest []float64
}

// fitted solves Henderson's mixed model equations and learns the variances by turns: the variance of workers by
// expectation and maximization, the variances within configurations and in all by moments.
//
// Columns of the design are 1, the features, the classes if there are several, and the workers. It costs n·p² + p³ for
// n runs and p columns.
func fitted(m *Model) estimate {
	d := newDesign(m)
	n := len(d.rows)
	if n < 2 {
		return estimate{}
	}
	mean, total := 0.0, 0.0
	for _, i := range d.rows {
		mean += m.runs[i].y / float64(n)
	}
	for _, i := range d.rows {
		total += (m.runs[i].y - mean) * (m.runs[i].y - mean) / float64(n)
	}
	tau, shared := alike*alike, 0.0
	noise := max(total, leastNoise*leastNoise) // of a run, of which one part in 1+shared is its own
	rest := make([]float64, n)
	eq := newEquations(d.columns)
	for range rounds {
		own := noise / (1 + shared)
		d.normal(eq, shared)
		for j := range d.columns {
			var prior float64
			switch {
			case j == 0:
				prior = 1e-9
			case j < d.class:
				prior = ridge / (1 + shared)
			case j < d.worker:
				prior = own / (apart * apart)
			default:
				prior = own / tau
			}
			eq.a[j*eq.n+j] += prior
		}
		if !eq.solve() {
			return estimate{}
		}
		sum, workers := 0.0, 0.0
		for w := range m.workers {
			x := eq.theta[d.worker+w]
			sum += x*x + own*eq.variance(d.worker+w)
			workers++
		}
		tau = (alikeWeight*alike*alike + sum) / (alikeWeight + workers)
		d.residuals(m, eq.theta, rest)
		d.trim(m, rest)
		noise, shared = d.variances(rest)
	}
	e := estimate{
		class: make([]float64, len(m.classes)), worker: make([]float64, len(m.workers)),
		off: make([]float64, len(m.workers)), noise: math.Sqrt(noise), alike: math.Sqrt(tau),
	}
	if d.worker > d.class {
		for k := range m.classes {
			e.class[k] = eq.theta[d.class+k]
		}
	}
	for w := range m.workers {
		e.worker[w] = eq.theta[d.worker+w]
		e.off[w] = math.Sqrt(noise / (1 + shared) * eq.variance(d.worker+w))
	}
	d.residuals(m, eq.theta, rest) // outliers count untrimmed
	e.rest = d.unexplained(m, &e, rest, shared)
	return e
}

// A design is which columns and rows the equations have.
type design struct {
	rows          []int     // of runs that count
	y             []float64 // of the rows, trimmed towards the fit
	features      []int     // of the features of a run
	centre        []float64
	squares       []int // which of features have a square too
	class, worker int   // the first column of each
	columns       int
	of            [][]int // rows, by index in rows, of each configuration
	entries       []entries
}

func newDesign(m *Model) *design {
	d := &design{of: make([][]int, m.configs.Len())}
	for i, r := range m.runs {
		if !r.out {
			d.of[r.config] = append(d.of[r.config], len(d.rows))
			d.rows = append(d.rows, i)
			d.y = append(d.y, r.y)
		}
	}
	if len(d.rows) == 0 {
		return d
	}
	first := m.runs[d.rows[0]].x
	for f := range first {
		sum, levels := 0.0, map[float64]bool{}
		for _, i := range d.rows {
			x := m.runs[i].x[f]
			sum += x
			if len(levels) < 3 {
				levels[x] = true
			}
		}
		if len(levels) < 2 || len(d.features) == mostFeatures {
			continue
		}
		if len(levels) > 2 {
			d.squares = append(d.squares, len(d.features))
		}
		d.features = append(d.features, f)
		d.centre = append(d.centre, sum/float64(len(d.rows)))
	}
	if len(d.features)+len(d.squares) > mostFeatures {
		d.squares = nil
	}
	d.class = 1 + len(d.features) + len(d.squares)
	d.worker = d.class
	if len(m.classes) > 1 {
		d.worker += len(m.classes)
	}
	d.columns = d.worker + len(m.workers)
	d.write(m)
	return d
}

// write sets the entries of the rows that are not 0: they are few, for a run has one worker of many.
func (d *design) write(m *Model) {
	most := d.class + 2
	d.entries = make([]entries, len(d.rows))
	all := make([]entry, 0, most*len(d.rows))
	for n, i := range d.rows {
		r := &m.runs[i]
		from := len(all)
		add := func(column int, x float64) {
			if x != 0 {
				all = append(all, entry{column, x})
			}
		}
		add(0, 1)
		for j, f := range d.features {
			add(1+j, r.x[f]-d.centre[j])
		}
		for j, s := range d.squares {
			x := r.x[d.features[s]] - d.centre[s]
			add(1+len(d.features)+j, x*x)
		}
		if d.worker > d.class {
			add(d.class+m.workers[r.worker].class, 1)
		}
		add(d.worker+r.worker, 1)
		d.entries[n] = all[from:len(all):len(all)]
	}
}

// normal sets the equations to ZᵀV⁻¹Z and ZᵀV⁻¹y, V = I + shared·J within each configuration.
func (d *design) normal(eq *equations, shared float64) {
	clear(eq.a)
	clear(eq.b)
	sum := make([]float64, d.columns)
	var sums entries
	for _, rows := range d.of {
		if shared == 0 || len(rows) == 0 {
			for _, i := range rows {
				eq.add(d.entries[i], d.y[i], 1)
			}
			continue
		}
		clear(sum)
		ys := 0.0
		for _, i := range rows {
			y := d.y[i]
			eq.add(d.entries[i], y, 1)
			ys += y
			for _, e := range d.entries[i] {
				sum[e.column] += e.x
			}
		}
		sums = sums[:0]
		for j, x := range sum {
			if x != 0 {
				sums = append(sums, entry{j, x})
			}
		}
		eq.add(sums, ys, -shared/(1+float64(len(rows))*shared))
	}
}

// residuals sets rest to them.
func (d *design) residuals(m *Model, theta, rest []float64) {
	for i := range rest {
		rest[i] = m.runs[d.rows[i]].y
		for _, e := range d.entries[i] {
			rest[i] -= e.x * theta[e.column]
		}
	}
}

// far is the number of robust deviations from the fit beyond which a run is trimmed.
const far = 3

// trim cuts outliers in residuals and outcomes (Huber's pseudo-values): noise often has a heavy tail, and one bad run
// is no evidence about its worker.
func (d *design) trim(m *Model, rest []float64) {
	most := far * deviation(rest)
	for i, r := range rest {
		rest[i] = min(max(r, -most), most)
		d.y[i] = m.runs[d.rows[i]].y - r + rest[i]
	}
}

// deviation returns the standard deviation of a normal distribution with the same median distance from 0,
// at least [leastNoise].
func deviation(rest []float64) float64 {
	size := make([]float64, len(rest))
	for i, r := range rest {
		size[i] = math.Abs(r)
	}
	return max(median(size)/quartile, leastNoise)
}

// quartile is the median of |z| of a standard normal z.
const quartile = 0.6744897501960817

// median returns the median of values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return 0
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

// variances returns the variance of the residuals, and how many times as much as runs of one configuration
// the configurations vary in it: 0 where no configuration was run twice.
func (d *design) variances(rest []float64) (noise, shared float64) {
	for _, r := range rest {
		noise += r * r
	}
	n := float64(len(rest))
	// The ridge uses fewer degrees of freedom than there are columns; half of the runs is a guess that
	// does not fail where columns are many.
	noise = max(noise/max(n-float64(d.columns), n/2), leastNoise*leastNoise)
	within, freedom := 0.0, 0.0
	for _, rows := range d.of {
		if len(rows) < 2 {
			continue
		}
		mean := 0.0
		for _, i := range rows {
			mean += rest[i] / float64(len(rows))
		}
		for _, i := range rows {
			within += (rest[i] - mean) * (rest[i] - mean)
		}
		freedom += float64(len(rows) - 1)
	}
	if freedom == 0 {
		return noise, 0
	}
	within = max(within/freedom, leastNoise*leastNoise)
	return noise, min(max(noise/within-1, 0), mostShared)
}

// unexplained returns rest with the effects of workers, and without the part that configurations share: by run of the
// model, NaN for a run that does not count.
func (d *design) unexplained(m *Model, e *estimate, rest []float64, shared float64) []float64 {
	all := make([]float64, len(m.runs))
	for i := range all {
		all[i] = math.NaN()
	}
	for _, rows := range d.of {
		sum := 0.0
		for _, i := range rows {
			sum += rest[i]
		}
		// A run is excluded from its own correction: a worker is compared with the others.
		for _, i := range rows {
			n := float64(len(rows) - 1)
			own := (sum - rest[i]) * shared / (1 + n*shared)
			all[d.rows[i]] = rest[i] - own + e.worker[m.runs[d.rows[i]].worker]
		}
	}
	return all
}
