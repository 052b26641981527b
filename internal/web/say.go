package web

import (
	"html/template"
	"math"
	"time"

	"github.com/assay-run/assay/internal/report"
)

// functions are what templates say numbers and texts with: the words of the command line.
var functions = template.FuncMap{
	"visible":      report.Visible,
	"visibleLines": report.VisibleLines,
	"seconds":      func(s float64) string { return report.Seconds(s) },
	"number":       func(x float64) string { return report.Number(x, 4) },
	"metric": func(x *float64, unit string) string {
		if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
			return "–"
		}
		return report.Visible(report.Metric(*x, unit))
	},
	"nth":   func(i int) int { return i + 1 },
	"ago":   ago,
	"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"at": func(t time.Time) string {
		if t.IsZero() {
			return "–"
		}
		return t.Local().Format("2006-01-02 15:04:05")
	},
	"act": newAct,
	"mark": func(state string) string {
		return map[string]string{
			"done": "▪", "censored": "∧", "infeasible": "◇", "failed": "×", "running": "○", "withdrawn": "–",
		}[state]
	},
	"word": func(state string) string {
		switch state {
		case "censored":
			return "stopped"
		case "infeasible":
			return "outside limits"
		}
		return state
	},
	"tone": func(state string) string {
		return map[string]string{
			"done": "done", "censored": "stopped", "infeasible": "outside", "failed": "failed", "running": "running",
			"withdrawn": "muted",
		}[state]
	},
}

// ago says how long ago a time was.
func ago(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	d := time.Since(t)
	switch {
	case d < 2*time.Second:
		return "now"
	case d < time.Hour:
		return report.Duration(d.Truncate(time.Second)) + " ago"
	case d < 48*time.Hour:
		return report.Duration(d.Truncate(time.Minute)) + " ago"
	}
	return t.Local().Format("2006-01-02 15:04")
}

// An Act is what a page can do, as a command and as a request: templates show it below the
// button by {{template "act" act "assay queue first x/3" "PATCH" "/api/v1/queue/x/3" "{…}"}}.
type Act struct{ Command, Method, Path, Body string }

func newAct(command, method, path, body string) Act { return Act{command, method, path, body} }
