package web

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
)

// A newPage is a study file under edit, with the server's check of it.
type newPage struct {
	Name, File string
	Wrong      string
	Hint       string
	Checked    *api.Checked
	Act        Act
	Check      Act
}

// exampleFile is the initial text of the form.
const exampleFile = `# The command, with the values of the parameters in it.
command: [sh, -c, 'sleep 0.{n}']
parameters:
  n: 1..9
objective: {minimize: elapsed}
budget: {trials: 20}
`

// newStudy shows the form in which a study is written.
func (s *site) newStudy(v *visit) error { return v.showNew(newPage{File: exampleFile}, http.StatusOK) }

func (v *visit) showNew(p newPage, status int) error {
	words := []string{"assay", "tune", "study.yaml", "--on", "fleet", "--detach"}
	body := `{"file":"…"}`
	if p.Name != "" {
		words = append(words, "--study", p.Name)
		body = `{"name":` + jsonText(p.Name) + `,"file":"…"}`
	}
	p.Act = Act{report.ShellQuote(words), http.MethodPost, "/api/v1/studies", body}
	p.Check = Act{"assay tune study.yaml --dry-run", http.MethodPost, "/api/v1/check", body}
	return v.show("new.html", "A new study", p, status)
}

// submitStudy checks the text and, if requested, starts the study. Errors are shown beside the text, which is kept.
func (s *site) submitStudy(v *visit) error {
	p := newPage{Name: v.r.PostFormValue("name"), File: v.r.PostFormValue("file")}
	sub := api.Submission{Name: p.Name, File: p.File}
	checked, err := v.API.Check(v.ctx, sub)
	if err == nil && v.r.PostFormValue("do") == "start" {
		var d api.Detail
		if d, err = v.API.Submit(v.ctx, sub); err == nil {
			said := d.Study.Study + " runs"
			if d.Resumed {
				said = d.Study.Study + " was there before, and goes on"
			}
			command := report.ShellQuote([]string{"assay", "study", "watch", d.Study.Study})
			return v.did("/s/"+url.PathEscape(d.Study.Study), said, command)
		}
	}
	if err != nil {
		p.Wrong, p.Hint = err.Error(), assay.HintOf(err)
		return v.showNew(p, cmp.Or(statuses[assay.ClassOf(err)], http.StatusInternalServerError))
	}
	p.Checked = &checked
	return v.showNew(p, http.StatusOK)
}
