package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/view"
)

// mostCompared is the largest number of studies in a comparison, as in the API.
const mostCompared = 8

// A comparePage is the data of the page that compares studies.
type comparePage struct {
	All      []choosable
	Chosen   []string
	Contrast *result.Contrast // nil before two are chosen
	Hint     string           // a hint for the user; may be ""
	Act      Act
	gains    map[string]string // in words, by study
}

// A choosable is a study that can be chosen.
type choosable struct {
	Study, Objective string
	Chosen           bool
}

// compare shows studies side by side.
func (s *site) compare(v *visit) error {
	p := comparePage{Chosen: v.r.URL.Query()["s"]}
	all, err := v.API.Studies(v.ctx)
	if err != nil {
		return err
	}
	p.All, p.gains = chosen(all, p.Chosen), map[string]string{}
	for _, st := range all {
		p.gains[st.Study] = st.Gain
	}
	switch n := len(p.Chosen); {
	case len(all) < 2:
		p.Hint = "There are not two studies yet."
	case n < 2:
		p.Hint = "Choose the studies to compare: the first by name is the baseline."
	case n > mostCompared:
		p.Hint = fmt.Sprintf("At most %d studies are compared, and %d are chosen.", mostCompared, n)
	default:
		c, err := v.API.Compare(v.ctx, p.Chosen...)
		if err != nil {
			return err
		}
		p.Contrast = &c
		p.Act = Act{
			Command: "assay report " + report.ShellQuote(p.Chosen) + " -o compared.html",
			Method:  "GET", Path: "/api/v1/compare?" + url.Values{"s": p.Chosen}.Encode(),
		}
	}
	return v.render("compare.html", "Compare", p)
}

// chosen returns the studies to choose from.
func chosen(all []view.Study, names []string) (list []choosable) {
	for _, st := range all {
		list = append(list, choosable{st.Study, st.Objective, slices.Contains(names, st.Study)})
	}
	return list
}

// Names are the names of the studies for the module that draws them.
func (p comparePage) Names() (string, error) {
	b, err := json.Marshal(p.Chosen)
	return string(b), err
}

// Gain returns by how much the best of a side is better than its first.
func (p comparePage) Gain(s result.Side) string {
	return cmp.Or(p.gains[s.Study], "not measured")
}

// Best describes the best of a side.
func (p comparePage) Best(s result.Side) string {
	if s.Value == nil {
		return "–"
	}
	text := report.Metric(*s.Value, s.Objective.Unit)
	if s.Runs > 1 {
		text += fmt.Sprintf(", median of %d runs", s.Runs)
	}
	return text
}

// Counts returns how the trials of a side ended.
func (p comparePage) Counts(s result.Side) string { return s.Trials.Text() }

// Sign returns the mark of a difference, which stands beside its text.
func (p comparePage) Sign(v result.Versus) string {
	first := p.Contrast.Studies[0]
	better := "less"
	if first.Objective.Goal == "maximize" {
		better = "more"
	}
	switch v.Verdict {
	case better:
		return "better"
	case "less", "more":
		return "worse"
	}
	return "" // not shown, or not compared
}
