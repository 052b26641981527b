package view

import (
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// Reason returns the reason of the state of a trial. If it broke limits, their metrics are beside them:
// "breaks max_rss <= 48e6: 50.9 MB of 48 MB". The reason on record has no values.
func Reason(g assay.Goal, t assay.Trial) string {
	return reason(g, t.State, t.Reason, t.Measurement.Metric)
}

func reason(g assay.Goal, state assay.State, recorded string, metric func(string) (float64, bool)) string {
	if state != assay.Infeasible {
		return recorded
	}
	var all []string
	for _, b := range g.AllBroken(metric) {
		if b.Bounded {
			b.Text += ": " + report.Beside(b.Value, b.Limit, b.Unit, b.Lower)
		}
		all = append(all, b.Text)
	}
	if len(all) == 0 { // below the full level, or of another definition
		return recorded
	}
	return "breaks " + strings.Join(all, ", ")
}
