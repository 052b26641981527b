package cello

import (
	"fmt"
	"io"
	"math"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// Write writes the rows as tables, one for each experiment. An error is also given as a multiple of the
// error of the first method of its study; the last lines have the means over the studies: geometric for
// multiples, arithmetic for times.
func Write(rows []Row, w io.Writer, p report.Palette) error {
	return report.WriteBlocks(w, rows, func(r Row) string { return r.Experiment }, func(rows []Row) *report.Table {
		switch rows[0].Experiment {
		case "overhead":
			return overheadTable(rows, p)
		case "same":
			return sameTable(rows, p)
		}
		return errorTable(rows, p)
	})
}

// multiples returns the error of each row as a multiple of the error of the first row of its study.
func multiples(rows []Row, of func(Row) float64) []float64 {
	first := map[string]float64{}
	var xs []float64
	for _, r := range rows {
		if _, ok := first[r.Study]; !ok {
			first[r.Study] = of(r)
		}
		xs = append(xs, of(r)/first[r.Study])
	}
	return xs
}

// methods returns the methods of some rows, each once.
func methods(rows []Row) (names []string) {
	seen := map[string]bool{}
	for _, r := range rows {
		if !seen[r.Method] {
			seen[r.Method] = true
			names = append(names, r.Method)
		}
	}
	return names
}

// geomeans returns, by method, the geometric mean of multiples over studies.
func geomeans(rows []Row, multiples []float64) map[string]float64 {
	logs := map[string][]float64{}
	for i, r := range rows {
		logs[r.Method] = append(logs[r.Method], math.Log(multiples[i]))
	}
	out := map[string]float64{}
	for m, x := range logs {
		out[m] = math.Exp(stats.Mean(x))
	}
	return out
}

func errorTable(rows []Row, p report.Palette) *report.Table {
	t := report.NewTable(p, "study", "predictions of", ">how many", ">MSE", "95 %", ">× the first")
	times := multiples(rows, func(r Row) float64 { return r.MSE })
	for i, r := range rows {
		t.Add(r.Study, r.Method, fmt.Sprint(r.Predictions), report.Number(r.MSE, 3),
			report.Number(r.CI95[0], 3)+" – "+report.Number(r.CI95[1], 3), report.Number(times[i], 3))
	}
	mean := geomeans(rows, times)
	for _, m := range methods(rows) {
		t.Add("geometric mean", m, "", "", "", report.Number(mean[m], 3))
	}
	return t
}

func sameTable(rows []Row, p report.Palette) *report.Table {
	titles := []string{"study", "regression", ">MSE", ">× the first"}
	for k := range tenths {
		titles = append(titles, fmt.Sprintf(">%d/10", k+1))
	}
	t := report.NewTable(p, titles...)
	times := multiples(rows, func(r Row) float64 { return r.MSE })
	parts := make([][]float64, tenths)
	for k := range parts {
		parts[k] = multiples(rows, func(r Row) float64 { return r.Parts[k] })
	}
	for i, r := range rows {
		line := []string{r.Study, r.Method, report.Number(r.MSE, 3), report.Number(times[i], 3)}
		for k := range parts {
			line = append(line, report.Number(parts[k][i], 3))
		}
		t.Add(line...)
	}
	mean := geomeans(rows, times)
	for _, m := range methods(rows) {
		line := []string{"geometric mean", m, "", report.Number(mean[m], 3)}
		for k := range parts {
			line = append(line, report.Number(geomeans(rows, parts[k])[m], 3))
		}
		t.Add(line...)
	}
	return t
}

func overheadTable(rows []Row, p report.Palette) *report.Table {
	t := report.NewTable(p, "study", "method", ">trials", ">ms a trial", "95 %", ">searching", ">deciding")
	line := func(study, method, trials, interval string, r Row) {
		t.Add(study, method, trials, report.Number(r.OverheadMS, 3), interval, report.Number(r.LearningMS, 3),
			report.Number(r.DecidingMS, 3))
	}
	mean := map[string]*Row{}
	n := map[string]float64{}
	for _, r := range rows {
		line(r.Study, r.Method, report.Number(r.Trials, 3),
			report.Number(r.OverheadCI[0], 3)+" – "+report.Number(r.OverheadCI[1], 3), r)
		m := mean[r.Method]
		if m == nil {
			m = new(Row)
			mean[r.Method] = m
		}
		m.OverheadMS, m.LearningMS = m.OverheadMS+r.OverheadMS, m.LearningMS+r.LearningMS
		m.DecidingMS += r.DecidingMS
		n[r.Method]++
	}
	for _, name := range methods(rows) {
		m := mean[name]
		line("mean", name, "", "", Row{
			OverheadMS: m.OverheadMS / n[name], LearningMS: m.LearningMS / n[name], DecidingMS: m.DecidingMS / n[name],
		})
	}
	return t
}
