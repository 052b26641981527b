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
	"github.com/assay-run/assay/internal/noise"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
)

//go:embed web/*.js web/*.css web/*.html
var web embed.FS

// Options say what a report is made of.
type Options struct {
	Price   float64 // money for a second of one run; 0 for none
	Priced  string  // the price as it was given, for people
	Version string  // of the program
	Again   string  // the command that makes the report again, for a shell
	Now     time.Time
}

// Read reads what a page shows of a study.
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
	var trials []assay.Trial
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
	}
	if err := s.explain(r, trials); err != nil {
		return nil, err
	}
	samples, err := noise.Samples(r.Runs(ctx), r.Params.Text)
	if err != nil {
		return nil, err
	}
	s.Noise, err = noise.OfSamples(samples, r.Goal.Unit, noise.Options{Difference: 0.05, Error: 0.05})
	if err != nil && !errors.Is(err, assay.ErrTooFew) {
		return nil, err
	}
	return s, nil
}

// A shown is what the template of a report is filled with.
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

// source returns what a policy calls a script or a style that stands in the page itself.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
