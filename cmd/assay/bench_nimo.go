package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/stats"
)

type benchNimoFlags struct {
	experiment string
	data       string
	tables     string
	seeds      int
	jobs       int
	seed       uint64
	json       bool
}

func benchNimoCommand(s streams) *cobra.Command {
	f := &benchNimoFlags{}
	cmd := &cobra.Command{
		Use:   "nimo [--experiment LIST] [--data DIR]",
		Short: "the experiments of Shivam, Babu and Chase 2006: learning cost models actively",
		Long: `nimo learns cost models of programs and reports their error (MAPE) on assignments
that are not learned from, against the time that the runs have taken.

On a simulated workbench of 150 assignments, with 30 more or less random ones as
external test set, the alternatives of Table 1 one at a time:

  reference    min, max, rand (Fig. 4)
  predictors   round-robin, improvement-based, dynamic (Fig. 5)
  attributes   by relevance, by a wrong static order (Fig. 6)
  samples      Lmax-I1, L2-I2, Lmax-Imax, Lmax-I2 (Fig. 7)
  error        cross-validation, random set, designed set (Fig. 8)
  regression   auto with several kinds of predictor functions
  table2       the four programs, until the estimated error is below 10 %: auto, the
               paper's defaults, and all at once (Table 2)

With --data, on recorded tables in DIR (c3o, scout-aws, lotaru, perfevo-brotli):
auto against random sampling with the same regression at equal time spent.`,
		Example: `  assay bench nimo
  assay bench nimo --experiment table2 --seeds 20`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.experiment, "experiment", "reference,predictors,attributes,samples,error,regression,table2", "which")
	fl.StringVar(&f.data, "data", "", "recorded tables in `DIR`, in place of the simulated workbench")
	fl.StringVar(&f.tables, "tables", "c3o,scout-aws,lotaru,perfevo-brotli", "which of the recorded tables")
	fl.IntVar(&f.seeds, "seeds", 10, "repetitions, each with noise and a test set of its own")
	fl.Uint64Var(&f.seed, "seed", 1, "first seed")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.NumCPU(), "repetitions at once")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *benchNimoFlags) run(ctx context.Context, s streams) error {
	if f.seeds < 1 || f.jobs < 1 {
		return usagef("--seeds and --jobs are at least 1")
	}
	if f.data != "" {
		return f.runTables(ctx, s)
	}
	var cells []nimoCell
	status := newStatus(s.err)
	defer status.Close()
	for name := range items(f.experiment) {
		es, err := nimoExperiment(name)
		if err != nil {
			return err
		}
		for _, e := range es {
			status.Set(fmt.Sprintf("%s: %s, %s", name, e.program.name, e.method))
			c, err := f.measure(ctx, e)
			if err != nil {
				return err
			}
			cells = append(cells, c)
		}
	}
	status.Close()
	if f.json {
		return writeJSON(s.out, cells)
	}
	return writeNimo(s.out, cells)
}

// A nimoEntry is one program learned in one way.
type nimoEntry struct {
	experiment string
	program    nimoProgram
	method     string
	options    costmodel.Options
	everything bool // run all assignments, then fit
}

// A nimoCell is one row of the result: a contract. Times are in minutes, errors
// in percent, both medians over the repetitions.
type nimoCell struct {
	Experiment string `json:"experiment"`
	Program    string `json:"program"`
	Method     string `json:"method"`
	// Errors are the MAPE on the external test set after the runs of so many
	// minutes, at Minutes; null before there is a model.
	Minutes []float64  `json:"minutes"`
	Errors  []*float64 `json:"errors"`
	// To10 is when the error first falls to 10 %; null if it does not in half of
	// the repetitions or more. WithoutScreening leaves out the runs that only
	// order predictors and attributes, or test.
	To10             *float64 `json:"minutes_to_10"`
	WithoutScreening *float64 `json:"minutes_to_10_without_screening"`
	Runs10           *float64 `json:"runs_to_10"`
	Final            float64  `json:"final_error"`
	FinalMinutes     float64  `json:"final_minutes"`
	FinalRuns        float64  `json:"final_runs"`
}

