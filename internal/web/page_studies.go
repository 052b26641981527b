package web

import (
	"github.com/assay-run/assay/rest/api"
)

// studies shows the studies, those that go on first.
func (s *site) studies(v *visit) error {
	all, err := v.API.Studies(v.ctx)
	if err != nil {
		return err
	}
	return v.render("studies.html", "Studies", studiesPage{Studies: all})
}

type studiesPage struct{ Studies []api.Study }
