package result

import (
	"fmt"
	"math"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/study"
)

// A Worker is a worker's comparison with its class, from the runs of a study. Its JSON is a contract.
type Worker struct {
	Where string `json:"where"`
	Class string `json:"class"`
	Runs  int    `json:"runs"`
	// Ratio is the ratio of its values to the values of the average worker of its class, estimated from all runs; CI95 is
	// the confidence interval, null without enough data.
	Ratio float64     `json:"ratio"`
	CI95  [2]*float64 `json:"ratio_ci95"`
}

func newWorkers(r study.Result) (all []Worker) {
	for _, e := range r.Workers {
		w := Worker{Where: e.Where, Class: e.Class, Runs: e.Runs, Ratio: e.Ratio}
		if !math.IsNaN(e.Error) && !math.IsInf(e.Error, 0) {
			low, high := e.Ratio*math.Exp(-1.96*e.Error), e.Ratio*math.Exp(1.96*e.Error)
			w.CI95 = [2]*float64{&low, &high}
		}
		all = append(all, w)
	}
	return all
}

// mostWorkers is how many workers are listed.
const mostWorkers = 12

// workerLines describes how workers compare.
func workerLines(l *report.Lines, all []Worker) {
	var lines []string
	for i, w := range all {
		if i == mostWorkers {
			lines = append(lines, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		text := fmt.Sprintf("%s: %d runs", w.Where, w.Runs)
		if w.Class != "" {
			text = fmt.Sprintf("%s of class %s: %d runs", w.Where, w.Class, w.Runs)
		}
		if low, high := w.CI95[0], w.CI95[1]; low != nil && high != nil && len(all) > 1 {
			text += fmt.Sprintf(", %s × its class [%s, %s]", report.Number(w.Ratio, 3), report.Number(*low, 3),
				report.Number(*high, 3))
		}
		lines = append(lines, text)
	}
	l.AddList("workers", lines)
}
