package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/rest/api"
)

// mostCompared is how many studies are set beside each other, as the API has it.
const mostCompared = 8

// A comparePage is what the page that compares shows.
type comparePage struct {
	All      []choosable
	Chosen   []string
	Contrast *result.Contrast // nil before two are chosen
	Hint     string           // what is to be done, "" if nothing is
	Act      Act
}

// A choosable is a study that can be chosen.
type choosable struct {
	Study, Objective string
	Chosen           bool
}

// compare sets studies beside each other.
func (s *site) compare(v *visit) error {
	p := comparePage{Chosen: v.r.URL.Query()["s"]}
	all, err := v.API.Studies(v.ctx)
	if err != nil {
		return err
	}
	p.All = chosen(all, p.Chosen)
	switch n := len(p.Chosen); {
	case len(all) < 2:
		p.Hint = "There are not two studies yet."
	case n < 2:
		p.Hint = "Choose the studies to compare: the first by name is what the others are compared with."
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
func chosen(all []api.Study, names []string) (list []choosable) {
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

// Gain says by how much the best of a side is better than its first.
func (p comparePage) Gain(s result.Side) string {
	if s.Gain == nil {
		return "not measured"
	}
	return s.Gain.Text
}

// Best says what the best of a side is.
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

// Counts says how the trials of a side ended.
func (p comparePage) Counts(s result.Side) string { return s.Trials.Text() }

// Sign is how a difference is marked, beside what it says in words.
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
