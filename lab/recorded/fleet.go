package recorded

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/study"
)

// A Fleet is a set of machines on which the same configurations were recorded, by class. Answers are
// judged on the first machine of the first class.
type Fleet struct {
	Name    string
	Classes [][]Machine
}

// A Machine is a worker with the table of its runs.
type Machine struct {
	Name   string
	Table  *table.Table
	Slower float64 // its times are this multiple of the recorded ones; 0 means 1
}

// An Arm is one way to use a fleet.
type Arm struct {
	Name, Summary string
	alone         bool // all runs are made by the first machine
	share         bool // and of these only as many as it would make of the fleet's
	blind         bool // runs name no worker: nothing is corrected
	anywhere      bool // the five best are run again on the first class
}

// Arms returns the ways to use a fleet. The arm "raw" shows the value of the worker as a factor.
func Arms() []Arm {
	return []Arm{
		{Name: "target", Summary: "all runs on the target machine", alone: true},
		{Name: "share", Summary: "only the runs that the target machine would make", alone: true, share: true},
		{Name: "raw", Summary: "all machines, values as they are: the control", blind: true},
		{Name: "factor", Summary: "all machines, the worker as a factor"},
		{Name: "any", Summary: "the same, and five of the best again on the target class", anywhere: true},
	}
}

// FleetOptions select the comparison. All are required unless stated.
type FleetOptions struct {
	Fleets   []Fleet
	Space    *assay.Space
	Goal     assay.Goal
	Grows    func(metric string) bool
	Methods  []bench.Method // their stopping rules are not used: each run is made to its end
	Trials   int
	Seeds    int
	Workers  int  // runs at once; 0 means 1
	Race     bool // optional: as in a study of a command, five pairs of runs and a race end each
	Progress func(done, total int)
}

// A FleetReport is the output of `assay-lab fleet --json`.
type FleetReport struct {
	Target string     `json:"target"`
	Trials int        `json:"trials"`
	Seeds  int        `json:"seeds"`
	Race   bool       `json:"race"`
	Rows   []FleetRow `json:"rows"`
}

// A FleetRow is one method in one arm on one fleet. Errors are of the configuration that is recommended,
// on the target machine, relative to the best that was recorded there: of geometric means over seeds.
type FleetRow struct {
	Fleet  string     `json:"fleet"`
	Method string     `json:"method"`
	Arm    string     `json:"arm"`
	RE     float64    `json:"re"`
	CI95   [2]float64 `json:"re_ci95"`
	// Behind is the excess of the error over the error of the arm "target" with the same method and seeds.
	Behind     float64    `json:"behind"`
	BehindCI95 [2]float64 `json:"behind_ci95"`
	Runs       float64    `json:"runs_mean"`
}

