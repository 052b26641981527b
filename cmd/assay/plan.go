package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/planreport"
	"github.com/assay-run/assay/internal/traces"
	"github.com/assay-run/assay/workflow"
)

// planFlags are the flags of assay plan.
type planFlags struct {
	slots, levels  string
	simulate, fill bool
	delay, start   time.Duration
	calibrate      []string
	save           string
	price, prices  string
	deadline       time.Duration
	budget         float64
	sites          string
	json           bool
	svg            string
	errorPart      float64
	samples        int
	seed           uint64
	times          []string
	slotTimes      []string
	models         []string // of --sites
	clusters       int
	machines       []string
	longestPath    bool
	ranges         bool // of several recorded executions
	average        bool
}

const planHelp = `Plan says how long a workflow takes on how many slots, and for how much money,
without running it.

WORKFLOW is a file (WfFormat, DAGMan, a trace of Nextflow, a drawn DAG of
Snakemake, a log of Makeflow, or a plain table, as examples/workflow/record
writes of a Makefile; gzip is unpacked), several files of one workflow with commas between
them, a folder of them, or - for standard input. Several workflows are compared.

Without --calibrate and --delay no overhead is assumed: the estimate is what the
run times alone allow. --calibrate takes recorded executions of the same kind of
workflow at the same site, files or folders, or a calibration that was saved,
and predicts with what they took beyond their run times. Slots are then counted
as the executions' cores were.

With a file of sites the plan says for each task at which site it computes, in
which site's storage its data are, and what is copied between sites beforehand,
so that the workflow ends soonest.

With --range or --average the workflows are recorded executions of one
application, files or folders: what each of them predicts for each number of
slots, as parts of its run times, beside what was recorded; or the mean of all
with random errors in the run times (--error), and where more slots save nothing.

A price is money per slot-second (0.001), per slot-hour (0.04/h), or per started
hour of a node (0.34/node-hour,slots=8,start=90).`

const planExample = `  assay plan trace.json --slots 2,4,8 --price 0.0001 --deadline 2h
  assay plan new.json --calibrate runs/ --slots 4..256 --svg curve.svg
  assay plan --average runs/ --error 0.1 --slots 4..256 --svg average.svg`

// planCommand returns assay plan.
func planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:     "plan WORKFLOW...",
		Short:   "say how long a workflow takes on how many slots, and for how much money",
		Long:    planHelp,
		Example: planExample,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runPlan(cmd, args, &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.slots, "slots", "",
		"numbers of slots, `2,4,8` or 4..256 for every doubling; default 1 to the workflow's width")
	fl.StringVar(&f.levels, "levels", "tda,bua", "how to count levels: `tda,bua,slack`")
	fl.BoolVar(&f.simulate, "simulate", false, "simulate a list scheduler too")
	fl.DurationVar(&f.delay, "delay", 0, "delay of each level, 25s in the paper")
	fl.DurationVar(&f.start, "start", 0, "delay of the whole workflow")
	fl.StringSliceVar(&f.calibrate, "calibrate", nil,
		"`RUN`: recorded executions to learn the site's delays from, files, folders, or a saved calibration; "+
			"repeatable")
	fl.StringVar(&f.save, "save-calibration", "", "write the calibration to `FILE`")
	fl.StringVar(&f.price, "price", "", "`PRICE` of the slots; default one unit of money per slot-second")
	fl.StringVar(&f.prices, "prices", "", "`FILE` with a name and a price on each line, to compare")
	fl.DurationVar(&f.deadline, "deadline", 0, "longest makespan allowed")
	fl.Float64Var(&f.budget, "budget", 0, "most `MONEY` to spend")
	fl.StringVar(&f.sites, "sites", "",
		"`FILE` of sites to plan over, YAML: slots, storage, links (docs/format/sites.md); or to compare, "+
			"JSON: name, price, delays, speed, machines")
	fl.BoolVar(&f.json, "json", false, "one JSON object on standard output")
	fl.StringVar(&f.svg, "svg", "", "draw makespan against slots into `FILE`")
	fl.Float64Var(&f.errorPart, "error", 0, "relative error of the run times, for intervals: 0.1 is ±10 %")
	fl.IntVar(&f.samples, "samples", 100, "random sets of run times for --error")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of the random run times")
	fl.StringSliceVar(&f.models, "model", nil,
		"`KIND=FILE`: take the times of the tasks of a kind from a model of assay learn, with --sites")
	fl.StringSliceVar(&f.times, "times-from", nil,
		"`RUN`: take run times from lines fitted over the input sizes of these executions' tasks")
	fl.StringSliceVar(&f.slotTimes, "slot-times", nil,
		"`RUN`: learn from these executions on different numbers of slots how run times change with them")
	fl.BoolVar(&f.fill, "fill", false, "fill missing run times from the median of their kind")
	fl.IntVar(&f.clusters, "clusters", 0, "gather the tasks of a level into this many jobs of each kind first")
	fl.StringArrayVar(&f.machines, "machines", nil, "`COUNTxCORES[:MEMORY]` for the simulation, 4x8:32GB; repeatable")
	fl.BoolVar(&f.ranges, "range", false, "the range of what recorded executions predict, beside what was recorded")
	fl.BoolVar(&f.average, "average", false, "the mean of what recorded executions predict, with --error")
	fl.BoolVar(&f.longestPath, "longest-path", false, "simulate a scheduler that starts the longest chains first")
	return cmd
}

