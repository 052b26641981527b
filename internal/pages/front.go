package pages

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
)

// frontRow is a trial of a front as a page shows it.
type frontRow struct {
	Trial, Runs int64
	Values      []string // of the objectives
	Config      string
	Balanced    bool
}

// frontRows returns the front of a study with several objectives.
func frontRows(s *Study) (rows []frontRow) {
	if s.Front == nil {
		return nil
	}
	texts := s.Front.Texts()
	for k, m := range s.Front.Front {
		row := frontRow{
			Trial: m.Trial, Runs: int64(m.Runs), Config: report.Visible(s.config(m.Trial)),
			Balanced: m.Trial == s.Front.Balanced,
		}
		for _, text := range texts[k] {
			row.Values = append(row.Values, report.Visible(text))
		}
		rows = append(rows, row)
	}
	return rows
}

// objectiveText describes the objective of a study.
func objectiveText(s *Study) string {
	all := s.Objectives
	if len(all) == 0 {
		all = []result.Objective{s.Objective}
	}
	parts := make([]string, len(all))
	for i, o := range all {
		parts[i] = o.Goal + " " + o.Metric
	}
	return strings.Join(parts, ", ")
}

// The size of the picture of the hypervolume, and of its margins.
const (
	volumeWidth, volumeHeight = 640, 200
	volumeLeft, volumeBottom  = 50, 30
)

// volume draws the hypervolume against the time spent, without a script and without its own style.
func volume(s *Study) template.HTML {
	if s.Front == nil || len(s.Front.Curve) == 0 {
		return ""
	}
	curve := s.Front.Curve
	last := curve[len(curve)-1]
	for _, p := range curve {
		last.Spent = max(last.Spent, p.Spent)
	}
	x := func(spent float64) float64 {
		if last.Spent <= 0 {
			return volumeLeft
		}
		return volumeLeft + (volumeWidth-volumeLeft-10)*spent/last.Spent
	}
	y := func(v float64) float64 { return 10 + (volumeHeight-volumeBottom-10)*(1-v) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" fill="currentColor" font-size="12" width="100%%">`, volumeWidth,
		volumeHeight)
	fmt.Fprintf(&b, `<title>hypervolume against time: %.0f %% after %s</title>`, 100*last.Hypervolume,
		template.HTMLEscapeString(Span(last.Spent)))
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="currentColor" stroke-opacity="0.15"/>`,
			volumeLeft, volumeWidth-10, y(v), y(v))
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%.0f %%</text>`, volumeLeft-6, y(v)+4, 100*v)
	}
	for _, share := range []float64{0, 0.5, 1} {
		anchor := map[float64]string{0: "start", 0.5: "middle", 1: "end"}[share]
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="%s">%s</text>`, x(share*last.Spent), volumeHeight-8, anchor,
			template.HTMLEscapeString(Span(share*last.Spent)))
	}
	fmt.Fprintf(&b, `<path fill="none" stroke="currentColor" stroke-width="2" d="M%.1f %.1f`, x(0), y(0))
	for _, p := range curve {
		fmt.Fprintf(&b, "H%.1fV%.1f", x(p.Spent), y(p.Hypervolume))
	}
	b.WriteString(`"/></svg>`)
	return template.HTML(b.String()) // numbers and escaped texts
}
