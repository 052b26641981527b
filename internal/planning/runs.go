package planning

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/workflow"
)

// Runs is the combined result of several recorded executions, as it is shown: their range (Fig. 3 of
// Pietri et al.) or their average (Fig. 4), whichever is not nil.
type Runs struct {
	Runs    []*workflow.Workflow
	Method  string  // how levels are counted
	Error   float64 // of the run times, of an average
	Ranges  []workflow.RunRange
	Average []workflow.Spread
}

// head describes the executions.
func (r *Runs) head() string {
	recorded := 0
	for _, w := range r.Runs {
		if w.Makespan > 0 && w.Cores() > 0 {
			recorded++
		}
	}
	return fmt.Sprintf("%s: %d executions, %d with a recorded makespan (%s)", r.name(), len(r.Runs), recorded, r.Method)
}

// name returns the name that all executions have, or the first and the number of
// others.
func (r *Runs) name() string {
	first := r.Runs[0].Name
	for _, w := range r.Runs[1:] {
		if w.Name != first {
			return fmt.Sprintf("%s and %d more", first, len(r.Runs)-1)
		}
	}
	return first
}

// WriteText writes the table, and its conclusions.
func (r *Runs) WriteText(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.head() + "\n")
	var err error
	if r.Ranges != nil {
		err = r.rangeText(&b)
	} else {
		err = r.averageText(&b)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func (r *Runs) rangeText(b *strings.Builder) error {
	t := report.NewTable(report.Palette{}, ">slots", ">least", ">greatest", "recorded", "inside")
	all, inside := 0, 0
	for _, x := range r.Ranges {
		real, in := "", ""
		if n := len(x.Real); n > 0 {
			real = report.Number(x.Real[0], 3)
			if n > 1 {
				real += " to " + report.Number(x.Real[n-1], 3)
			}
			in = fmt.Sprintf("%d of %d", x.Inside(), n)
			all, inside = all+n, inside+x.Inside()
		}
		t.Add(fmt.Sprint(x.Slots), report.Number(x.Low, 3), report.Number(x.High, 3), real, in)
	}
	if err := t.Write(b); err != nil {
		return err
	}
	b.WriteString("\nMakespans are divided by the sum of the run times of their execution.\n")
	if all > 0 {
		fmt.Fprintf(b, "Of %d recorded makespans %d are inside the range.\n", all, inside)
	}
	return nil
}

func (r *Runs) averageText(b *strings.Builder) error {
	t := report.NewTable(report.Palette{}, ">slots", ">mean", "5 % to 95 %", "recorded")
	for _, x := range r.Average {
		var real []string
		for _, w := range r.recorded(x.Slots) {
			real = append(real, clock(w))
		}
		if n := len(real); n > 2 {
			real = []string{real[0] + " to " + real[n-1]}
		}
		t.Add(fmt.Sprint(x.Slots), clock(x.Mean), clock(x.Low)+" to "+clock(x.High), strings.Join(real, ", "))
	}
	if err := t.Write(b); err != nil {
		return err
	}
	k := r.knee()
	x, least, last := r.Average[k], r.least(), r.Average[len(r.Average)-1].Slots
	fmt.Fprintf(b, "\n%d predictions for each number of slots, run times ±%g %%.\n", len(x.Predictions), 100*r.Error)
	if x.Slots == last {
		fmt.Fprintf(b, "Take %d slots: every step up to them still saves time.\n", last)
		return nil
	}
	fmt.Fprintf(b, "Take %d slots: more, up to %d, save %.1f %% of the mean of %s.\n", x.Slots, last,
		100*(1-least/x.Mean), clock(x.Mean))
	return nil
}

// recorded returns the makespans recorded on a number of slots, ascending.
func (r *Runs) recorded(slots int) []float64 {
	var out []float64
	for _, w := range r.Runs {
		if w.Makespan > 0 && w.Cores() == slots {
			out = append(out, w.Makespan)
		}
	}
	slices.Sort(out)
	return out
}

// knee returns the index of the number of slots to take.
func (r *Runs) knee() int {
	var slots []int
	var mean []workflow.Seconds
	for _, x := range r.Average {
		slots, mean = append(slots, x.Slots), append(mean, x.Mean)
	}
	return workflow.Knee(slots, mean)
}

// least returns the least of the means.
func (r *Runs) least() workflow.Seconds {
	return slices.MinFunc(r.Average, func(a, b workflow.Spread) int {
		if a.Mean < b.Mean {
			return -1
		}
		return 1
	}).Mean
}

// WriteSVG draws the range with triangles, or the average with its band and the recommended number of
// slots; dots are recorded executions.
func (r *Runs) WriteSVG(w io.Writer) error {
	c := slotsChart(r.name() + ": average of the executions")
	real := report.Series{Name: "recorded", Dots: true}
	if r.Ranges != nil {
		c = slotsChart(r.name() + ": range of the predictions")
		c.YLabel, c.YTime = "makespan / sum of run times", false
		high := report.Series{Name: "greatest", Dots: true, Sign: report.Up}
		low := report.Series{Name: "least", Dots: true, Sign: report.Down}
		for _, x := range r.Ranges {
			n := float64(x.Slots)
			low.X, low.Y = append(low.X, n), append(low.Y, x.Low)
			high.X, high.Y = append(high.X, n), append(high.Y, x.High)
			for _, y := range x.Real {
				real.X, real.Y = append(real.X, n), append(real.Y, y)
			}
		}
		addSlots(&c, high)
		addSlots(&c, low)
	} else {
		mean := report.Series{Name: "mean, 5 % to 95 %"}
		for _, x := range r.Average {
			n := float64(x.Slots)
			mean.X, mean.Y = append(mean.X, n), append(mean.Y, x.Mean)
			mean.Low, mean.High = append(mean.Low, x.Low), append(mean.High, x.High)
			for _, y := range r.recorded(x.Slots) {
				real.X, real.Y = append(real.X, n), append(real.Y, y)
			}
		}
		addSlots(&c, mean)
		x := r.Average[r.knee()]
		c.Marks = []report.Mark{{
			X: float64(x.Slots), Y: x.Mean, Text: fmt.Sprintf("take %d: %s", x.Slots, clock(x.Mean)),
		}}
	}
	if real.X != nil {
		addSlots(&c, real)
	}
	return c.WriteSVG(w)
}

// The JSON of several executions.
type (
	runsJSON struct {
		Executions int         `json:"executions"`
		Method     string      `json:"method"`
		Error      float64     `json:"run_time_error,omitempty"`
		Ranges     []rangeRow  `json:"ranges,omitempty"`
		Average    []spreadRow `json:"average,omitempty"`
		Take       int         `json:"take_slots,omitempty"`
	}
	rangeRow struct {
		Slots  int       `json:"slots"`
		Low    float64   `json:"least"` // parts of the sum of run times
		High   float64   `json:"greatest"`
		Real   []float64 `json:"recorded,omitempty"`
		Inside int       `json:"inside"`
	}
	spreadRow struct {
		Slots int       `json:"slots"`
		Mean  float64   `json:"mean_s"`
		Low   float64   `json:"low_s"` // the 5 % and 95 % quantiles
		High  float64   `json:"high_s"`
		Min   float64   `json:"min_s"`
		Max   float64   `json:"max_s"`
		Real  []float64 `json:"recorded_s,omitempty"`
	}
)

// WriteJSON writes one object.
func (r *Runs) WriteJSON(w io.Writer) error {
	return writeJSON(w, []*Runs{r}, func(r *Runs) runsJSON {
		j := runsJSON{Executions: len(r.Runs), Method: r.Method, Error: r.Error}
		for _, x := range r.Ranges {
			j.Ranges = append(j.Ranges, rangeRow{x.Slots, x.Low, x.High, x.Real, x.Inside()})
		}
		for _, x := range r.Average {
			j.Average = append(j.Average, spreadRow{x.Slots, x.Mean, x.Low, x.High, x.Min, x.Max, r.recorded(x.Slots)})
		}
		if r.Average != nil {
			j.Take = r.Average[r.knee()].Slots
		}
		return j
	})
}
