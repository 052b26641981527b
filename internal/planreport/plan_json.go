package planreport

import (
	"encoding/json"
	"io"
	"math"

	"github.com/assay-run/assay/workflow"
)

// WriteJSON writes the plan as an object, several as an array of them.
func WriteJSON(w io.Writer, all []*Plan) error { return writeJSON(w, all, (*Plan).json) }

// writeJSON writes the object of one report, or an array of them for several
// workflows.
func writeJSON[R, J any](w io.Writer, reports []R, object func(R) J) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	if len(reports) == 1 {
		return enc.Encode(object(reports[0]))
	}
	all := make([]J, len(reports))
	for i, r := range reports {
		all[i] = object(r)
	}
	return enc.Encode(all)
}

// The JSON of a plan.
type (
	planJSON struct {
		Workflow       string           `json:"workflow"`
		Tasks          int              `json:"tasks"`
		Format         string           `json:"format"`
		System         string           `json:"system,omitempty"`
		Work           float64          `json:"work_s"`
		Site           string           `json:"site,omitempty"`
		Levels         []planLevels     `json:"levels"`
		Estimates      []planRow        `json:"estimates"`
		Bounds         []planBound      `json:"bounds"`
		Pareto         []planRow        `json:"pareto"`
		Recommendation planChoice       `json:"recommendation"`
		Calibration    *planCalibration `json:"calibration,omitempty"`
		Recorded       *planRecorded    `json:"recorded,omitempty"`
		Sites          []planSite       `json:"sites,omitempty"`
		Notes          []string         `json:"notes,omitempty"`
	}
	planLevels struct {
		Method string      `json:"method"`
		Levels []planLevel `json:"levels"`
	}
	planLevel struct {
		Tasks int     `json:"tasks"`
		Sum   float64 `json:"sum_s"`
		Max   float64 `json:"max_s"`
	}
	planRow struct {
		Method     string  `json:"method"`
		Slots      int     `json:"slots"`
		Makespan   float64 `json:"makespan_s"`
		Low        float64 `json:"low_s"`
		High       float64 `json:"high_s"`
		Cost       float64 `json:"cost"`
		Efficiency float64 `json:"efficiency"`
	}
	planBound struct {
		Slots int     `json:"slots"`
		Path  float64 `json:"path_s"`
		Area  float64 `json:"area_s"`
	}
	planChoice struct {
		Slots    int     `json:"slots"`
		Method   string  `json:"method"`
		Makespan float64 `json:"makespan_s"`
		Cost     float64 `json:"cost"`
		Feasible bool    `json:"feasible"`
		Why      string  `json:"why"`
		// Without a deadline and a budget: parts of the makespan.
		Saves  float64  `json:"more_slots_save,omitempty"`
		AtMost *float64 `json:"more_slots_save_at_most,omitempty"`
	}
	planCalibration struct {
		Executions int                    `json:"executions"`
		Configs    int                    `json:"configs"`
		CVError    float64                `json:"cv_error"`
		Sigma      float64                `json:"sigma"`
		Terms      []workflow.Coefficient `json:"terms"`
	}
	planRecorded struct {
		Cores     int      `json:"cores"`
		Makespan  *float64 `json:"makespan_s,omitempty"`
		Predicted float64  `json:"predicted_s"`
		Low       float64  `json:"low_s"`
		High      float64  `json:"high_s"`
		Error     *float64 `json:"error,omitempty"`
	}
	planSite struct {
		Name           string     `json:"name"`
		Estimates      []planRow  `json:"estimates"`
		Pareto         []planRow  `json:"pareto"`
		Recommendation planChoice `json:"recommendation"`
	}
)

// planRows returns the estimates as they are shown.
func planRows(all []workflow.Estimate) []planRow {
	out := make([]planRow, len(all))
	for i, e := range all {
		out[i] = planRow{e.Method, e.Slots, e.Makespan, e.Low, e.High, e.Cost, e.Efficiency}
	}
	return out
}

// json returns the object of one plan: the estimates of the offer to take, and
// all offers if there are several.
func (r *Plan) json() planJSON {
	best := r.Plans[r.Best]
	j := planJSON{
		Workflow: r.Workflow.Name, Tasks: len(r.Workflow.Tasks), Work: r.Workflow.Work(),
		Format: r.Workflow.Format, System: r.Workflow.System,
		Site: r.Offers[r.Best].Name, Estimates: planRows(best.Estimates), Pareto: planRows(best.Pareto),
		Recommendation: choiceJSON(best.Choice), Notes: r.Notes,
	}
	for _, l := range r.Options.Levelers {
		pl := planLevels{Method: l.Name}
		for _, x := range workflow.Profile(r.Workflow, nil, l.Level(r.Workflow.Graph, r.Workflow.Runs(),
			best.Choice.Slots)) {
			pl.Levels = append(pl.Levels, planLevel{x.Tasks, x.Sum, x.Max})
		}
		j.Levels = append(j.Levels, pl)
	}
	for i, b := range best.Bounds {
		j.Bounds = append(j.Bounds, planBound{r.Options.Slots[i], b.Path, b.Area})
	}
	if c := r.Options.Calibration; c != nil {
		j.Calibration = &planCalibration{c.Executions, c.Configs, c.CVError, c.Sigma, c.Mean()}
	}
	if r.Recorded != nil {
		j.Recorded = &planRecorded{
			Cores: r.Workflow.Cores(), Predicted: r.Recorded.Makespan, Low: r.Recorded.Low,
			High: r.Recorded.High,
		}
		if m := r.Workflow.Makespan; m > 0 {
			e := workflow.RelError(m, r.Recorded.Makespan)
			j.Recorded.Makespan, j.Recorded.Error = &m, &e
		}
	}
	if len(r.Offers) > 1 {
		for i, v := range r.Offers {
			p := r.Plans[i]
			j.Sites = append(j.Sites, planSite{v.Name, planRows(p.Estimates), planRows(p.Pareto), choiceJSON(p.Choice)})
		}
	}
	return j
}

// choiceJSON returns the recommendation as it is shown.
func choiceJSON(c workflow.Choice) planChoice {
	j := planChoice{c.Slots, c.Method, c.Makespan, c.Cost, c.Feasible, c.Why, c.Saves, nil}
	if !math.IsNaN(c.Bound) {
		j.AtMost = &c.Bound
	}
	return j
}
