package pro

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
)

// A noiseSource makes the run time of a processor from the noise-free one.
type noiseSource interface {
	// step begins a time step.
	step()
	// draw returns the time of one iteration of c on processor p; f is its time
	// without noise.
	draw(p int, c assay.Config, f float64) float64
}

// paretoNoise is f + n, n of a Pareto distribution with the tail index alpha and the
// mean that the load has by the two-job model (Eq. 6 and 17).
type paretoNoise struct {
	rng   *rand.Rand
	model stats.TwoJob
	alpha float64
}

func (n paretoNoise) step() {}

func (n paretoNoise) draw(_ int, _ assay.Config, f float64) float64 {
	if n.model.Rho == 0 {
		return f
	}
	return f + n.model.Pareto(f, n.alpha).Draw(n.rng)
}

// correlatedNoise is Pareto noise that the processors share in part: the normal
// scores of their noise in one time step have the correlation r (a Gaussian
// copula),
//
//	z_p = √r·Z + √(1-r)·Z_p,  n_p = β·Φ(-z_p)^(-1/α).
type correlatedNoise struct {
	rng         *rand.Rand
	model       stats.TwoJob
	alpha       float64
	correlation float64
	shared      float64 // Z of the time step
}

func (n *correlatedNoise) step() { n.shared = n.rng.NormFloat64() }

func (n *correlatedNoise) draw(_ int, _ assay.Config, f float64) float64 {
	z := math.Sqrt(n.correlation)*n.shared + math.Sqrt(1-n.correlation)*n.rng.NormFloat64()
	return f + n.model.Pareto(f, n.alpha).Beta*math.Exp(-stats.LogNormCDF(-z)/n.alpha)
}

// seriesNoise is f times the recorded times of a program, as multiples of its
// fastest: every processor walks through the series from a place of its own.
type seriesNoise struct {
	multiples []float64
	place     []int
}

func newSeriesNoise(multiples []float64, processors int, rng *rand.Rand) *seriesNoise {
	n := &seriesNoise{multiples: multiples, place: make([]int, processors)}
	for i := range n.place {
		n.place[i] = rng.IntN(len(multiples))
	}
	return n
}

func (n *seriesNoise) step() {}

func (n *seriesNoise) draw(p int, _ assay.Config, f float64) float64 {
	n.place[p] = (n.place[p] + 1) % len(n.multiples)
	return f * n.multiples[n.place[p]]
}

// multiplesOf returns run times as multiples of the least, which is more than 0.
func multiplesOf(times []float64) ([]float64, error) {
	if len(times) == 0 {
		return nil, errors.New("no run times")
	}
	least := stats.Min(times)
	if !(least > 0) {
		return nil, fmt.Errorf("a run time of %v", least)
	}
	x := slices.Clone(times)
	for i := range x {
		x[i] /= least
	}
	return x, nil
}

// scaleExcess returns 1 + k·(x - 1) for each multiple x, and nil for nil.
func scaleExcess(x []float64, k float64) []float64 {
	y := slices.Clone(x)
	for i, v := range y {
		y[i] = 1 + k*(v-1)
	}
	return y
}

// runsOf returns the recorded objective values of each configuration of a table, by Key, in their order.
// Failed runs and runs without a value are left out. A table without a configuration of two runs is an
// error: it has no information about noise.
func runsOf(t *table.Table, goal assay.Goal) (map[string][]float64, error) {
	all := map[string][]float64{}
	most := 0
	for _, c := range t.Configs {
		var values []float64
		for _, m := range t.Measurements(c) {
			if v, err := goal.Value(m); err == nil && m.ExitCode == 0 {
				values = append(values, v)
			}
		}
		all[c.Key()] = values
		most = max(most, len(values))
	}
	if most < 2 {
		return nil, errors.New("noise table: the table has one run of each configuration")
	}
	return all, nil
}

// tableNoise is the recorded noise of each configuration: f times the multiples of the configuration's
// fastest run. Every processor walks through the runs of a configuration from a place of its own; a
// configuration that was not recorded has the noise of the nearest recorded one. The result of
// newTableNoise is shared by all programs; begin makes the noise of one.
type tableNoise struct {
	multiples map[string][]float64 // by Key
	mean      float64              // of all multiples
	land      *landscape
	place     []int
}

func newTableNoise(land *landscape, runs map[string][]float64) *tableNoise {
	n := &tableNoise{multiples: map[string][]float64{}}
	var all []float64
	for _, r := range land.recorded {
		var ms []float64
		for _, v := range runs[r.at.Key()] {
			ms = append(ms, v/r.value)
		}
		n.multiples[r.at.Key()] = ms
		all = append(all, ms...)
	}
	n.mean = stats.Mean(all)
	return n
}

// scaled returns the noise with its excess times k.
func (n *tableNoise) scaled(k float64) *tableNoise {
	m := &tableNoise{multiples: map[string][]float64{}, mean: 1 + k*(n.mean-1)}
	for key, ms := range n.multiples {
		m.multiples[key] = scaleExcess(ms, k)
	}
	return m
}

// begin returns the noise of one program.
func (n *tableNoise) begin(land *landscape, processors int, rng *rand.Rand) *tableNoise {
	m := &tableNoise{multiples: n.multiples, mean: n.mean, land: land, place: make([]int, processors)}
	for i := range m.place {
		m.place[i] = rng.IntN(1 << 30)
	}
	return m
}

func (n *tableNoise) step() {}

func (n *tableNoise) draw(p int, c assay.Config, f float64) float64 {
	ms, ok := n.multiples[c.Key()]
	if !ok {
		ms = n.multiples[n.land.nearest(c).Key()]
	}
	n.place[p]++
	return f * ms[n.place[p]%len(ms)]
}
