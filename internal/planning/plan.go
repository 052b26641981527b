package planning

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/workflow"
)

// A Plan is the plan of one workflow under one or several offers, as it is shown.
type Plan struct {
	*workflow.Comparison
	Workflow *workflow.Workflow
	Options  workflow.PlanOptions
	Offers   []workflow.Offer
	Priced   bool // costs are money, not slot-seconds
	// Recorded is the prediction of the recorded execution; nil without a
	// calibration.
	Recorded *workflow.Prediction
	Notes    []string // remarks, a sentence each without its stop
}

// Note adds a note.
func (r *Plan) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// worthSimulating is the part of the makespan above which it matters that estimates
// by levels are far from the bound.
const worthSimulating = 0.05

// NoteSimulation notes that a simulation would be more precise, if estimates by levels alone leave open
// more than 5 % between their saving and the largest possible saving.
func (r *Plan) NoteSimulation() {
	c := r.Plans[r.Best].Choice
	if !r.Options.Simulate && c.Bound-c.Saves > worthSimulating {
		r.Note("levels wait for each other in these estimates; --simulate estimates a scheduler without this wait")
	}
}

// WriteText writes the plans for people, several with a table that compares their
// choices.
func WriteText(w io.Writer, reports []*Plan) error {
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
			t.Add(r.Workflow.Name, fmt.Sprint(len(r.Workflow.Tasks)), fmt.Sprint(c.Slots), clock(c.Makespan),
				report.Number(c.Cost, 4), percentText(c.Efficiency))
		}
		if err := t.Write(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// text writes one plan.
func (r *Plan) text(b *strings.Builder) error {
	fmt.Fprintf(b, "%s: %d tasks in %d levels, %s of work (%s)\n", r.Workflow.Name, len(r.Workflow.Tasks),
		r.Workflow.Graph.Depth(), clock(r.Workflow.Work()), r.Workflow.Format)
	r.calibrationText(b)
	for i, v := range r.Offers {
		if v.Name != "" {
			fmt.Fprintf(b, "\n%s, %s\n", v.Name, v.Price)
		}
		if err := r.table(b, r.Plans[i]); err != nil {
			return err
		}
	}
	c := r.Plans[r.Best].Choice
	where := ""
	if name := r.Offers[r.Best].Name; name != "" {
		where = " of " + name
	}
	verb := "Take"
	if !c.Feasible {
		verb = "No choice keeps the limits; nearest are"
	}
	fmt.Fprintf(b, "\n%s %d slots%s (%s): %s.\n", verb, c.Slots, where, c.Method, c.Why)
	for _, n := range r.Notes {
		fmt.Fprintf(b, "Note: %s.\n", n)
	}
	return nil
}

// calibrationText describes the executions of the calibration and its error on the recorded execution.
func (r *Plan) calibrationText(b *strings.Builder) {
	c := r.Options.Calibration
	if c == nil {
		return
	}
	fmt.Fprintf(b, "calibrated from %d executions of %d configurations: median error %s when left out\n",
		c.Executions, c.Configs, percentText(c.CVError))
	var terms []string
	for _, t := range c.Mean() {
		terms = append(terms, fmt.Sprintf("%s %s", t.Term, report.Number(t.Value, 3)))
	}
	fmt.Fprintf(b, "overhead, on average over %d models: %s\n", len(c.Models), strings.Join(terms, ", "))
	if m := r.Workflow.Makespan; m > 0 {
		fmt.Fprintf(b, "recorded on %d cores: %s; predicted %s (%s to %s), error %s\n", r.Workflow.Cores(), clock(m),
			clock(r.Recorded.Makespan), clock(r.Recorded.Low), clock(r.Recorded.High),
			percentText(workflow.RelError(m, r.Recorded.Makespan)))
	}
}

// table writes the estimates side by side with the lower bound.
func (r *Plan) table(b *strings.Builder, p *workflow.Plan) error {
	cost := ">cost"
	if !r.Priced {
		cost = ">slot-seconds"
	}
	t := report.NewTable(report.Palette{}, ">slots", "method", ">makespan", "interval", cost, ">efficiency",
		">bound", "")
	for _, e := range p.Estimates {
		interval := ""
		if e.Low < e.High {
			interval = clock(e.Low) + " to " + clock(e.High)
		}
		bound := ""
		for k, n := range r.Options.Slots {
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
		t.Add(fmt.Sprint(e.Slots), e.Method, clock(e.Makespan), interval, report.Number(e.Cost, 4),
			percentText(e.Efficiency), bound, mark)
	}
	return t.Write(b)
}

// WriteSVG draws makespan against slots for each workflow and method, and marks the choice.
func WriteSVG(w io.Writer, reports []*Plan) error {
	c := slotsChart("makespan against slots")
	if len(reports) == 1 {
		c.Title = reports[0].Workflow.Name + ": " + c.Title
	}
	for _, r := range reports {
		for _, s := range r.series(len(reports) > 1) {
			addSlots(&c, s)
		}
		if m := r.Workflow.Makespan; m > 0 && !math.IsNaN(m) && r.Workflow.Cores() > 0 {
			name := "recorded"
			if len(reports) > 1 {
				name = r.Workflow.Name + " recorded"
			}
			addSlots(&c, report.Series{
				Name: name, X: []float64{float64(r.Workflow.Cores())}, Y: []float64{m}, Dots: true,
			})
		}
		name := ""
		if len(reports) > 1 {
			name = r.Workflow.Name + ": "
		}
		e := r.Plans[r.Best].Choice
		c.Marks = append(c.Marks, report.Mark{X: float64(e.Slots), Y: e.Makespan, Text: name + choiceText(e)})
	}
	return c.WriteSVG(w)
}

// choiceText returns the text of a choice in a picture.
func choiceText(c workflow.Choice) string {
	verb := "take"
	if !c.Feasible {
		verb = "nearest"
	}
	return fmt.Sprintf("%s %d: %s", verb, c.Slots, clock(c.Makespan))
}

// slotsChart returns an empty chart of makespans against slots.
func slotsChart(title string) report.Chart {
	return report.Chart{
		Title: title, XLabel: "slots", YLabel: "makespan", LogX: true, LogY: true, YTime: true, XAt: []float64{},
	}
}

// addSlots adds a series, with a tick at each of its numbers of slots as long as
// there is room.
func addSlots(c *report.Chart, s report.Series) {
	const most = 12
	c.Series = append(c.Series, s)
	if c.XAt != nil {
		c.XAt = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.XAt, s.X))))
		if len(c.XAt) > most {
			c.XAt = nil
		}
	}
}

// series returns the curve of each offer and method, named with the workflow too if
// that is asked for.
func (r *Plan) series(workflow bool) []report.Series {
	var out []report.Series
	at := map[string]int{} // in out, by name
	for i, p := range r.Plans {
		for _, e := range p.Estimates {
			name := strings.TrimSpace(r.Offers[i].Name + " " + e.Method)
			if workflow {
				name = r.Workflow.Name + " " + name
			}
			k, ok := at[name]
			if !ok {
				k = len(out)
				at[name], out = k, append(out, report.Series{Name: name})
			}
			s := &out[k]
			s.X, s.Y = append(s.X, float64(e.Slots)), append(s.Y, e.Makespan)
			s.Low, s.High = append(s.Low, e.Low), append(s.High, e.High)
		}
	}
	return out
}
