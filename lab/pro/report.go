package pro

import (
	"fmt"
	"io"

	"github.com/assay-run/assay/internal/report"
)

// Write writes the cells as tables, one for each experiment.
func Write(cells []Cell, w io.Writer, p report.Palette) error {
	return report.WriteBlocks(w, cells, func(c Cell) string { return c.Experiment }, func(cells []Cell) *report.Table {
		t := report.NewTable(p, "simplex", ">size r", ">NTT", "95 %")
		if cells[0].Experiment == "repeat" {
			t = report.NewTable(p, "noise", ">ρ", ">K", ">NTT", "95 %", ">median", "")
		}
		for i, c := range cells {
			ci := fmt.Sprintf("%.3f – %.3f", c.CI95[0], c.CI95[1])
			if c.Experiment == "simplex" {
				t.Add(c.Simplex, fmt.Sprint(c.Size), fmt.Sprintf("%.3f", c.NTT), ci)
				continue
			}
			mark := ""
			if Least(cells, i) {
				mark = "least"
			}
			t.Add(c.Noise, fmt.Sprintf("%.3g", c.Rho), c.Repeat, fmt.Sprintf("%.3f", c.NTT), ci,
				fmt.Sprintf("%.3f", c.Median), mark)
		}
		return t
	})
}
