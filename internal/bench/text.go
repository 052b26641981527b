package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/assay-run/assay/internal/report"
)

// Write writes the report as tables for people.
func (r Report) Write(w io.Writer, p report.Palette) error {
	columns := []string{
		"study", "method", "budget", ">error %", "95 %", ">median %", ">trials", ">completed", ">overhead ms",
	}
	limited := slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Outside > 0 })
	if limited {
		columns = append(columns, ">outside", ">found %")
	}
	t := report.NewTable(p, columns...)
	for _, row := range r.Rows {
		cells := []string{
			row.Study, row.Method, row.Budget.text(), percent(row.Mean),
			percent(row.CI95[0]) + " – " + percent(row.CI95[1]), percent(row.Median),
			fmt.Sprintf("%.1f", row.Trials), fmt.Sprintf("%.1f", row.Completed),
			fmt.Sprintf("%.2f", row.OverheadMSPerTrial),
		}
		if limited {
			cells = append(cells, fmt.Sprintf("%.1f", row.Outside), fmt.Sprintf("%.0f", 100*row.Found))
		}
		t.Add(cells...)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	g := report.NewTable(p, "geometric mean", "method", "budget", ">error %", "95 %")
	for _, row := range r.Geomean {
		of := report.Count(len(r.Studies), "study", "studies") + ", " + report.Count(r.Seeds, "seed", "seeds")
		g.Add(of, row.Method, row.Budget.text(), percent(row.RE),
			percent(row.CI95[0])+" – "+percent(row.CI95[1]))
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := g.Write(w); err != nil || len(r.Raced) == 0 {
		return err
	}
	t = report.NewTable(p, "with the race", "method", "budget", ">worse by %", "95 %", ">median %",
		">better", ">equal", ">worse", ">within 2 %", ">without")
	for _, c := range r.Raced {
		name := c.Study
		if name == "" {
			name = fmt.Sprintf("all %d", len(r.Studies))
		}
		t.Add(name, c.Method, c.Budget.text(), percent(math.Expm1(c.Mean)),
			percent(math.Expm1(c.CI95[0]))+" – "+percent(math.Expm1(c.CI95[1])), percent(math.Expm1(c.Median)),
			strconv.Itoa(c.Better), strconv.Itoa(c.Equal), strconv.Itoa(c.Worse),
			fmt.Sprintf("%.0f %%", 100*c.Near), fmt.Sprintf("%.0f %%", 100*c.Without))
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return t.Write(w)
}

func percent(x float64) string { return fmt.Sprintf("%.1f", 100*x) }

// text returns the budget for people.
func (b BudgetAt) text() string {
	switch b.Kind {
	case "trials":
		return fmt.Sprintf("%g trials", b.Value)
	case "budget-x":
		return fmt.Sprintf("%g × median", b.Value)
	}
	return report.Seconds(b.Value)
}
