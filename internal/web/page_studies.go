package web

import (
	"slices"
	"strings"

	"github.com/assay-run/assay/rest/api"
)

// studies shows the studies, those that go on first, of which the name or the objective has what
// is asked for.
func (s *site) studies(v *visit) error {
	all, err := v.API.Studies(v.ctx)
	if err != nil {
		return err
	}
	p := studiesPage{Filter: v.r.URL.Query().Get("q")}
	p.Studies = slices.DeleteFunc(all, func(st api.Study) bool {
		has := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(p.Filter)) }
		return !has(st.Study) && !has(st.Objective)
	})
	return v.render("studies.html", "Studies", p)
}

type studiesPage struct {
	Studies []api.Study
	Filter  string // "" for all
}
