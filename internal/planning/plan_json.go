package planning

import (
	"encoding/json"
	"io"
	"math"

	"github.com/assay-run/assay/workflow"
)

// WriteJSON writes the plan as an object, several as an array of them.
func WriteJSON(w io.Writer, all []*Plan) error { return writeJSON(w, all, (*Plan).Data) }

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

// A PlanData is the output of `assay plan --json` for a workflow: a contract.
type PlanData struct {
	Workflow       string           `json:"workflow"`
	Tasks          int              `json:"tasks"`
	Format         string           `json:"format"`
	System         string           `json:"system,omitempty"`
	Work           float64          `json:"work_s"`
	Site           string           `json:"site,omitempty"`
	Levels         []PlanLevels     `json:"levels"`
	Estimates      []PlanRow        `json:"estimates"`
	Bounds         []PlanBound      `json:"bounds"`
	Pareto         []PlanRow        `json:"pareto"`
	Recommendation PlanChoice       `json:"recommendation"`
	Calibration    *PlanCalibration `json:"calibration,omitempty"`
	Recorded       *PlanRecorded    `json:"recorded,omitempty"`
	Sites          []PlanOffer      `json:"sites,omitempty"`
	Notes          []string         `json:"notes,omitempty"`
}

// PlanLevels are the levels of a workflow by one way to count them.
type PlanLevels struct {
	Method string      `json:"method"`
	Levels []PlanLevel `json:"levels"`
}

// A PlanLevel is one of them.
type PlanLevel struct {
	Tasks int     `json:"tasks"`
	Sum   float64 `json:"sum_s"`
	Max   float64 `json:"max_s"`
}

// A PlanRow is the estimate of one method for a number of slots.
type PlanRow struct {
	Method     string  `json:"method"`
	Slots      int     `json:"slots"`
	Makespan   float64 `json:"makespan_s"`
	Low        float64 `json:"low_s"`
	High       float64 `json:"high_s"`
	Cost       float64 `json:"cost"`
	Efficiency float64 `json:"efficiency"`
}

// A PlanBound is a lower bound of every schedule: the longest path, and the work over the slots.
type PlanBound struct {
	Slots int     `json:"slots"`
	Path  float64 `json:"path_s"`
	Area  float64 `json:"area_s"`
}

// A PlanChoice is the recommendation.
type PlanChoice struct {
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

// A PlanCalibration describes the executions of a calibration.
type PlanCalibration struct {
	Executions int                    `json:"executions"`
	Configs    int                    `json:"configs"`
	CVError    float64                `json:"cv_error"`
	Sigma      float64                `json:"sigma"`
	Terms      []workflow.Coefficient `json:"terms"`
}

// A PlanRecorded is the recorded execution beside its prediction.
type PlanRecorded struct {
	Cores     int      `json:"cores"`
	Makespan  *float64 `json:"makespan_s,omitempty"`
	Predicted float64  `json:"predicted_s"`
	Low       float64  `json:"low_s"`
	High      float64  `json:"high_s"`
	Error     *float64 `json:"error,omitempty"`
}

// A PlanOffer is the result of a plan under one of several prices or sites.
type PlanOffer struct {
	Name           string     `json:"name"`
	Estimates      []PlanRow  `json:"estimates"`
	Pareto         []PlanRow  `json:"pareto"`
	Recommendation PlanChoice `json:"recommendation"`
}

// rowsOf returns the estimates as they are shown.
func rowsOf(all []workflow.Estimate) []PlanRow {
	out := make([]PlanRow, len(all))
	for i, e := range all {
		out[i] = PlanRow{e.Method, e.Slots, e.Makespan, e.Low, e.High, e.Cost, e.Efficiency}
	}
	return out
}

// Data returns the object of one plan: the estimates of the offer to take, and
// all offers if there are several.
func (r *Plan) Data() PlanData {
	best := r.Plans[r.Best]
	j := PlanData{
		Workflow: r.Workflow.Name, Tasks: len(r.Workflow.Tasks), Work: r.Workflow.Work(),
		Format: r.Workflow.Format, System: r.Workflow.System,
		Site: r.Offers[r.Best].Name, Estimates: rowsOf(best.Estimates), Pareto: rowsOf(best.Pareto),
		Recommendation: choiceJSON(best.Choice), Notes: r.Notes,
	}
	for _, l := range r.Options.Levelers {
		pl := PlanLevels{Method: l.Name}
		for _, x := range workflow.Profile(r.Workflow, nil, l.Level(r.Workflow.Graph, r.Workflow.Runs(),
			best.Choice.Slots)) {
			pl.Levels = append(pl.Levels, PlanLevel{x.Tasks, x.Sum, x.Max})
		}
		j.Levels = append(j.Levels, pl)
	}
	for i, b := range best.Bounds {
		j.Bounds = append(j.Bounds, PlanBound{r.Options.Slots[i], b.Path, b.Area})
	}
	if c := r.Options.Calibration; c != nil {
		j.Calibration = &PlanCalibration{c.Executions, c.Configs, c.CVError, c.Sigma, c.Mean()}
	}
	if r.Recorded != nil {
		j.Recorded = &PlanRecorded{
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
			j.Sites = append(j.Sites, PlanOffer{v.Name, rowsOf(p.Estimates), rowsOf(p.Pareto), choiceJSON(p.Choice)})
		}
	}
	return j
}

// choiceJSON returns the recommendation as it is shown.
func choiceJSON(c workflow.Choice) PlanChoice {
	j := PlanChoice{c.Slots, c.Method, c.Makespan, c.Cost, c.Feasible, c.Why, c.Saves, nil}
	if !math.IsNaN(c.Bound) {
		j.AtMost = &c.Bound
	}
	return j
}
