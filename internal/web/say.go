package web

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/result"
)

// functions are the functions with which templates format numbers and texts, as on the command line.
var functions = template.FuncMap{
	"visible":      report.Visible,
	"path":         url.PathEscape, // of a name in an address
	"visibleLines": report.VisibleLines,
	"seconds":      func(s float64) string { return report.Seconds(s) },
	"number":       func(x float64) string { return report.Number(x, 4) },
	"metric": func(x *float64, unit string) string {
		if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
			return "–"
		}
		return report.Visible(report.Metric(*x, unit))
	},
	"value":  func(x float64, unit string) string { return report.Visible(report.Metric(x, unit)) },
	"nth":    func(i int) int { return i + 1 },
	"config": func(c map[string]any) string { return report.Visible(configText(c)) },
	"pairs":  pairs,
	"gain":   gain,
	"ago":    ago,
	"to":     func(study string) string { return "/s/" + url.PathEscape(study) },
	"ref":    ref,
	"inc":    func(i int) int { return i + 1 },
	"join":   strings.Join,
	"list":   func(acts ...Act) []Act { return acts },
	"stamp":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
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
	"word": word,
	// became returns the state of a trial with its word. levels is true if the study has runs below a full level.
	"became": func(state string, levels bool) struct{ State, Text string } {
		if state == "infeasible" && levels {
			return struct{ State, Text string }{state, "below full"}
		}
		return struct{ State, Text string }{state, word(state)}
	},
	// by is a column of the list of studies, in its head.
	"by": func(p studiesPage, name, class string) any {
		return struct {
			Page        studiesPage
			Name, Class string
		}{p, name, class}
	},
	"signed": func(x float64) string {
		return strings.Replace(fmt.Sprintf("%+.2f", x), "-", "−", 1)
	},
	"tone": func(state string) string { return tones[state] },
}

// tones are the names of the colours of states.
var tones = map[string]string{
	"done": "done", "censored": "stopped", "infeasible": "outside", "failed": "failed", "running": "running",
	"withdrawn": "muted",
}

// word returns the word for a state.
func word(state string) string {
	switch state {
	case "censored":
		return "stopped"
	case "infeasible":
		return "outside limits"
	case "running": // it may wait, or have been cut off by the end of the budget
		return "unfinished"
	}
	return state
}

// A pair is a parameter with its value.
type pair struct{ Name, Value string }

// pairs returns the values of parameters in order of their names.
func pairs(c map[string]any) (out []pair) {
	for name, x := range c {
		out = append(out, pair{report.Visible(name), report.Visible(fmt.Sprint(x))})
	}
	slices.SortFunc(out, func(a, b pair) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// gain returns by how much the best is better, worded as in the answer; nil without a gain.
func gain(a *api.Answer) *result.Figure { return a.Figure() }

// ago returns the time since t, as text.
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

// An Act is an action of a page, as a command and as a request: templates show it below the button by {{template "act"
// act "assay queue first x/3" "PATCH" "/api/v1/queue/x/3" "{…}"}}.
type Act struct{ Command, Method, Path, Body string }

func newAct(command, method, path, body string) Act { return Act{command, method, path, body} }
