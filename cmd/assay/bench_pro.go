package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stats"
)

type benchProFlags struct {
	experiment string
	runs       int
	steps      int
	processors int
	alpha      float64
	rho        string
	repeat     string
	size       float64
	noise      []string
	correlated float64
	seed       uint64
	jobs       int
	json       bool

	scale bool // recorded noise is scaled to the loads of rho
}

func benchProCommand(s streams) *cobra.Command {
	f := &benchProFlags{}
	cmd := &cobra.Command{
		Use:   "pro STUDY.yaml",
		Short: "the experiments of Tabatabaee et al. 2005: on-line tuning by parallel rank ordering in noise",
		Long: `pro simulates a parallel program that tunes itself for some time steps by parallel
rank ordering, on the recorded table of a study, and reports its total time:
every time step takes as long as its slowest processor. A point that was not
recorded has the weighted mean of its nearest neighbours.

  simplex   shape and size of the initial simplex without noise (Fig. 9); "grow" is
            2N vertices, the better of a pair moves out as long as that helps (§3.2.3)
  repeat    runs of each point, in successive time steps, for loads ρ of the machine
            with Pareto noise (Fig. 10), or with recorded noise (--noise)

Recorded noise has the load that it was recorded with, or with --rho is scaled, its
excess over the fastest run, to every load. "--noise table" is the noise of the
table itself, if it has several runs of each configuration.

Total times are normalized, (1 - ρ)·ΣT_k, and given as multiples of the time of all
steps at the optimum without noise. "auto" takes as many runs as the order needs.`,
		Example: `  assay bench pro bench/studies/spl-dune.yaml
  assay bench pro bench/studies/spl-dune.yaml --experiment repeat --noise run-times.txt`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.scale = cmd.Flags().Changed("rho")
			return f.run(cmd.Context(), s, args[0])
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.experiment, "experiment", "simplex,repeat", "which: simplex, repeat")
	fl.IntVar(&f.runs, "simulations", 2000, "simulated programs for each cell")
	fl.IntVar(&f.steps, "steps", 100, "time steps of a program")
	fl.IntVar(&f.processors, "processors", 0, "processors of the program (default 2N, one for each vertex)")
	fl.Float64Var(&f.alpha, "alpha", 1.7, "tail index of the Pareto noise")
	fl.StringVar(&f.rho, "rho", "0,0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4", "loads of the machine, ρ")
	fl.StringVar(&f.repeat, "repeat", "1,2,3,4,5,auto", "runs of each point, K")
	fl.Float64Var(&f.size, "size", 0.2, "size r of the initial simplex in the experiment repeat")
	fl.StringArrayVar(&f.noise, "noise", nil, "`FILE` of recorded run times of one configuration, a number a line, or table, in place of Pareto noise; may be repeated")
	fl.Float64Var(&f.correlated, "correlated", 0, "correlation of the processors' Pareto noise in one time step (of the normal scores)")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of the simulations")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.NumCPU(), "simulations at once")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// A proCell is one row of the result: a contract.
type proCell struct {
	Experiment string     `json:"experiment"`
	Simplex    string     `json:"simplex"` // "2N", "N+1" or "grow"
	Size       float64    `json:"size"`
	Noise      string     `json:"noise"` // "pareto", "table", or the file
	Rho        float64    `json:"rho"`
	Repeat     string     `json:"repeat"`
	NTT        float64    `json:"ntt"` // mean of the simulations, in multiples of the optimum
	CI95       [2]float64 `json:"ci95"`
	Median     float64    `json:"median"`

	runs   int
	series []float64   // multiples of the fastest; nil for other noise
	table  *tableNoise // nil for other noise
}

func (f *benchProFlags) run(ctx context.Context, s streams, file string) error {
	p, err := recordedProblem(s.err, file, "bench pro")
	if err != nil {
		return err
	}
	if p.goal.Maximize {
		return usagef("%s: bench pro minimizes a time", file)
	}
	var runs map[string][]float64
	if slices.Contains(f.noise, noiseOfTable) {
		if runs, err = tableRuns(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	land, err := newLandscape(p, runs)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if f.runs < 1 || f.steps < 1 || f.jobs < 1 || f.processors < 0 || !(f.alpha > 1) || !(f.size > 0 && f.size <= 1) ||
		!(f.correlated >= 0 && f.correlated <= 1) {
		return usagef("--simulations, --steps and --jobs are at least 1, --alpha is above 1, --size in (0, 1], --correlated in [0, 1]")
	}
	if f.processors == 0 {
		f.processors = 2 * land.space.Dim()
	}
	cells, err := f.cells(land, runs)
	if err != nil {
		return err
	}
	// Every worker keeps its landscape: what it has estimated serves all cells.
	workers := make([]*landscape, f.jobs)
	for w := range workers {
		workers[w] = land.clone()
	}
	status := newStatus(s.err)
	for i := range cells {
		status.Set(fmt.Sprintf("%d of %d cells", i, len(cells)))
		if err := ctx.Err(); err != nil {
			return err
		}
		f.measure(workers, &cells[i])
	}
	status.Close()
	if f.json {
		return writeJSON(s.out, cells)
	}
	return writePro(s.out, cells)
}

// cells lists what is to be measured.
func (f *benchProFlags) cells(land *landscape, runs map[string][]float64) ([]proCell, error) {
	var cells []proCell
	for e := range items(f.experiment) {
		switch e {
		case "simplex":
			for _, shape := range []string{"2N", "N+1", "grow"} {
				for _, size := range []float64{0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1} {
					cells = append(cells, proCell{Experiment: e, Simplex: shape, Size: size, Noise: "pareto", Repeat: "1", runs: 1})
				}
			}
		case "repeat":
			more, err := f.repeatCells(land, runs)
			if err != nil {
				return nil, err
			}
			cells = append(cells, more...)
		default:
			return nil, usagef("no experiment %q (there are simplex, repeat)", e)
		}
	}
	return cells, nil
}

// loads returns the loads of --rho.
func (f *benchProFlags) loads() ([]float64, error) {
	var loads []float64
	for text := range items(f.rho) {
		rho, err := strconv.ParseFloat(text, 64)
		if err != nil || !(rho >= 0 && rho < 1) {
			return nil, usagef("--rho %s: not a load from 0 to below 1", text)
		}
		loads = append(loads, rho)
	}
	return loads, nil
}

func (f *benchProFlags) repeatCells(land *landscape, runs map[string][]float64) ([]proCell, error) {
	loads, err := f.loads()
	if err != nil {
		return nil, err
	}
	var bases []proCell
	for _, name := range f.noise {
		c := proCell{Noise: name}
		var mean float64 // multiple of the fastest run
		if name == noiseOfTable {
			c.table = newTableNoise(land, runs)
			mean = c.table.mean
		} else {
			if c.series, err = readMultiples(name); err != nil {
				return nil, err
			}
			mean = stats.Mean(c.series)
		}
		if !f.scale {
			c.Rho = 1 - 1/mean
			bases = append(bases, c)
			continue
		}
		if mean == 1 {
			return nil, usagef("--noise %s: all times are equal, which is no noise to scale", name)
		}
		for _, rho := range loads {
			// The mean of 1 + k·(multiple - 1) is 1/(1 - ρ), Eq. 6.
			k := rho / (1 - rho) / (mean - 1)
			d := c
			d.Rho = rho
			d.series = scaleExcess(c.series, k)
			if c.table != nil {
				d.table = c.table.scaled(k)
			}
			bases = append(bases, d)
		}
	}
	if len(f.noise) == 0 {
		for _, rho := range loads {
			bases = append(bases, proCell{Noise: "pareto", Rho: rho})
		}
	}
	var cells []proCell
	for _, c := range bases {
		c.Experiment, c.Simplex, c.Size = "repeat", "2N", f.size
		for text := range items(f.repeat) {
			n, err := strconv.Atoi(text)
			if text != "auto" && (err != nil || n < 1) {
				return nil, usagef("--repeat %s: neither a number of runs from 1 nor auto", text)
			}
			c.Repeat, c.runs = text, n
			cells = append(cells, c)
		}
	}
	return cells, nil
}

// measure simulates one cell. Simulation i of every cell has the same seed.
func (f *benchProFlags) measure(workers []*landscape, c *proCell) {
	n := f.runs
	if c.Experiment == "simplex" {
		n = min(n, 100) // only the levels of switches and categories are random
	}
	ideal := float64(f.steps) * workers[0].best
	ntt := make([]float64, n)
	var wg sync.WaitGroup
	for w, own := range workers {
		wg.Go(func() {
			for i := w; i < n; i += len(workers) {
				rng := rand.New(rand.NewPCG(f.seed, uint64(i)))
				s := simulation{
					land: own, runs: c.runs, processors: f.processors, steps: f.steps,
					options: search.SimplexOptions{Minimal: c.Simplex == "N+1", Grow: c.Simplex == "grow", Size: c.Size, Seed: rng.Uint64()},
				}
				model := stats.TwoJob{Rho: c.Rho}
				switch {
				case c.table != nil:
					s.noise = c.table.begin(own, f.processors, rng)
				case c.series != nil:
					s.noise = newSeriesNoise(c.series, f.processors, rng)
				case f.correlated > 0:
					s.noise = &correlatedNoise{rng: rng, model: model, alpha: f.alpha, correlation: f.correlated}
				default:
					s.noise = paretoNoise{rng, model, f.alpha}
				}
				ntt[i] = model.NormalizedTotalTime(s.times()) / ideal
			}
		})
	}
	wg.Wait()
	e := stats.MeanInterval(ntt, 0.95)
	c.NTT, c.CI95, c.Median = e.Value, [2]float64{e.Low, e.High}, stats.Median(ntt)
}

// writePro prints the cells as tables, one for each experiment.
func writePro(w io.Writer, cells []proCell) error {
	for len(cells) > 0 {
		c := cells[0]
		n := 1
		for n < len(cells) && cells[n].Experiment == c.Experiment {
			n++
		}
		t := report.NewTable(palette(w), "simplex", ">size r", ">NTT", "95 %")
		if c.Experiment == "repeat" {
			t = report.NewTable(palette(w), "noise", ">ρ", ">K", ">NTT", "95 %", ">median", "")
		}
		for i, c := range cells[:n] {
			ci := fmt.Sprintf("%.3f – %.3f", c.CI95[0], c.CI95[1])
			if c.Experiment == "simplex" {
				t.Add(c.Simplex, fmt.Sprint(c.Size), fmt.Sprintf("%.3f", c.NTT), ci)
				continue
			}
			mark := ""
			if leastOfBlock(cells[:n], i) {
				mark = "least"
			}
			t.Add(c.Noise, fmt.Sprintf("%.3g", c.Rho), c.Repeat, fmt.Sprintf("%.3f", c.NTT), ci, fmt.Sprintf("%.3f", c.Median), mark)
		}
		if err := t.Write(w); err != nil {
			return err
		}
		if cells = cells[n:]; len(cells) > 0 {
			fmt.Fprintln(w)
		}
	}
	return nil
}

// leastOfBlock reports whether cell i has the least NTT of the fixed numbers of
// runs with its noise.
func leastOfBlock(cells []proCell, i int) bool {
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
