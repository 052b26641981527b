package pages

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
)

// functions are the functions with which the template formats numbers and texts, as on the command line.
var functions = template.FuncMap{
	"visible": report.Visible, "visibleLines": report.VisibleLines,
	"span":  func(x result.Real) string { return Span(float64(x)) },
	"share": func(x float64) string { return report.Number(100*max(x, 0), 2) + " %" },
	"best": func(s *Study) string {
		if s.Best == 0 {
			return "–"
		}
		if s.Front != nil {
			return fmt.Sprintf("%d in the front", len(s.Front.Front))
		}
		value := float64(s.Value)
		if a := s.Whole.Answer; a != nil {
			value = a.Value
		}
		return report.Visible(report.Metric(value, s.Objective.Unit))
	},
	"counts": func(s *Study) string {
		n, rest, _ := strings.Cut(s.Counts.Text(), ": ")
		if n == "1" {
			return "1 trial: " + rest
		}
		return n + " trials: " + rest
	},
	"objective":  objectiveText,
	"frontRows":  frontRows,
	"volume":     volume,
	"bestConfig": func(s *Study) string { return report.Visible(s.config(s.Best)) },
	"moneySpent": func(s *Study) string { spent, _ := s.Money(); return amount(spent) },
	"moneySaved": func(s *Study) string { _, saved := s.Money(); return amount(saved) },
	"answer":     answer, "differs": differs, "atEnds": atEnds, "firstName": firstName,
	"gain": gain, "gainShort": func(s *Study) string {
		if g := gain(s); g != nil {
			return g.Big
		}
		return "not measured"
	},
	"noiseLines": func(s *Study) []report.Entry { return merged(s.Noise.Lines(0.05).Entries()) },
}

// amount formats money, in the unit of the price.
func amount(x float64) string {
	if x >= 0.01 || x == 0 {
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return report.Number(x, 2)
}

// firstName returns the name of the baseline.
func firstName(s *Study) string { return result.Baseline(s.Default, s.First) }

// param returns the text of the i-th parameter of a trial.
func (s *Study) param(i int, id int64) string {
	c := s.Line(id).Config
	if c == nil || !assay.Active(s.Table.Params, c, i) {
		return "–"
	}
	return s.Table.Params[i].Text(c[i])
}

func (s *Study) config(id int64) string {
	if s.Line(id).ID == 0 {
		return "–"
	}
	text := ""
	for i, p := range s.Params {
		if i > 0 {
			text += " "
		}
		text += p.Name + "=" + s.param(i, id)
	}
	return text
}

// answer returns the answer with continuation lines joined.
func answer(s *Study) []report.Entry { return merged(s.Words) }

// merged joins lines without a label to those before them.
func merged(of []report.Entry) (out []report.Entry) {
	for _, e := range of {
		if n := len(out); e.Label == "" && n > 0 {
			out[n-1].Text += "\n" + e.Text
			continue
		}
		out = append(out, e)
	}
	return out
}

// gain returns by how much the best is better, worded as in the answer; nil without a gain.
func gain(s *Study) *result.Figure { return s.Figure() }

// A difference is a parameter at the best and at the first configuration.
type difference struct{ Name, Best, First, Range string }

// differs returns the parameters of the best configuration next to the parameters of the first.
func differs(s *Study) (out []difference) {
	if s.Best == 0 {
		return nil
	}
	for i, p := range s.Params {
		d := difference{Name: p.Name, Best: s.param(i, s.Best), First: "–"}
		if s.First > 0 {
			d.First = s.param(i, s.First)
		}
		switch n := len(p.Levels); {
		case n == 0:
			d.Range = assay.FormatNumber(float64(p.Lo)) + " to " + assay.FormatNumber(float64(p.Hi))
		case n <= 6:
			for k, l := range p.Levels {
				if k > 0 {
					d.Range += ", "
				}
				d.Range += l
			}
		default:
			d.Range = fmt.Sprintf("%d values, %s to %s", n, p.Levels[0], p.Levels[n-1])
		}
		for _, text := range []*string{&d.Name, &d.Best, &d.First, &d.Range} {
			*text = report.Visible(*text)
		}
		out = append(out, d)
	}
	return out
}

// atEnds lists the parameters whose best value is at an end of the tried range.
func atEnds(s *Study) (out []string) {
	c := s.Line(s.Best).Config
	if c == nil {
		return nil
	}
	for i, p := range s.Table.Params {
		x, lo, hi := c[i], p.Lo, p.Hi
		switch {
		case !assay.Active(s.Table.Params, c, i): // it is at no end
			continue
		case p.Levels != nil && (p.Kind != assay.Ordinal || len(p.Levels) < 3):
			continue
		case p.Levels != nil:
			lo, hi = 0, float64(len(p.Levels)-1)
		}
		if lo < hi && (x == lo || x == hi) {
			out = append(out, report.Visible(fmt.Sprintf("%s=%s is an end of the tried range: values beyond it may be better.",
				p.Name, s.param(i, s.Best))))
		}
	}
	return out
}