// RunFleet plays every arm of every fleet with every method and seed. Each run is made by a machine drawn
// at random. An error of any run ends it.
func RunFleet(ctx context.Context, o FleetOptions) (FleetReport, error) {
	arms := Arms()
	r := FleetReport{Trials: o.Trials, Seeds: o.Seeds, Race: o.Race}
	type cell struct{ fleet, method, arm int }
	var cells []cell
	for f := range o.Fleets {
		r.Target = o.Fleets[f].Classes[0][0].Name
		for m := range o.Methods {
			for a := range arms {
				cells = append(cells, cell{f, m, a})
			}
		}
	}
	logs, runs := make([][]float64, len(cells)), make([]float64, len(cells))
	counts := make([][]int, len(cells))
	for i := range cells {
		logs[i], counts[i] = make([]float64, o.Seeds), make([]int, o.Seeds)
	}
	pool := bench.Pool{Workers: o.Workers, Progress: o.Progress}
	err := pool.Each(ctx, len(cells)*o.Seeds, func(ctx context.Context, _, i int) (err error) {
		c, seed := cells[i/o.Seeds], i%o.Seeds
		f, m := &o.Fleets[c.fleet], &o.Methods[c.method]
		logs[i/o.Seeds][seed], counts[i/o.Seeds][seed], err = o.one(ctx, f, m, arms[c.arm], uint64(seed+1))
		if err != nil {
			return fmt.Errorf("%s on %s, %s, seed %d: %w", m.Name, f.Name, arms[c.arm].Name, seed+1, err)
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	for i, c := range cells {
		for _, n := range counts[i] {
			runs[i] += float64(n) / float64(o.Seeds)
		}
		base := logs[i-c.arm]
		behind := make([]float64, o.Seeds)
		for s := range behind {
			behind[s] = math.Exp(logs[i][s]) - math.Exp(base[s])
		}
		in := bench.Interval(logs[i])
		r.Rows = append(r.Rows, FleetRow{
			Fleet: o.Fleets[c.fleet].Name, Method: o.Methods[c.method].Name, Arm: arms[c.arm].Name,
			RE: math.Expm1(stats.Mean(logs[i])), CI95: [2]float64{math.Expm1(in[0]), math.Expm1(in[1])},
			Behind:     math.Expm1(stats.Mean(logs[i])) - math.Expm1(stats.Mean(base)),
			BehindCI95: bench.Interval(behind), Runs: runs[i],
		})
	}
	return r, nil
}

// one plays one study and returns the logarithm of the value it recommends, relative to the best
// possible, and the number of runs.
func (o *FleetOptions) one(ctx context.Context, f *Fleet, m *bench.Method, arm Arm, seed uint64) (float64, int, error) {
	clock := &table.SimClock{}
	target := &f.Classes[0][0]
	p, err := bench.Recorded(f.Name, target.Table, o.Space, o.Goal, 0, o.Grows)
	if err != nil {
		return 0, 0, err
	}
	trials, machines := o.Trials, 0
	r := &drawn{seed: seed, blind: arm.blind}
	for k, class := range f.Classes {
		for _, m := range class {
			machines++
			if arm.alone && machines > 1 {
				continue
			}
			r.machines = append(r.machines, machine{
				m.Name, fmt.Sprintf("class%d", k+1),
				bench.Shuffled(table.NewReplay(m.Table, clock, o.Grows), seed),
				cmp.Or(m.Slower, 1),
			})
		}
	}
	if arm.share {
		trials = max(1, trials/machines)
	}
	q := *p
	q.ByTrials = true
	searcher, _, err := m.New(&q, seed)
	if err != nil {
		return 0, 0, err
	}
	c := bench.Cell{
		Space: o.Space, Goal: o.Goal, Searcher: searcher, Runner: r, Clock: clock,
		Budget: study.Budget{Trials: trials}, Anywhere: arm.anywhere, Class: "class1", Race: arm.anywhere,
	}
	if o.Race {
		c.Race, c.Check = true, fleetCheck
	}
	res, err := c.Run(ctx)
	if err != nil {
		return 0, 0, err
	}
	best := res.Best
	if !res.Found {
		best = assay.Trial{}
	}
	return math.Log1p(errorOf(p, best)), len(res.Trials) + len(res.Races) + len(res.Checks), nil
}

// fleetCheck is how often the best and the first are compared with FleetOptions.Race, as by assay tune.
const fleetCheck = 5

// drawn is a Runner each of whose runs is made by a machine drawn at random, the same one for the same run
// and seed.
type drawn struct {
	seed     uint64
	blind    bool
	machines []machine
	class    string // that further runs are held to, or ""
}

type machine struct {
	name, class string
	runner      assay.Runner
	slower      float64
}

var _ study.Placer = (*drawn)(nil)

// Place implements [study.Placer].
func (d *drawn) Place(class string) { d.class = class }

// Run implements [assay.Runner].
func (d *drawn) Run(ctx context.Context, job assay.Job, see func(assay.Measurement)) (assay.Measurement, error) {
	var there []machine
	for _, m := range d.machines {
		if d.class == "" || d.class == m.class {
			there = append(there, m)
		}
	}
	rng := rand.New(rand.NewPCG(d.seed, uint64(job.ID.Trial)<<16+uint64(job.ID.Repeat)))
	m := there[rng.IntN(len(there))]
	got, err := m.runner.Run(ctx, job, see)
	if m.slower != 1 {
		got.Elapsed = time.Duration(float64(got.Elapsed) * m.slower)
		got.Metrics = maps.Clone(got.Metrics)
		if x, ok := got.Metrics["elapsed"]; ok {
			got.Metrics["elapsed"] = x * m.slower
		}
	}
	if !d.blind {
		got.Worker, got.MachineClass = m.name, m.class
	}
	return got, err
}

// Write writes the report as a table for people.
func (r FleetReport) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "fleet", "method", "arm", ">error %", "95 %", ">more than target", "95 %", ">runs")
	for _, row := range r.Rows {
		t.Add(row.Fleet, row.Method, row.Arm, percent(row.RE), percent(row.CI95[0])+" – "+percent(row.CI95[1]),
			percent(row.Behind), percent(row.BehindCI95[0])+" – "+percent(row.BehindCI95[1]),
			fmt.Sprintf("%.1f", row.Runs))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d trials, %d seeds; errors are on %s, relative to the best recorded there\n",
		r.Trials, r.Seeds, r.Target)
	return err
}