// nimoGrid are the minutes at which curves are printed.
var nimoGrid = []float64{60, 120, 240, 360, 480, 600, 720, 960, 1200, 1500, 2000}

// nimoExperiment returns the entries of one experiment. In each, the alternatives
// of one step of Algorithm 1 are compared on BLAST with the defaults for all others.
func nimoExperiment(name string) ([]nimoEntry, error) {
	blast := nimoPrograms()[0]
	var es []nimoEntry
	add := func(method string, p costmodel.Published) {
		es = append(es, nimoEntry{experiment: name, program: blast, method: method, options: costmodel.Options{Published: &p}})
	}
	static := []costmodel.Part{costmodel.Disk, costmodel.Compute, costmodel.Network}
	switch name {
	case "reference":
		add("Min", costmodel.Published{})
		add("Max", costmodel.Published{Reference: costmodel.Max})
		add("Rand", costmodel.Published{Reference: costmodel.Rand})
	case "predictors":
		add("round-robin, f_d f_a f_n", costmodel.Published{Predictors: static})
		add("improvement, f_d f_a f_n", costmodel.Published{Predictors: static, Traversal: costmodel.Improvement})
		add("improvement, by relevance", costmodel.Published{Traversal: costmodel.Improvement})
		add("dynamic", costmodel.Published{Traversal: costmodel.Dynamic})
	case "attributes":
		add("by relevance", costmodel.Published{})
		add("wrong static order", costmodel.Published{Attributes: map[costmodel.Part][]string{
			costmodel.Compute: {"rtt", "memory", "cpu"}, costmodel.Network: {"cpu", "memory", "rtt"}, costmodel.Disk: {"cpu", "memory", "rtt"},
		}})
	case "samples":
		add("Lmax-I1", costmodel.Published{})
		add("L2-I2", costmodel.Published{Design: costmodel.L2I2})
		add("Lmax-Imax", costmodel.Published{Design: costmodel.LMaxIMax})
		add("Lmax-I2 (ours)", costmodel.Published{Design: costmodel.LMaxI2})
	case "error":
		for _, e := range []costmodel.ErrorEstimate{costmodel.CrossValidation, costmodel.RandomSet, costmodel.DesignedSet} {
			add(e.String(), costmodel.Published{Error: e, Traversal: costmodel.Dynamic})
		}
	case "table2":
		for _, p := range nimoPrograms() {
			es = append(es,
				nimoEntry{experiment: name, program: p, method: "auto", options: costmodel.Options{Target: 10}},
				nimoEntry{experiment: name, program: p, method: "defaults", options: costmodel.Options{Target: 10, Published: &costmodel.Published{}}},
				nimoEntry{experiment: name, program: p, method: "all at once", everything: true})
		}
	case "regression":
		for _, r := range []costmodel.Regression{costmodel.Best, costmodel.Smooth, costmodel.Pairs, costmodel.Linear} {
			es = append(es, nimoEntry{experiment: name, program: blast, method: "auto, " + r.String(), options: costmodel.Options{Regression: r}})
		}
	default:
		return nil, usagef("no experiment %q (there are reference, predictors, attributes, samples, error, regression, table2)", name)
	}
	for i := range es {
		if pub := es[i].options.Published; pub != nil {
			pub.KnownDataFlow = true // §4.1
		}
	}
	return es, nil
}

// A nimoPoint is the state of learning after a run.
type nimoPoint struct {
	minutes  float64 // of all runs
	training float64 // of those that the model is fitted to
	runs     int
	error    float64 // on the external test set, percent; NaN without a model
}

