package pro

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/search"
)

// Options select the simulations. All are required unless stated.
type Options struct {
	Experiments []string // "simplex" (Fig. 9), "repeat" (Fig. 10)
	Simulations int      // programs for each cell; a cell without noise needs 100 at most
	Steps       int      // time steps of a program
	Processors  int      // of a program; 0 means 2N, one for each vertex of the simplex
	Alpha       float64  // tail index of the Pareto noise, above 1: without a mean there is no load
	Size        float64  // r of the initial simplex in the experiment repeat, in (0, 1]
	Repeat      []int    // K, the runs of each point in the experiment repeat; 0 is adaptive
	// Loads are the ρ of the experiment repeat, each in [0, 1). Recorded noise has the
	// load that it was recorded with, unless Scale is set.
	Loads []float64
	Noise []Noise // in place of Pareto noise; optional
	Scale bool    // scale recorded noise, its excess over the fastest run, to each of Loads
	// Correlated is the correlation of the processors' Pareto noise in one time step,
	// of their normal scores, in [0, 1].
	Correlated float64
	Seed       uint64
}

// Noise is recorded noise: the run times of one configuration, or with no Times that
// of the table itself.
type Noise struct {
	Name  string
	Times []float64
}

// A Cell is one row of the result, in the shape of `assay-lab pro --json`.
type Cell struct {
	Experiment string     `json:"experiment"`
	Simplex    string     `json:"simplex"` // "2N", "N+1" or "grow"
	Size       float64    `json:"size"`
	Noise      string     `json:"noise"` // "pareto", or the name of recorded noise
	Rho        float64    `json:"rho"`
	Repeat     string     `json:"repeat"` // K, or "auto"
	NTT        float64    `json:"ntt"`    // mean of the simulations, in multiples of the optimum
	CI95       [2]float64 `json:"ci95"`
	Median     float64    `json:"median"`

	runs   int         // K; 0 means adaptive
	series []float64   // multiples of the fastest; nil for other noise
	table  *tableNoise // nil for other noise
}

// An Experiment holds the simulations of Options for one table.
type Experiment struct {
	options Options
	land    *landscape
	cells   []Cell
}

// New returns the experiment on a recorded table, of which the goal is the time of an
// iteration. Every error is a flaw of the options or of the table.
func New(t *table.Table, goal assay.Goal, o Options) (*Experiment, error) {
	var runs map[string][]float64
	var err error
	if slices.ContainsFunc(o.Noise, func(n Noise) bool { return len(n.Times) == 0 }) {
		if runs, err = runsOf(t, goal); err != nil {
			return nil, err
		}
	}
	e := &Experiment{options: o}
	if e.land, err = newLandscape(t, goal, runs); err != nil {
		return nil, err
	}
	if o.Processors == 0 {
		e.options.Processors = 2 * e.land.space.Dim()
	}
	for _, name := range o.Experiments {
		switch name {
		case "simplex":
			e.cells = append(e.cells, simplexCells()...)
		case "repeat":
			cells, err := o.repeatCells(e.land, runs)
			if err != nil {
				return nil, err
			}
			e.cells = append(e.cells, cells...)
		default:
			return nil, fmt.Errorf("no experiment %q (there are simplex, repeat)", name)
		}
	}
	return e, nil
}

// simplexCells are the shapes and sizes of the initial simplex, without noise (Fig. 9).
func simplexCells() []Cell {
	var cells []Cell
	for _, shape := range []string{"2N", "N+1", "grow"} {
		for _, size := range []float64{0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1} {
			c := Cell{Experiment: "simplex", Simplex: shape, Size: size, Noise: "pareto", Repeat: "1", runs: 1}
			cells = append(cells, c)
		}
	}
	return cells
}

// repeatCells are the numbers of runs of each point, for each noise (Fig. 10).
func (o *Options) repeatCells(land *landscape, runs map[string][]float64) ([]Cell, error) {
	noises, err := o.noises(land, runs)
	if err != nil {
		return nil, err
	}
	var cells []Cell
	for _, c := range noises {
		c.Experiment, c.Simplex, c.Size = "repeat", "2N", o.Size
		for _, k := range o.Repeat {
			c.Repeat, c.runs = strconv.Itoa(k), k
			if k == 0 {
				c.Repeat = "auto"
			}
			cells = append(cells, c)
		}
	}
	return cells, nil
}