// inputError is bad input of a command: exit code 2.
func inputError(err error) error {
	return usageError(err)
}

func runPlan(cmd *cobra.Command, args []string, f *planFlags) error {
	if len(f.models) > 0 && !isNetwork(f.sites) {
		return usagef("--model needs --sites with a file of sites: their speeds, links and disks")
	}
	if isNetwork(f.sites) {
		return runPlanSites(cmd, args, f)
	}
	if f.ranges || f.average {
		return runPlanRuns(cmd, args, f)
	}
	p, err := newPlanner(cmd.InOrStdin(), f)
	if err != nil {
		return err
	}
	var reports []*planreport.Plan
	for _, arg := range args {
		r, err := p.plan(arg)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	if f.svg != "" {
		if err := writeFile(f.svg, func(w io.Writer) error { return planreport.WriteSVG(w, reports) }); err != nil {
			return err
		}
	}
	if f.json {
		return planreport.WriteJSON(cmd.OutOrStdout(), reports)
	}
	return planreport.WriteText(cmd.OutOrStdout(), reports)
}

// planner holds what all workflows of one command line share.
type planner struct {
	in     io.Reader
	flags  *planFlags
	opt    workflow.PlanOptions
	offers []workflow.Offer
	times  *workflow.KindModel
	slots  []int
}

func newPlanner(in io.Reader, f *planFlags) (*planner, error) {
	p := &planner{in: in, flags: f}
	var err error
	if p.slots, err = workflow.ParseSlots(f.slots); err != nil {
		return nil, usagef("--slots %q: %v", f.slots, err)
	}
	if p.opt.Levelers, err = parseLevelers(f.levels); err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	p.opt.Overhead = workflow.Overhead{Level: f.delay.Seconds(), Start: f.start.Seconds()}
	p.opt.Deadline, p.opt.Budget = f.deadline.Seconds(), f.budget
	p.opt.Vary = workflow.VaryOptions{Error: f.errorPart, Samples: f.samples, Seed: f.seed}
	p.opt.Simulate = f.simulate || len(f.machines) > 0 || f.longestPath
	if f.longestPath {
		p.opt.Sim.Policy = workflow.LongestPath
	}
	if p.opt.Sim.Machines, err = workflow.ParseMachines(f.machines); err != nil {
		return nil, usagef("--machines %v", err)
	}
	if p.offers, err = f.offers(); err != nil {
		return nil, inputError(err)
	}
	if p.times, err = f.kindTimes(); err != nil {
		return nil, inputError(err)
	}
	if len(f.slotTimes) > 0 {
		if p.opt.SlotTimes, err = traces.SlotTimes(f.slotTimes); err != nil {
			return nil, inputError(err)
		}
	}
	return p, p.calibrate()
}

// calibrate reads or fits the calibration, and saves it.
func (p *planner) calibrate() (err error) {
	if len(p.flags.calibrate) > 0 {
		if p.opt.Calibration, err = traces.Calibration(p.flags.calibrate); err != nil {
			return inputError(err)
		}
	}
	switch {
	case p.flags.save == "":
		return nil
	case p.opt.Calibration == nil:
		return usagef("--save-calibration without --calibrate")
	}
	return writeFile(p.flags.save, p.opt.Calibration.Write)
}

// offers returns what the flags name to compare, one without a name if they name
// nothing.
func (f *planFlags) offers() ([]workflow.Offer, error) {
	name := f.sites
	if name == "" {
		name = f.prices
	}
	if name == "" {
		return workflow.OneOffer(f.price)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if f.sites != "" {
		return workflow.ReadOffers(name, data, f.price)
	}
	return workflow.ReadPrices(name, data)
}

// kindTimes returns the run times of --times-from, nil if there are none.
func (f *planFlags) kindTimes() (*workflow.KindModel, error) {
	if len(f.times) == 0 {
		return nil, nil
	}
	return traces.KindTimes(f.times)
}

// parseLevelers reads --levels.
func parseLevelers(s string) ([]workflow.NamedLeveler, error) {
	l, err := workflow.ParseLevelers(s)
	if err != nil {
		return nil, usagef("--levels %v", err)
	}
	return l, nil
}

// check returns what is wrong with a number on the command line.
func (f *planFlags) check() error {
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{{"delay", f.delay}, {"start", f.start}, {"deadline", f.deadline}} {
		if d.value < 0 {
			return usagef("--%s %s: it is negative", d.flag, d.value)
		}
	}
	switch {
	case !(f.budget >= 0):
		return usagef("--budget %g: not a sum of at least 0", f.budget)
	case !(f.errorPart >= 0 && f.errorPart < 1):
		return usagef("--error %g: not a number from 0, below 1", f.errorPart)
	case f.samples < 1:
		return usagef("--samples %d: at least 1", f.samples)
	case f.clusters < 0:
		return usagef("--clusters %d: at least 1", f.clusters)
	}
	return nil
}

// refine makes a workflow that was read what is planned, with the run times of
// --times-from and the jobs of --clusters. The notes say what is odd about it.
func (f *planFlags) refine(w *workflow.Workflow, times *workflow.KindModel) (_ *workflow.Workflow, notes []string,
	err error,
) {
	notes = append(notes, w.Warnings...)
	if times != nil {
		var n int
		if w, n = workflow.Predicted(w, times, nil); n < len(w.Tasks) {
			notes = append(notes, fmt.Sprintf("%d of %d tasks are of a kind that --times-from does not know",
				len(w.Tasks)-n, len(w.Tasks)))
		}
	}
	if err := w.Check(); err != nil {
		return nil, nil, inputError(err)
	}
	if f.clusters > 0 {
		w, err = workflow.Cluster(w, workflow.TopDown{}, f.clusters)
	}
	return w, notes, err
}

// plan plans one workflow under every offer.
func (p *planner) plan(arg string) (*planreport.Plan, error) {
	w, err := traces.Read(arg, p.in, workflow.FillOptions{Fill: p.flags.fill, Allow: p.times != nil})
	if err != nil {
		return nil, inputError(err)
	}
	r := &planreport.Plan{
		Options: p.opt, Offers: p.offers, Priced: p.flags.price != "" || p.flags.prices != "" || p.flags.sites != "",
	}
	if w.Filled > 0 {
		r.Note("%d of %d run times were missing and are their kind's median", w.Filled, len(w.Tasks))
	}
	w, notes, err := p.flags.refine(w, p.times)
	if err != nil {
		return nil, err
	}
	r.Workflow, r.Notes = w, append(r.Notes, notes...)
	if r.Options.Slots = p.slots; r.Options.Slots == nil {
		r.Options.Slots = workflow.DefaultSlots(w)
	}
	if err := calibrated(r); err != nil {
		return nil, err
	}
	if r.Comparison, err = workflow.Compare(w, r.Offers, r.Options); err != nil {
		return nil, inputError(err)
	}
	r.NoteSimulation()
	return r, nil
}

// calibrated predicts the recorded execution, and says what is assumed.
func calibrated(r *planreport.Plan) error {
	c := r.Options.Calibration
	if c == nil {
		if r.Options.Overhead == (workflow.Overhead{}) {
			r.Note("no overhead is assumed: the site's delays are not known (--calibrate, --delay)")
		}
		return nil
	}
	s, err := c.Predict(r.Workflow, workflow.TopDown{}, 0)
	if err != nil {
		return err
	}
	r.Recorded = &s
	if c.Configs == 1 {
		r.Note("calibrated from one configuration only: intervals are a guess")
	}
	return nil
}

// writeFile writes a file with f.
func writeFile(name string, f func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return mistaken(err)
	}
	w := bufio.NewWriter(file)
	return errors.Join(f(w), w.Flush(), file.Close())
}