// nimoCurve runs a learner to its end and returns a point after every run. It
// fits no model while the learner's own is not wanted, so a run costs what the
// learner costs plus the predictions of the test set.
func nimoCurve(l *costmodel.ActiveLearner, most int, run func(assay.Config) (assay.Measurement, bool), test []assay.Config, truth []float64) ([]nimoPoint, error) {
	var curve []nimoPoint
	var training float64
	runs := 0
	for len(curve) < most {
		ps, err := l.Ask(1)
		if errors.Is(err, assay.ErrDone) {
			break
		}
		if err != nil {
			return nil, err
		}
		m, ok := run(ps[0].Config)
		t := assay.Trial{Proposal: ps[0], State: assay.Done, Measurement: m, Value: m.Elapsed.Seconds()}
		if !ok {
			t.State, t.Value = assay.Failed, math.Inf(1)
		}
		if err := l.Tell(t); err != nil {
			return nil, err
		}
		step := l.Progress()[len(l.Progress())-1]
		if step.Runs > runs {
			training += m.Elapsed.Minutes()
			runs = step.Runs
		}
		p := nimoPoint{minutes: step.Spent / 60, training: training, runs: step.Runs, error: math.NaN()}
		if model, err := l.Model(); err == nil {
			p.error = nimoError(model, test, truth)
		}
		curve = append(curve, p)
	}
	return curve, nil
}

func nimoError(m *costmodel.Model, test []assay.Config, truth []float64) float64 {
	predicted := make([]float64, len(test))
	for i, c := range test {
		predicted[i] = m.Predict(c).Seconds
	}
	return stats.MAPE(truth, predicted)
}

