package bench

import (
	"fmt"
	"io"

	"github.com/assay-run/assay/internal/report"
)

// Write writes the report as a table for people.
func (r FleetReport) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "fleet", "method", "arm", ">error %", "95 %", ">more than target", "95 %", ">runs")
	for _, row := range r.Rows {
		t.Add(row.Fleet, row.Method, row.Arm, percent(row.RE), percent(row.CI95[0])+" – "+percent(row.CI95[1]),
			percent(row.Behind), percent(row.BehindCI95[0])+" – "+percent(row.BehindCI95[1]),
			fmt.Sprintf("%.1f", row.Runs))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d trials, %d seeds; errors are on %s, relative to the best recorded there\n",
		r.Trials, r.Seeds, r.Target)
	return err
}
