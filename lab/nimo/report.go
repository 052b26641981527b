package nimo

import (
	"fmt"
	"io"

	"github.com/assay-run/assay/internal/report"
)

// Write writes a table for each experiment.
func Write(cells []Cell, w io.Writer, p report.Palette) error {
	return report.WriteBlocks(w, cells, func(c Cell) string { return c.Experiment }, func(cells []Cell) *report.Table {
		titles := []string{"program", cells[0].Experiment}
		for _, m := range cells[0].Minutes {
			titles = append(titles, ">"+fmt.Sprint(m))
		}
		titles = append(titles, ">min to 10 %", ">runs", ">of training", ">final", ">min", ">runs")
		t := report.NewTable(p, titles...)
		for _, c := range cells {
			row := []string{c.Program, c.Method}
			for _, e := range c.Errors {
				row = append(row, cellText(e, "%.1f"))
			}
			for _, x := range []*float64{c.To10, c.Runs10, c.WithoutScreening} {
				row = append(row, cellText(x, "%.0f"))
			}
			t.Add(append(row, fmt.Sprintf("%.1f", c.Final), fmt.Sprintf("%.0f", c.FinalMinutes),
				fmt.Sprintf("%.0f", c.FinalRuns))...)
		}
		return t
	})
}

func cellText(x *float64, format string) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf(format, *x)
}

// WriteData writes the comparison on recorded tables.
func WriteData(cells []DataCell, w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "data", ">programs", ">time", ">auto", ">random", ">random, linear", ">ratio",
		"95 %", ">auto runs", ">random runs", ">all at once")
	text := func(x float64) string { return fmt.Sprintf("%.1f", x) }
	for _, c := range cells {
		t.Add(c.Set, fmt.Sprint(c.Programs), fmt.Sprintf("%.0f %%", 100*c.Share), text(c.Auto), text(c.Random),
			text(c.Linear), fmt.Sprintf("%.2f", c.Ratio), fmt.Sprintf("%.2f – %.2f", c.CI95[0], c.CI95[1]),
			text(c.AutoRuns), text(c.RandRuns), text(c.All))
	}
	return t.Write(w)
}
