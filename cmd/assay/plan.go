package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/planning"
	"github.com/assay-run/assay/internal/workflow/request"
)

// planFlags are the flags of assay plan.
type planFlags struct {
	planning.Options
	save    string
	json    bool
	svg     string
	models  []string // of --sites
	ranges  bool     // of several recorded executions
	average bool
	write   string  // requests, in a format
	assume  string  // memory, where the request was not recorded
	fails   float64 // share of tasks that may fail
}

const planHelp = `plan estimates the time and cost of a workflow for each number of slots, without
running it.

WORKFLOW is a file (WfFormat, DAGMan, a trace of Nextflow, a drawn DAG of
Snakemake, a log of Makeflow, or a plain table, as examples/workflow/record
writes of a Makefile; gzip is unpacked), several files of one workflow with commas between
them, a folder of them, or - for standard input. Several workflows are compared.

Without --calibrate and --delay no overhead is assumed: the estimate follows from
the run times alone. --calibrate takes recorded executions of the same kind of
workflow at the same site, files or folders, or a saved calibration, and adds
their overhead beyond the run times. Slots are then counted as the executions'
cores were.

With a file of sites the plan gives for each task the site that computes it, the
site that stores its data, and the copies between sites beforehand, so that the
workflow ends soonest.

With --range or --average the workflows are recorded executions of one
application, files or folders. --range shows the prediction of each for each number
of slots, as parts of its run times, beside the record. --average shows the mean of
all with random errors in the run times (--error), and where more slots save nothing.

With --write the workflows are recorded executions of one application, files or
folders. The memory and time to request for each kind of task are fitted to the
recorded use and written for Nextflow, Snakemake or Slurm, with the waste and the
number of failed tasks now and with these requests.

A price is money per slot-second (0.001), per slot-hour (0.04/h), or per started
hour of a node (0.34/node-hour,slots=8,start=90).`

const planExample = `  assay plan trace.json --slots 2,4,8 --price 0.0001 --deadline 2h
  assay plan new.json --calibrate runs/ --slots 4..256 --svg curve.svg
  assay plan --average runs/ --error 0.1 --slots 4..256 --svg average.svg
  assay plan runs/ --write nextflow.config=requests.config`

