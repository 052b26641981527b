package bench

import (
	"fmt"
	"io"

	"github.com/assay-run/assay/internal/report"
)

// Write writes the report as tables for people.
func (r Report) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "study", "method", "budget", ">error %", "95 %", ">median %",
		">trials", ">completed", ">overhead ms")
	for _, row := range r.Rows {
		t.Add(row.Study, row.Method, row.Budget.text(), percent(row.Mean),
			percent(row.CI95[0])+" – "+percent(row.CI95[1]), percent(row.Median),
			fmt.Sprintf("%.1f", row.Trials), fmt.Sprintf("%.1f", row.Completed),
			fmt.Sprintf("%.2f", row.OverheadMSPerTrial))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	g := report.NewTable(p, "geometric mean", "method", "budget", ">error %", "95 %")
	for _, row := range r.Geomean {
		g.Add(fmt.Sprintf("%d studies, %d seeds", len(r.Studies), r.Seeds), row.Method, row.Budget.text(), percent(row.RE),
			percent(row.CI95[0])+" – "+percent(row.CI95[1]))
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return g.Write(w)
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
