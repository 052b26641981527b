package pietri

import (
	"cmp"
	"slices"

	"github.com/assay-run/assay/workflow"
	"github.com/assay-run/assay/workflow/trace"
)

// Report is the result of one protocol.
type Report struct {
	Hold    string       `json:"hold"` // execution or config
	All     Row          `json:"all"`  // without grids
	Grids   *Row         `json:"grids,omitempty"`
	Apps    []Row        `json:"apps"`
	Runs    []Run        `json:"runs"`
	Table1  []TableEntry `json:"table1,omitempty"`
	Skipped int          `json:"skipped"` // files without a recorded makespan
}

// Row is the errors of a group of executions.
type Row struct {
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

// A Run is the prediction of one execution. Times are seconds.
type Run struct {
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

// Evaluate predicts each execution from the others and sums up how far off that
// is: by application, all but grids, and grids. It panics as [LeaveOneOut] does.
func Evaluate(runs []trace.Recorded, hold HoldOut) (*Report, error) {
	out, err := LeaveOneOut(runs, hold)
	if err != nil {
		return nil, err
	}
	r := &Report{Hold: map[HoldOut]string{HoldExecution: "execution", HoldConfig: "config"}[hold]}
	var local, grid []Outcome
	byApp := map[string][]Outcome{}
	for _, o := range out {
		r.Runs = append(r.Runs, Run{
			o.Name, o.App, o.Site, o.Grid, o.Workflow.Makespan, o.Makespan, o.Low, o.High,
			o.Error, o.Paper, o.From, o.Trained,
		})
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
	slices.SortFunc(r.Apps, func(a, b Row) int { return cmp.Compare(a.App, b.App) })
	return r, nil
}

// summariseErrors sums up the errors of a group. Shares are of the group; an
// empty one has zeros.
func summariseErrors(app string, out []Outcome) Row {
	row := Row{App: app, Executions: len(out)}
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
	row.Median, row.P75, row.P90 = workflow.Quantile(errs, 0.5), workflow.Quantile(errs,
		0.75), workflow.Quantile(errs, 0.9)
	row.Max = slices.Max(errs)
	row.Within10, row.Within20 = within(errs, 0.1), within(errs, 0.2)
	row.PaperMed, row.PaperIn20 = workflow.Quantile(paper, 0.5), within(paper, 0.2)
	return row
}

// TableEntry is a cell of Table I.
type TableEntry struct {
	App    string  `json:"app"`
	Method string  `json:"method"`
	Error  float64 `json:"run_time_error"` // 0.05 is ±5 %
	In10   float64 `json:"within_10"`
	In15   float64 `json:"within_15"`
	In20   float64 `json:"within_20"`
}

// TableOne follows Table I: 100 sets of run times with random errors for each
// execution, predicted with the calibration of its application and site, itself
// included, as the paper's delay was chosen with all its executions in view.
func TableOne(runs []trace.Recorded) []TableEntry {
	type key struct{ app, site string }
	group := map[key][]trace.Recorded{}
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
	sum := map[TableEntry]*[4]float64{} // keyed without shares: within 10, 15, 20, and how many
	var keys []TableEntry
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
					at := TableEntry{App: k.app, Method: l.Name, Error: e}
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
