package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/workflow"
)

// benchWorkflowCommand returns assay bench workflow.
func benchWorkflowCommand() *cobra.Command {
	var asJSON, table1 bool
	var hold string
	cmd := &cobra.Command{
		Use:   "workflow DIR...",
		Short: "predict recorded executions from each other, and say how far off it is",
		Long: `Each execution in the folders is predicted from its own run times and the
calibration of the others: those of its application and site; if there are none,
those of its application elsewhere and of its site; if there are none either,
with the delay that the paper found. --hold config leaves out the repetitions
of an execution too. Executions on grids are reported apart.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			holds := map[string][]workflow.HoldOut{"execution": {workflow.HoldExecution}, "config": {workflow.HoldConfig}, "both": {workflow.HoldExecution, workflow.HoldConfig}}[hold]
			if holds == nil {
				return usagef("--hold %q: want execution, config or both", hold)
			}
			runs, skipped, err := readRecorded(args)
			if err != nil {
				return err
			}
			var all []*benchReport
			for _, h := range holds {
				r, err := benchWorkflows(runs, h)
				if err != nil {
					return inputError(err)
				}
				r.Skipped = skipped
				if table1 {
					r.Table1 = tableOne(runs)
				}
				all = append(all, r)
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", " ")
				if len(all) == 1 {
					return enc.Encode(all[0])
				}
				return enc.Encode(all)
			}
			return writeBenchText(cmd.OutOrStdout(), all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	cmd.Flags().StringVar(&hold, "hold", "both", "what a prediction may not see: the `execution` itself, its config too, or both, one after the other")
	cmd.Flags().BoolVar(&table1, "table1", false, "Table I of the paper too: the share within 10, 15 and 20 % with random errors of 5, 10 and 15 % in the run times")
	return cmd
}

// benchReport is the result of one protocol.
type benchReport struct {
	Hold    string       `json:"hold"` // execution or config
	All     benchRow     `json:"all"`  // without grids
	Grids   *benchRow    `json:"grids,omitempty"`
	Apps    []benchRow   `json:"apps"`
	Runs    []benchRun   `json:"runs"`
	Table1  []tableEntry `json:"table1,omitempty"`
	Skipped int          `json:"skipped"` // files without a recorded makespan
}

// benchRow is the errors of a group of executions.
type benchRow struct {
	App        string  `json:"app"`
	Executions int     `json:"executions"`
	Median     float64 `json:"median_error"`
	P75        float64 `json:"p75_error"`
	P90        float64 `json:"p90_error"`
	Max        float64 `json:"max_error"`
	Within10   float64 `json:"within_10"`
	Within20   float64 `json:"within_20"`
	Covered    float64 `json:"covered_90"` // real makespans inside the 90 % interval
	PaperMed   float64 `json:"paper_median_error"`
	PaperIn20  float64 `json:"paper_within_20"`
}

type benchRun struct {
	Name      string  `json:"name"`
	App       string  `json:"app"`
	Site      string  `json:"site"`
	Grid      bool    `json:"grid,omitempty"`
	Makespan  float64 `json:"makespan_s"`
	Predicted float64 `json:"predicted_s"`
	Low       float64 `json:"low_s"`
	High      float64 `json:"high_s"`
	Error     float64 `json:"error"`
	Paper     float64 `json:"paper_s"`
	From      string  `json:"from"`
	Trained   int     `json:"trained_on"`
}

// readRecorded reads every execution below the folders. Files without a
// recorded makespan are counted and left out; so are files that are no workflow
// by their name.
func readRecorded(args []string) (runs []workflow.Recorded, skipped int, err error) {
	for _, arg := range args {
		files, err := filesOf(arg)
		if err != nil {
			return nil, 0, inputError(err)
		}
		for _, name := range files {
			base := filepath.Base(name)
			if base == "meta.json" || !strings.HasSuffix(base, ".json") && !strings.HasSuffix(base, ".json.gz") {
				continue
			}
			w, err := readWorkflow(name, nil, workflow.FillOptions{Fill: true})
			if err != nil {
				return nil, 0, err
			}
			if !(w.Makespan > 0) {
				skipped++
				continue
			}
			rel, err := filepath.Rel(arg, name)
			if err != nil || rel == "." {
				rel = name
			}
			runs = append(runs, workflow.Label(w, filepath.ToSlash(rel)))
		}
	}
	if len(runs) == 0 {
		return nil, 0, usagef("%s: no executions with a makespan", strings.Join(args, ", "))
	}
	return runs, skipped, nil
}

func benchWorkflows(runs []workflow.Recorded, hold workflow.HoldOut) (*benchReport, error) {
	out, err := workflow.LeaveOneOut(runs, hold)
	if err != nil {
		return nil, err
	}
	r := &benchReport{Hold: map[workflow.HoldOut]string{workflow.HoldExecution: "execution", workflow.HoldConfig: "config"}[hold]}
	var local, grid []workflow.Outcome
	byApp := map[string][]workflow.Outcome{}
	for _, o := range out {
		r.Runs = append(r.Runs, benchRun{o.Name, o.App, o.Site, o.Grid, o.Workflow.Makespan, o.Makespan, o.Low, o.High, o.Error, o.Paper, o.From, o.Trained})
		if o.Grid {
			grid = append(grid, o)
			continue
		}
		local = append(local, o)
		byApp[o.App] = append(byApp[o.App], o)
	}
	r.All = summariseErrors("all", local)
	if len(grid) > 0 {
		g := summariseErrors("grids", grid)
		r.Grids = &g
	}
	for app, list := range byApp {
		r.Apps = append(r.Apps, summariseErrors(app, list))
	}
	sortBy(r.Apps, func(a, b benchRow) bool { return a.App < b.App })
	return r, nil
}

func summariseErrors(app string, out []workflow.Outcome) benchRow {
	row := benchRow{App: app, Executions: len(out)}
	if len(out) == 0 {
		return row
	}
	var errs, paper []float64
	for _, o := range out {
		errs, paper = append(errs, o.Error), append(paper, o.PaperErr)
		if o.Low <= o.Workflow.Makespan && o.Workflow.Makespan <= o.High {
			row.Covered++
		}
	}
	within := func(x []float64, limit float64) float64 {
		n := 0
		for _, e := range x {
			if e < limit {
				n++
			}
		}
		return float64(n) / float64(len(x))
	}
	row.Covered /= float64(len(out))
	row.Median, row.P75, row.P90 = workflow.Quantile(errs, 0.5), workflow.Quantile(errs, 0.75), workflow.Quantile(errs, 0.9)
	row.Max = slices.Max(errs)
	row.Within10, row.Within20 = within(errs, 0.1), within(errs, 0.2)
	row.PaperMed, row.PaperIn20 = workflow.Quantile(paper, 0.5), within(paper, 0.2)
	return row
}

// tableEntry is a cell of Table I.
type tableEntry struct {
	App    string  `json:"app"`
	Method string  `json:"method"`
	Error  float64 `json:"run_time_error"` // 0.05 is ±5 %
	In10   float64 `json:"within_10"`
	In15   float64 `json:"within_15"`
	In20   float64 `json:"within_20"`
}

// tableOne follows Table I: 100 sets of run times with random errors for each
// execution, predicted with the calibration of its application and site, itself
// included, as the paper's delay was chosen with all its executions in view.
func tableOne(runs []workflow.Recorded) []tableEntry {
	type key struct{ app, site string }
	group := map[key][]workflow.Recorded{}
	var order []key
	for _, r := range runs {
		k := key{r.App, r.Site}
		if r.Grid {
			continue
		}
		if group[k] == nil {
			order = append(order, k)
		}
		group[k] = append(group[k], r)
	}
	sum := map[tableEntry]*[4]float64{} // keyed without shares: within 10, 15, 20, and how many
	var keys []tableEntry
	for _, k := range order {
		var train []workflow.Execution
		for _, r := range group[k] {
			train = append(train, r.Execution)
		}
		c, err := workflow.Calibrate(train)
		if err != nil {
			continue
		}
		for _, r := range group[k] {
			for _, l := range workflow.Levelers()[:2] {
				for _, e := range []float64{0.05, 0.10, 0.15} {
					at := tableEntry{App: k.app, Method: l.Name, Error: e}
					if sum[at] == nil {
						sum[at] = &[4]float64{}
						keys = append(keys, at)
					}
					s := c.Vary(r.Workflow, l.Leveler, workflow.VaryOptions{Error: e, Seed: 1})
					for i, limit := range []float64{0.10, 0.15, 0.20} {
						sum[at][i] += s.Share(r.Workflow.Makespan, limit)
					}
					sum[at][3]++
				}
			}
		}
	}
	for i, k := range keys {
		s := sum[k]
		keys[i].In10, keys[i].In15, keys[i].In20 = s[0]/s[3], s[1]/s[3], s[2]/s[3]
	}
	return keys
}

func writeBenchText(out io.Writer, all []*benchReport) error {
	var b strings.Builder
	for i, r := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "leave-one-%s-out, %d executions (Alg. 1 with all cores and 25 s a level beside)\n", r.Hold, len(r.Runs))
		t := report.NewTable(report.Palette{}, "application", ">runs", ">median", ">75 %", ">90 %", ">max", ">in 10 %", ">in 20 %", ">in interval", ">Alg. 1 median", ">in 20 %")
		rows := append(slices.Clone(r.Apps), r.All)
		if r.Grids != nil {
			rows = append(rows, *r.Grids)
		}
		for _, x := range rows {
			p := func(v float64) string {
				if math.IsNaN(v) {
					return ""
				}
				return fmt.Sprintf("%.1f %%", 100*v)
			}
			t.Add(x.App, fmt.Sprint(x.Executions), p(x.Median), p(x.P75), p(x.P90), p(x.Max), p(x.Within10), p(x.Within20), p(x.Covered), p(x.PaperMed), p(x.PaperIn20))
		}
		if err := t.Write(&b); err != nil {
			return err
		}
		if len(r.Table1) == 0 || i < len(all)-1 {
			continue
		}
		b.WriteString("\nTable I: share of predictions within 10, 15 and 20 %, calibrated from all executions of the application and site\n")
		t = report.NewTable(report.Palette{}, "application", "levels", ">run time error", ">in 10 %", ">in 15 %", ">in 20 %")
		for _, e := range r.Table1 {
			t.Add(e.App, e.Method, fmt.Sprintf("±%.0f %%", 100*e.Error), fmt.Sprintf("%.1f", 100*e.In10), fmt.Sprintf("%.1f", 100*e.In15), fmt.Sprintf("%.1f", 100*e.In20))
		}
		if err := t.Write(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
