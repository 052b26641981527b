package main

import (
	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/planreport"
	"github.com/assay-run/assay/internal/traces"
	"github.com/assay-run/assay/workflow"
)

// runPlanRuns is assay plan --range and --average: what several recorded executions
// say together (Fig. 3 and Fig. 4 of Pietri et al.).
func runPlanRuns(cmd *cobra.Command, args []string, f *planFlags) error {
	if !cmd.Flags().Changed("levels") {
		f.levels = "tda"
	}
	p, err := newPlanner(cmd.InOrStdin(), f)
	if err != nil {
		return err
	}
	switch {
	case f.ranges && f.average:
		return usagef("--range with --average: one of them")
	case len(p.opt.Levelers) != 1:
		return usagef("--levels %s: one way to count levels at a time", f.levels)
	}
	r := &planreport.Runs{Method: p.opt.Levelers[0].Name}
	if r.Runs, err = traces.Executions(args); err != nil {
		return inputError(err)
	}
	if p.slots == nil {
		for _, w := range r.Runs {
			p.slots = append(p.slots, workflow.DefaultSlots(w)...)
		}
	}
	if err := p.several(r); err != nil {
		return inputError(err)
	}
	if f.svg != "" {
		if err := writeFile(f.svg, r.WriteSVG); err != nil {
			return err
		}
	}
	if f.json {
		return r.WriteJSON(cmd.OutOrStdout())
	}
	return r.WriteText(cmd.OutOrStdout())
}

// several predicts from each execution of r.
func (p *planner) several(r *planreport.Runs) (err error) {
	l := p.opt.Levelers[0].Leveler
	if p.flags.ranges {
		model := workflow.ByLevels(l, p.opt.Overhead)
		if p.opt.Calibration != nil {
			model = p.opt.Calibration.Estimator(l)
		}
		r.Ranges, err = workflow.Range(r.Runs, p.slots, model)
		return err
	}
	slots, vary := workflow.RunSlots(r.Runs, p.slots), p.opt.Vary
	if r.Error = vary.Error; r.Error == 0 {
		vary.Samples = 1 // all would be the same
	}
	if c := p.opt.Calibration; c != nil {
		r.Average, err = c.Average(r.Runs, l, slots, vary)
		return err
	}
	r.Average, err = workflow.Average(r.Runs, l, p.opt.Overhead, slots, vary)
	return err
}
