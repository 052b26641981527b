package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/workflow"
)

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

func planRows(all []workflow.Estimate) []planRow {
	out := make([]planRow, len(all))
	for i, e := range all {
		out[i] = planRow{e.Method, e.Slots, e.Makespan, e.Low, e.High, e.Cost, e.Efficiency}
	}
	return out
}

func (r *planReport) json() planJSON {
	best := r.Plans[r.Best]
	j := planJSON{
		Workflow: r.w.Name, Tasks: len(r.w.Tasks), Format: r.w.Format, System: r.w.System, Work: r.w.Work(),
		Site: r.offers[r.Best].Name, Estimates: planRows(best.Estimates), Pareto: planRows(best.Pareto),
		Recommendation: choiceJSON(best.Choice), Notes: r.notes,
	}
	for _, l := range r.opt.Levelers {
		pl := planLevels{Method: l.Name}
		for _, x := range workflow.Profile(r.w, nil, l.Level(r.w.Graph, r.w.Runs(), best.Choice.Slots)) {
			pl.Levels = append(pl.Levels, planLevel{x.Tasks, x.Sum, x.Max})
		}
		j.Levels = append(j.Levels, pl)
	}
	for i, b := range best.Bounds {
		j.Bounds = append(j.Bounds, planBound{r.opt.Slots[i], b.Path, b.Area})
	}
	if c := r.opt.Calibration; c != nil {
		j.Calibration = &planCalibration{c.Executions, c.Configs, c.CVError, c.Sigma, c.Mean()}
	}
	if r.self != nil {
		j.Recorded = &planRecorded{Cores: r.w.Cores(), Predicted: r.self.Makespan, Low: r.self.Low, High: r.self.High}
		if m := r.w.Makespan; m > 0 {
			e := workflow.RelError(m, r.self.Makespan)
			j.Recorded.Makespan, j.Recorded.Error = &m, &e
		}
	}
	if len(r.offers) > 1 {
		for i, v := range r.offers {
			p := r.Plans[i]
			j.Sites = append(j.Sites, planSite{v.Name, planRows(p.Estimates), planRows(p.Pareto), choiceJSON(p.Choice)})
		}
	}
	return j
}

func choiceJSON(c workflow.Choice) planChoice {
	return planChoice{c.Slots, c.Method, c.Makespan, c.Cost, c.Feasible, c.Why}
}