// measure repeats one entry. Repetition i of every entry has the same noise and
// the same test set, whose noise-free times are compared with the predictions.
func (f *benchNimoFlags) measure(ctx context.Context, e nimoEntry) (nimoCell, error) {
	curves := make([][]nimoPoint, f.seeds)
	errs := make([]error, f.seeds)
	var wg sync.WaitGroup
	for w := range f.jobs {
		wg.Go(func() {
			for i := w; i < f.seeds && ctx.Err() == nil; i += f.jobs {
				curves[i], errs[i] = e.curve(f.seed + uint64(i))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return nimoCell{}, err
	}
	return e.summarize(curves), nil
}

// curve learns once.
func (e nimoEntry) curve(seed uint64) ([]nimoPoint, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	all := e.program.space()
	test := externalTestSet(all, rng)
	truth := make([]float64, len(test))
	for i, c := range test {
		m, _ := e.program.run(all, c, nil)
		truth[i] = m.Elapsed.Seconds()
	}
	space, err := without(all, test)
	if err != nil {
		return nil, err
	}
	run := func(c assay.Config) (assay.Measurement, bool) { return e.program.run(space, c, rng) }
	if e.everything {
		var runs []costmodel.Run
		var minutes float64
		for c := range space.All() {
			m, _ := run(c)
			r, err := costmodel.Profile(c, m, 0)
			if err != nil {
				return nil, err
			}
			runs = append(runs, r)
			minutes += r.Seconds / 60
		}
		model, err := costmodel.Fit(space, runs, nil, costmodel.Linear)
		if err != nil {
			return nil, err
		}
		return []nimoPoint{{minutes, minutes, len(runs), nimoError(model, test, truth)}}, nil
	}
	o := e.options
	o.Seed = seed
	if o.Published == nil {
		return nimoCurve(costmodel.NewActiveLearner(space, o), 30, run, test, truth)
	}
	return nimoCurve(costmodel.NewActiveLearner(space, o), 60, run, test, truth)
}

// externalTestSet draws 30 assignments at random, or a third of them, that are
// never run. Corners and what differs from the corner of the least or the highest
// capacity in one attribute are not among them, so that every design can be run.
func externalTestSet(space *assay.Space, rng *rand.Rand) []assay.Config {
	var test []assay.Config
	n := space.Size().N
	for _, i := range rng.Perm(int(n)) {
		c := space.At(int64(i))
		inside := 0
		for k, p := range space.Params {
			if c[k] > 0 && c[k] < float64(len(p.Levels)-1) {
				inside++
			}
		}
		if inside >= 2 && len(test) < min(30, int(n)/4) {
			test = append(test, c)
		}
	}
	return test
}

// without returns the space less some configurations.
func without(space *assay.Space, test []assay.Config) (*assay.Space, error) {
	held := map[string]bool{}
	for _, c := range test {
		held[c.Key()] = true
	}
	params := make([]int, space.Dim())
	for i := range params {
		params[i] = i
	}
	return assay.NewSpace(space.Params, assay.Relation{
		Text: "not in the external test set", Params: params,
		Holds: func(c assay.Config) bool { return !held[c.Key()] },
	})
}

// nimoAt returns the error of a curve after so many minutes.
func nimoAt(curve []nimoPoint, minutes float64) float64 {
	e := math.NaN()
	for _, p := range curve {
		if p.minutes > minutes {
			break
		}
		e = p.error
	}
	return e
}

// nimoReaches returns the first point with an error of so many percent at most,
// nil if there is none.
func nimoReaches(curve []nimoPoint, percent float64) *nimoPoint {
	for i := range curve {
		if curve[i].error <= percent {
			return &curve[i]
		}
	}
	return nil
}

func (e nimoEntry) summarize(curves [][]nimoPoint) nimoCell {
	c := nimoCell{Experiment: e.experiment, Program: e.program.name, Method: e.method, Minutes: nimoGrid}
	for _, minutes := range nimoGrid {
		var errs []float64
		for _, curve := range curves {
			if x := nimoAt(curve, minutes); !math.IsNaN(x) {
				errs = append(errs, x)
			}
		}
		c.Errors = append(c.Errors, medianOf(errs, len(curves)))
	}
	var to, without, runs []float64
	var final, minutes, count []float64
	for _, curve := range curves {
		if p := nimoReaches(curve, 10); p != nil {
			to, without, runs = append(to, p.minutes), append(without, p.training), append(runs, float64(p.runs))
		}
		last := curve[len(curve)-1]
		final, minutes, count = append(final, last.error), append(minutes, last.minutes), append(count, float64(last.runs))
	}
	c.To10, c.WithoutScreening, c.Runs10 = medianOf(to, len(curves)), medianOf(without, len(curves)), medianOf(runs, len(curves))
	c.Final, c.FinalMinutes, c.FinalRuns = stats.Median(final), stats.Median(minutes), stats.Median(count)
	return c
}

// medianOf returns the median of n values of which those that are missing are
// infinite, nil if it is.
func medianOf(x []float64, n int) *float64 {
	x = append(slices.Clone(x), slices.Repeat([]float64{math.Inf(1)}, n-len(x))...)
	m := stats.Median(x)
	if math.IsInf(m, 0) || math.IsNaN(m) {
		return nil
	}
	return &m
}

// writeNimo prints a table for each experiment.
func writeNimo(w io.Writer, cells []nimoCell) error {
	for len(cells) > 0 {
		n := 1
		for n < len(cells) && cells[n].Experiment == cells[0].Experiment {
			n++
		}
		titles := []string{"program", cells[0].Experiment}
		for _, m := range nimoGrid {
			titles = append(titles, ">"+fmt.Sprint(m))
		}
		t := report.NewTable(palette(w), append(titles, ">min to 10 %", ">runs", ">of training", ">final", ">min", ">runs")...)
		for _, c := range cells[:n] {
			row := []string{c.Program, c.Method}
			for _, e := range c.Errors {
				row = append(row, cellText(e, "%.1f"))
			}
			t.Add(append(row, cellText(c.To10, "%.0f"), cellText(c.Runs10, "%.0f"), cellText(c.WithoutScreening, "%.0f"),
				fmt.Sprintf("%.1f", c.Final), fmt.Sprintf("%.0f", c.FinalMinutes), fmt.Sprintf("%.0f", c.FinalRuns))...)
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

func cellText(x *float64, format string) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf(format, *x)
}
