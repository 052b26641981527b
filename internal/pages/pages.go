package pages

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"io/fs"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/abtest"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
)

//go:embed web/*.js web/*.css web/*.html
var web embed.FS

// Options configure a report.
type Options struct {
	Price   float64 // money for a second of one run; 0 for none
	Priced  string  // the price as typed
	Version string  // of the program
	Again   string  // the command that makes the report again, for a shell
	Now     time.Time
}

// Read reads the data of a page about a study.
func Read(ctx context.Context, store result.Store, name string, o Options) (*Study, error) {
	r, err := result.Read(ctx, store, name)
	if err != nil {
		return nil, err
	}
	whole, err := r.Whole(ctx)
	if err != nil {
		return nil, err
	}
	whole.Trials = whole.Columns()
	s := &Study{Whole: whole, Words: whole.Lines(), Price: o.Price}
	s.File, s.IsFile = r.Definition.YAML()
	s.IsAsked = r.Definition.Asked
	if err := s.explain(ctx, r); err != nil {
		return nil, err
	}
	samples, err := abtest.Samples(r.Runs(ctx), r.Params.Text)
	if err != nil {
		return nil, err
	}
	noise := abtest.Options{Difference: 0.05, Error: 0.05, Maximize: r.Goal.Maximize}
	s.Noise, err = abtest.NoiseOf(samples, r.Goal.Unit, noise)
	if err != nil && !errors.Is(err, assay.ErrTooFew) {
		return nil, err
	}
	return s, nil
}

// A shown is the data of the report's template.
type shown struct {
	Options
	Studies []*Study
	Alike   bool // they have one objective
	Versus  []result.Versus
	Policy  string
	Style   template.CSS
	Script  template.JS
	Data    template.JS
}

// Write writes one file that shows studies, the first compared with each other.
func Write(w io.Writer, studies []*Study, o Options) error {
	script, err := link(func(name string) ([]byte, error) { return fs.ReadFile(Files(), name) }, "report.js")
	if err != nil {
		return err
	}
	style, err := web.ReadFile("web/style.css")
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"studies": studies}) // <, > and & are escaped
	if err != nil {
		return err
	}
	p := shown{
		Options: o, Studies: studies, Alike: true, Script: template.JS(script), Style: template.CSS(style),
		Data: template.JS(report.VisibleJSON(data)),
	}
	for i, s := range studies {
		p.Alike = p.Alike && s.Objective == studies[0].Objective
		if i > 0 && s.Objective == studies[0].Objective {
			p.Versus = append(p.Versus, result.NewVersus(studies[0].Whole, s.Whole))
		}
	}
	p.Policy = "default-src 'none'; script-src " + source(script) + "; style-src " + source(string(style)) +
		"; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
	t, err := template.New("report.html").Funcs(functions).ParseFS(web, "web/report.html")
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// source returns the source expression of a policy for an inline script or style.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