// writeOneOrMany writes the object of one report, or an array of them for several
// workflows.
func writeOneOrMany[R, J any](w io.Writer, reports []R, object func(R) J) error {
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

func writePlanText(w io.Writer, reports []*planReport) error {
	var b strings.Builder
	for i, r := range reports {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := r.text(&b); err != nil {
			return err
		}
	}
	if len(reports) > 1 {
		b.WriteString("\nCompared\n")
		t := report.NewTable(report.Palette{}, "workflow", ">tasks", ">slots", ">makespan", ">cost", ">efficiency")
		for _, r := range reports {
			c := r.Plans[r.Best].Choice
			t.Add(r.w.Name, fmt.Sprint(len(r.w.Tasks)), fmt.Sprint(c.Slots), clock(c.Makespan), report.Number(c.Cost, 4), percentText(c.Efficiency))
		}
		if err := t.Write(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *planReport) text(b *strings.Builder) error {
	fmt.Fprintf(b, "%s: %d tasks in %d levels, %s of work (%s)\n", r.w.Name, len(r.w.Tasks), r.w.Graph.Depth(), clock(r.w.Work()), r.w.Format)
	r.calibrationText(b)
	for i, v := range r.offers {
		if v.Name != "" {
			fmt.Fprintf(b, "\n%s, %s\n", v.Name, v.Price)
		}
		if err := r.table(b, r.Plans[i]); err != nil {
			return err
		}
	}
	c := r.Plans[r.Best].Choice
	where := ""
	if name := r.offers[r.Best].Name; name != "" {
		where = " of " + name
	}
	verb := "Take"
	if !c.Feasible {
		verb = "No choice keeps the limits; nearest are"
	}
	fmt.Fprintf(b, "\n%s %d slots%s (%s): %s.\n", verb, c.Slots, where, c.Method, c.Why)
	for _, n := range r.notes {
		fmt.Fprintf(b, "Note: %s.\n", n)
	}
	return nil
}

func (r *planReport) calibrationText(b *strings.Builder) {
	c := r.opt.Calibration
	if c == nil {
		return
	}
	fmt.Fprintf(b, "calibrated from %d executions of %d configurations: median error %s when left out\n", c.Executions, c.Configs, percentText(c.CVError))
	var terms []string
	for _, t := range c.Mean() {
		terms = append(terms, fmt.Sprintf("%s %s", t.Term, report.Number(t.Value, 3)))
	}
	fmt.Fprintf(b, "what it adds, on average over %d models: %s\n", len(c.Models), strings.Join(terms, ", "))
	if m := r.w.Makespan; m > 0 {
		fmt.Fprintf(b, "recorded on %d cores: %s; predicted %s (%s to %s), error %s\n", r.w.Cores(), clock(m),
			clock(r.self.Makespan), clock(r.self.Low), clock(r.self.High), percentText(workflow.RelError(m, r.self.Makespan)))
	}
}

// table writes the estimates side by side with the lower bound.
func (r *planReport) table(b *strings.Builder, p *workflow.Plan) error {
	cost := ">cost"
	if !r.priced {
		cost = ">slot-seconds"
	}
	t := report.NewTable(report.Palette{}, ">slots", "method", ">makespan", "interval", cost, ">efficiency", ">bound", "")
	for _, e := range p.Estimates {
		interval := ""
		if e.Low < e.High {
			interval = clock(e.Low) + " to " + clock(e.High)
		}
		bound := ""
		for k, n := range r.opt.Slots {
			if n == e.Slots {
				bound = clock(p.Bounds[k].Makespan())
			}
		}
		mark := ""
		for _, f := range p.Pareto {
			if f == e {
				mark = "Pareto"
			}
		}
		if e == p.Choice.Estimate {
			mark = strings.TrimSpace(mark + " <- choice")
		}
		t.Add(fmt.Sprint(e.Slots), e.Method, clock(e.Makespan), interval, report.Number(e.Cost, 4), percentText(e.Efficiency), bound, mark)
	}
	return t.Write(b)
}

// clock returns a length of time, to the digit below a thousand seconds.
func clock(s float64) string {
	if s < 1000 {
		return strconv.FormatFloat(s, 'g', 5, 64) + " s"
	}
	return report.Seconds(s)
}

func percentText(x float64) string { return strconv.FormatFloat(100*x, 'g', 3, 64) + " %" }

// planSVG draws makespan against slots for each workflow and method.
func planSVG(w io.Writer, reports []*planReport) error {
	c := report.Chart{Title: "makespan against slots", XLabel: "slots", YLabel: "makespan, s", LogX: true, LogY: true}
	for _, r := range reports {
		by := map[string]*report.Series{}
		var order []string
		for i, p := range r.Plans {
			for _, e := range p.Estimates {
				name := strings.TrimSpace(r.offers[i].Name + " " + e.Method)
				if len(reports) > 1 {
					name = r.w.Name + " " + name
				}
				s := by[name]
				if s == nil {
					s = &report.Series{Name: name}
					by[name] = s
					order = append(order, name)
				}
				s.X, s.Y = append(s.X, float64(e.Slots)), append(s.Y, e.Makespan)
				s.Low, s.High = append(s.Low, e.Low), append(s.High, e.High)
			}
		}
		for _, name := range order {
			c.Series = append(c.Series, *by[name])
		}
		if m := r.w.Makespan; m > 0 && !math.IsNaN(m) && r.w.Cores() > 0 {
			c.Series = append(c.Series, report.Series{Name: "recorded", X: []float64{float64(r.w.Cores())}, Y: []float64{m}, Dots: true})
		}
	}
	return c.WriteSVG(w)
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