// noises returns cells of which only the noise and its load are set.
func (o *Options) noises(land *landscape, runs map[string][]float64) ([]Cell, error) {
	var cells []Cell
	if len(o.Noise) == 0 {
		for _, rho := range o.Loads {
			cells = append(cells, Cell{Noise: "pareto", Rho: rho})
		}
		return cells, nil
	}
	for _, n := range o.Noise {
		c := Cell{Noise: n.Name}
		var mean float64 // multiple of the fastest run
		if len(n.Times) == 0 {
			c.table = newTableNoise(land, runs)
			mean = c.table.mean
		} else {
			var err error
			if c.series, err = multiplesOf(n.Times); err != nil {
				return nil, fmt.Errorf("%s: %w", n.Name, err)
			}
			mean = stats.Mean(c.series)
		}
		if !o.Scale {
			c.Rho = 1 - 1/mean
			cells = append(cells, c)
			continue
		}
		if mean == 1 {
			return nil, fmt.Errorf("noise %s: all times are equal, which is no noise to scale", n.Name)
		}
		for _, rho := range o.Loads {
			// The mean of 1 + k·(multiple - 1) is 1/(1 - ρ), Eq. 6.
			k := rho / (1 - rho) / (mean - 1)
			d := c
			d.Rho, d.series = rho, scaleExcess(c.series, k)
			if c.table != nil {
				d.table = c.table.scaled(k)
			}
			cells = append(cells, d)
		}
	}
	return cells, nil
}

// Run simulates every cell and returns them in the order of the options. progress, if
// it is not nil, is called after each cell. The result does not depend on the workers.
func (e *Experiment) Run(ctx context.Context, workers int, progress func(done, total int)) ([]Cell, error) {
	// Every worker keeps its landscape: its estimates serve all cells.
	lands := make([]*landscape, max(1, workers))
	for w := range lands {
		lands[w] = e.land.clone()
	}
	cells := slices.Clone(e.cells)
	for i := range cells {
		if err := e.measure(ctx, lands, &cells[i]); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(i+1, len(cells))
		}
	}
	return cells, nil
}

// measure simulates one cell. Simulation i of every cell has the same seed.
func (e *Experiment) measure(ctx context.Context, lands []*landscape, c *Cell) error {
	n := e.options.Simulations
	if c.Experiment == "simplex" {
		n = min(n, 100) // only the levels of switches and categories are random
	}
	model := stats.TwoJob{Rho: c.Rho}
	ideal := float64(e.options.Steps) * e.land.best
	ntt := make([]float64, n)
	err := bench.Pool{Workers: len(lands)}.Each(ctx, n, func(_ context.Context, w, i int) error {
		rng := rand.New(rand.NewPCG(e.options.Seed, uint64(i)))
		g := program{
			land: lands[w], runs: c.runs, processors: e.options.Processors, steps: e.options.Steps,
			options: search.SimplexOptions{
				Minimal: c.Simplex == "N+1", Grow: c.Simplex == "grow", Size: c.Size, Seed: rng.Uint64(),
			},
		}
		g.noise = e.noise(c, g, rng)
		ntt[i] = model.NormalizedTotalTime(g.times()) / ideal
		return nil
	})
	if err != nil {
		return err
	}
	ci := stats.MeanInterval(ntt, 0.95)
	c.NTT, c.CI95, c.Median = ci.Value, [2]float64{ci.Low, ci.High}, stats.Median(ntt)
	return nil
}

// noise returns the noise of a cell for one program.
func (e *Experiment) noise(c *Cell, g program, rng *rand.Rand) noiseSource {
	model := stats.TwoJob{Rho: c.Rho}
	switch {
	case c.table != nil:
		return c.table.begin(g.land, g.processors, rng)
	case c.series != nil:
		return newSeriesNoise(c.series, g.processors, rng)
	case e.options.Correlated > 0:
		return &correlatedNoise{rng: rng, model: model, alpha: e.options.Alpha, correlation: e.options.Correlated}
	}
	return paretoNoise{rng, model, e.options.Alpha}
}

// Least reports whether cell i has the least NTT among the cells with its noise and a
// fixed number of runs, which an adaptive one is not.
func Least(cells []Cell, i int) bool {
	c := cells[i]
	if c.Repeat == "auto" {
		return false
	}
	for _, d := range cells {
		if d.Noise == c.Noise && d.Rho == c.Rho && d.Repeat != "auto" && d.NTT < c.NTT {
			return false
		}
	}
	return true
}
