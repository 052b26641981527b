package pietri

import (
	"cmp"
	"slices"

	"github.com/assay-run/assay/internal/workflow/trace"
	"github.com/assay-run/assay/workflow"
)

// Report is the result of one protocol.
type Report struct {
	Hold    string       `json:"hold,omitempty"`  // execution, config or application
	Known   int          `json:"known,omitempty"` // the configurations that were known, where this was prescribed
	All     Row          `json:"all"`             // without grids
	Grids   *Row         `json:"grids,omitempty"`
	Apps    []Row        `json:"apps"`
	Runs    []Run        `json:"runs"`
	Table1  []TableEntry `json:"table1,omitempty"`
	Repeats *Repeats     `json:"repeats,omitempty"`
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
	r := sumUp(out)
	r.Repeats = repeats(runs)
	r.Hold = map[HoldOut]string{HoldExecution: "execution", HoldConfig: "config", HoldApp: "application"}[hold]
	return r, nil
}

// EvaluateKnown predicts executions from a number of configurations of their application and site alone,
// like [FromKnown], and sums up the errors.
func EvaluateKnown(runs []trace.Recorded, known int) (*Report, error) {
	out, err := FromKnown(runs, known)
	if err != nil {
		return nil, err
	}
	r := sumUp(out)
	r.Known = known
	return r, nil
}

// sumUp makes the rows of a report: by application, all but grids, and grids.
func sumUp(out []Outcome) *Report {
	r := &Report{}
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
	return r
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
	Model  string  `json:"model"` // published or calibrated
	Method string  `json:"method"`
	Error  float64 `json:"run_time_error"` // 0.05 is ±5 %
	In10   float64 `json:"within_10"`
	In15   float64 `json:"within_15"`
	In20   float64 `json:"within_20"`
}

// The models of Table I.
const (
	Published  = "published"  // Algorithm 1 with all cores and 25 s a level
	Calibrated = "calibrated" // from all executions of the application and site
)

// TableOne follows Table I: 100 sets of run times with random errors for each
// execution, with a seed of its own, predicted by Algorithm 1 with 25 s a level as
// published; and with the calibration of its application and site, itself included,
// as the paper's delay was chosen with all its executions in view. Grids are left
// out.
func TableOne(runs []trace.Recorded) []TableEntry {
	type key struct{ app, site string }
	group := map[key][]workflow.Execution{}
	for _, r := range runs {
		if !r.Grid {
			k := key{r.App, r.Site}
			group[k] = append(group[k], r.Execution)
		}
	}
	fitted := map[key]*workflow.Calibration{}
	t := &tableOne{sum: map[TableEntry]*[4]float64{}}
	for i, r := range runs {
		if r.Grid {
			continue
		}
		k := key{r.App, r.Site}
		if _, ok := fitted[k]; !ok {
			c, err := workflow.Calibrate(group[k])
			if err != nil {
				c = nil
			}
			fitted[k] = c
		}
		for _, l := range workflow.Levelers()[:2] {
			for _, e := range []float64{0.05, 0.10, 0.15} {
				vary := workflow.VaryOptions{Error: e, Seed: uint64(i + 1)}
				paper := workflow.Overhead{Level: workflow.PaperDelay}
				s, err := workflow.Vary(r.Workflow, l.Leveler, paper, []int{max(r.Workflow.Cores(), 1)}, vary)
				if err == nil {
					t.add(TableEntry{App: r.App, Model: Published, Method: l.Name, Error: e}, &s[0], r.Workflow.Makespan)
				}
				if c := fitted[k]; c != nil {
					s := c.Vary(r.Workflow, l.Leveler, vary)
					t.add(TableEntry{App: r.App, Model: Calibrated, Method: l.Name, Error: e}, &s, r.Workflow.Makespan)
				}
			}
		}
	}
	return t.entries()
}

// tableOne collects the shares of Table I.
type tableOne struct {
	keys []TableEntry
	sum  map[TableEntry]*[4]float64 // keyed without shares: within 10, 15, 20 %, and how many
}

// add counts the predictions of one execution.
func (t *tableOne) add(at TableEntry, s *workflow.Spread, real workflow.Seconds) {
	if t.sum[at] == nil {
		t.sum[at] = &[4]float64{}
		t.keys = append(t.keys, at)
	}
	for i, limit := range []float64{0.10, 0.15, 0.20} {
		t.sum[at][i] += s.Share(real, limit)
	}
	t.sum[at][3]++
}

// entries returns the cells by application, the published model first.
func (t *tableOne) entries() []TableEntry {
	for i, k := range t.keys {
		s := t.sum[k]
		t.keys[i].In10, t.keys[i].In15, t.keys[i].In20 = s[0]/s[3], s[1]/s[3], s[2]/s[3]
	}
	slices.SortStableFunc(t.keys, func(a, b TableEntry) int {
		return cmp.Or(cmp.Compare(a.App, b.App), -cmp.Compare(a.Model, b.Model))
	})
	return t.keys
}
