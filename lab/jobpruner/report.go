package jobpruner

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// Write writes the tables for people: the data sets, then one for each of its [Report.Parts].
func (r Report) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "data set", ">environments", ">mean best NCC", ">mean best rank correlation",
		">least")
	for _, s := range r.DataSets {
		t.Add(s.Name, fmt.Sprint(len(s.Environments)), summary("%.4f", s.NCC, stats.Mean),
			summary("%.2f", s.Rank, stats.Mean), summary("%.2f", s.Rank, slices.Min[[]float64]))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	hundredths := func(x float64) string { return fmt.Sprintf("%.2f", 100*x) } // of a per cent
	for _, part := range r.Parts() {
		t := report.NewTable(p, "data set", "method", "use", "alpha", "kb", ">budget %", ">trials",
			">error %", "95 %", ">to none", "95 %", ">similar", ">pruned %", "95 %")
		for _, row := range part.Rows {
			similar := "–"
			if row.SimRatio > 0 || row.Similar > 0 {
				similar = fmt.Sprintf("%.2f", row.SimRatio)
			}
			t.Add(row.DataSet, row.Method, strings.TrimSpace(row.Use+" "+row.Surrogate), row.Alpha, row.KB,
				fmt.Sprintf("%g", row.Budget), fmt.Sprintf("%.0f", row.Trials), hundredths(row.Error),
				hundredths(row.CI95[0])+" – "+hundredths(row.CI95[1]), fmt.Sprintf("%.2f", row.Ratio),
				fmt.Sprintf("%.2f – %.2f", row.RatioCI95[0], row.RatioCI95[1]), similar, hundredths(row.Pruned),
				hundredths(row.PrunedCI[0])+" – "+hundredths(row.PrunedCI[1]))
		}
		if _, err := fmt.Fprintf(w, "\n%s\n", part.Title); err != nil {
			return err
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	return nil
}

// summary returns a figure of the correlations that there are, or a dash.
func summary(format string, c Correlations, of func([]float64) float64) string {
	if known := c.known(); len(known) > 0 {
		return fmt.Sprintf(format, of(known))
	}
	return "–"
}