// planCommand returns assay plan.
func planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:     "plan WORKFLOW...",
		Short:   "estimate the time and cost of a workflow for each number of slots",
		Long:    planHelp,
		Example: planExample,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runPlan(cmd, args, &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Slots, "slots", "",
		"numbers of slots, `2,4,8` or 4..256 for every doubling; default 1 to the workflow's width")
	fl.StringVar(&f.Levels, "levels", "tda,bua", "how to count levels: `tda,bua,slack`")
	fl.BoolVar(&f.Simulate, "simulate", false, "simulate a list scheduler too")
	fl.DurationVar(&f.Delay, "delay", 0, "delay of each level, 25s in the paper")
	fl.DurationVar(&f.Start, "start", 0, "delay of the whole workflow")
	fl.StringSliceVar(&f.Calibrate, "calibrate", nil,
		"`RUN`: recorded executions to learn the site's delays from, files, folders, or a saved calibration; "+
			"repeatable")
	fl.StringVar(&f.save, "save-calibration", "", "write the calibration to `FILE`")
	fl.StringVar(&f.Price, "price", "", "`PRICE` of the slots; default one unit of money per slot-second")
	fl.StringVar(&f.Prices, "prices", "", "`FILE` with a name and a price on each line, to compare")
	fl.DurationVar(&f.Deadline, "deadline", 0, "longest makespan allowed")
	fl.Float64Var(&f.Budget, "budget", 0, "most `MONEY` to spend")
	fl.StringVar(&f.Sites, "sites", "",
		"`FILE` of sites to plan over, YAML: slots, storage, links (docs/format/sites.md); or to compare, "+
			"JSON: name, price, delays, speed, machines")
	fl.BoolVar(&f.json, "json", false, "one JSON object on standard output")
	fl.StringVar(&f.svg, "svg", "", "draw makespan against slots into `FILE`")
	fl.Float64Var(&f.Error, "error", 0, "relative error of the run times, for intervals: 0.1 is ±10 %")
	fl.IntVar(&f.Samples, "samples", 100, "random sets of run times for --error")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of the random run times")
	fl.StringSliceVar(&f.models, "model", nil,
		"`KIND=FILE`: take the times of the tasks of a kind from a model of assay learn, with --sites")
	fl.StringSliceVar(&f.Times, "times-from", nil,
		"`RUN`: take run times from lines fitted over the input sizes of these executions' tasks")
	fl.StringSliceVar(&f.SlotTimes, "slot-times", nil,
		"`RUN`: learn from these executions on different numbers of slots how run times change with them")
	fl.BoolVar(&f.Fill, "fill", false, "fill missing run times from the median of their kind")
	fl.IntVar(&f.Clusters, "clusters", 0, "gather the tasks of a level into this many jobs of each kind first")
	fl.StringArrayVar(&f.Machines, "machines", nil, "`COUNTxCORES[:MEMORY]` for the simulation, 4x8:32GB; repeatable")
	fl.BoolVar(&f.ranges, "range", false, "the range of the predictions from recorded executions, beside the record")
	fl.BoolVar(&f.average, "average", false, "the mean of the predictions from recorded executions, with --error")
	fl.BoolVar(&f.LongestPath, "longest-path", false, "simulate a scheduler that starts the longest chains first")
	fl.StringVar(&f.write, "write", "",
		"requests of memory and time from recorded executions: `KIND`, one of "+planning.RequestFormatNames()+
			", to standard output, or KIND=FILE")
	fl.StringVar(&f.assume, "assume", "8GB", "`MEMORY` asked for now where that is not recorded, with --write")
	fl.Float64Var(&f.fails, "failures", request.DefaultFailures,
		"`SHARE` of tasks whose first attempt may be killed, with --write")
	return cmd
}

func runPlan(cmd *cobra.Command, args []string, f *planFlags) error {
	if f.write != "" {
		return runPlanRequests(cmd, args, f)
	}
	for _, name := range []string{"assume", "failures"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s without --write", name)
		}
	}
	if len(f.models) > 0 && !isNetwork(f.Sites) {
		return usagef("--model needs --sites with a file of sites: their speeds, links and disks")
	}
	if isNetwork(f.Sites) {
		return runPlanSites(cmd, args, f)
	}
	if f.ranges || f.average {
		return runPlanRuns(cmd, args, f)
	}
	p, err := newPlanner(cmd.InOrStdin(), f)
	if err != nil {
		return err
	}
	var reports []*planning.Plan
	for _, arg := range args {
		r, err := p.Plan(arg)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	if f.svg != "" {
		if err := writeFile(f.svg, func(w io.Writer) error { return planning.WriteSVG(w, reports) }); err != nil {
			return err
		}
	}
	if f.json {
		return planning.WriteJSON(cmd.OutOrStdout(), reports)
	}
	return planning.WriteText(cmd.OutOrStdout(), reports)
}

// newPlanner returns the planner of a command line, and saves the calibration.
func newPlanner(in io.Reader, f *planFlags) (*planning.Planner, error) {
	p, err := planning.New(planning.Disk, f.Options)
	if err != nil {
		return nil, err
	}
	p.Stdin = in
	switch c := p.Calibration(); {
	case f.save == "":
		return p, nil
	case c == nil:
		return nil, usagef("--save-calibration without --calibrate")
	default:
		return p, writeFile(f.save, c.Write)
	}
}

// writeFile writes a file with f, as a whole.
func writeFile(name string, f func(io.Writer) error) error {
	return files.Mistaken(files.Write(name, 0o644, f))
}
