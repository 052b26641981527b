package web

import (
	"fmt"
	"math"
	"net/url"
	"strconv"

	"github.com/assay-run/assay/internal/prior"
	"github.com/assay-run/assay/internal/report"
)

// judgedAfter is the default number of trials after which other studies would prune the space of a study.
const judgedAfter = 10

// A kbPage is the data of the knowledge page.
type kbPage struct {
	Families []prior.Family // of two studies at least
	Alone    []prior.Member // studies that are the only one of their family
	Apart    []prior.Apart
	All      []string // names of studies to choose from
	Study    string   // that is looked at, "" if none is
	After    int
	Similar  []prior.Similar
	Pruned   *prior.Pruned
	// Unlike is the reason why the study cannot be compared.
	Unlike       string
	Like, Prunes Act
}

// knowledge shows which studies are alike and, for one study, which values the others would prune.
func (s *site) knowledge(v *visit) error {
	q := v.r.URL.Query()
	p := kbPage{Study: q.Get("s"), After: judgedAfter}
	if n, err := strconv.Atoi(q.Get("after")); err == nil && n > 0 {
		p.After = min(n, 10_000)
	}
	families, apart, err := v.API.Knowledge(v.ctx)
	if err != nil {
		return err
	}
	p.Apart = apart
	for _, f := range families {
		if len(f.Studies) == 1 {
			p.Alone = append(p.Alone, f.Studies...)
			continue
		}
		p.Families = append(p.Families, f)
	}
	all, err := v.API.Studies(v.ctx)
	if err != nil {
		return err
	}
	for _, st := range all {
		p.All = append(p.All, st.Study)
	}
	if p.Study != "" {
		if err := p.look(v); err != nil {
			return err
		}
	}
	return v.render("kb.html", "Knowledge", p)
}

// look fills in the data about one study. It is no error of the page if the study cannot be compared.
func (p *kbPage) look(v *visit) (err error) {
	if p.Similar, err = v.API.Similar(v.ctx, p.Study); err != nil {
		if isConflict(err) {
			p.Unlike = err.Error()
			return nil
		}
		return err
	}
	pruned, err := v.API.Pruned(v.ctx, p.Study, p.After)
	if err != nil {
		return err
	}
	p.Pruned = &pruned
	name, path := report.ShellQuote([]string{p.Study}), "/api/v1/studies/"+url.PathEscape(p.Study)
	p.Like = Act{"assay study similar " + name, "GET", path + "/similar", ""}
	p.Prunes = Act{
		fmt.Sprintf("assay study similar %s --prune --after %d", name, p.After),
		"GET", fmt.Sprintf("%s/pruned?after=%d", path, p.After), "",
	}
	return nil
}

// Correlation returns the similarity of a study.
func (p kbPage) Correlation(s prior.Similar) string {
	if s.Correlation == nil {
		return "–"
	}
	text := fmt.Sprintf("%.2f", *s.Correlation)
	if s.Estimate {
		return "~" + text
	}
	if low, high, ok := within(*s.Correlation, s.Points); ok {
		text += fmt.Sprintf(" [%.2f, %.2f]", low, high)
	}
	return text
}

// within returns the 95 % confidence interval of a correlation of n points, by the transformation of Fisher (1915).
func within(r float64, n int) (low, high float64, ok bool) {
	if n < 4 || math.Abs(r) >= 1 {
		return 0, 0, false
	}
	z, half := math.Atanh(r), 1.96/math.Sqrt(float64(n-3))
	return math.Tanh(z - half), math.Tanh(z + half), true
}

// Tone is the class of a correlation: r0 to r10 from none to 1, and below 0 one for all.
func (p kbPage) Tone(r *float64) string {
	switch {
	case r == nil:
		return "none"
	case *r < 0:
		return "less"
	}
	return fmt.Sprintf("r%d", int(10*min(*r, 1)+0.5))
}

// Cell is a correlation in the map.
func (p kbPage) Cell(r *float64) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("~%.2f", *r)
}

// Objective returns the objective of a family.
func (p kbPage) Objective(f prior.Family) string {
	if f.Maximize {
		return "maximize " + f.Metric
	}
	return "minimize " + f.Metric
}

// Left is the share of the space that would be left.
func (p kbPage) Left() string { return report.Number(100*p.Pruned.Left, 3) + " %" }
