package web

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/view"
)

// isConflict reports whether err means that a study has too few runs, or none that can be compared.
func isConflict(err error) bool {
	return assay.ClassOf(err) == assay.ClassConflict && !errors.Is(err, fs.ErrNotExist)
}

// A modelPage is the data of the page of cost models.
type modelPage struct {
	All   []string
	Study string
	// None is the reason why no model exists.
	None       string
	Model      *result.StudyModel
	Attributes []attributeField
	At         map[string]string
	Predicted  *result.Predicted
	Wrong      string // the fault of the attributes to predict at
	Learn      Act
	Predict    Act
}

// An attributeField is one resource in the form.
type attributeField struct {
	result.Attribute
	Value string
	Ran   string // the values of the runs, as text
}

// model shows the cost model of a study and its predictions.
func (s *site) model(v *visit) error {
	q := v.r.URL.Query()
	p := modelPage{Study: q.Get("s")}
	all, err := v.API.Studies(v.ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b view.Study) int { return newest(b).Compare(newest(a)) })
	for _, st := range all {
		if st.Done == 0 {
			continue // a model needs a run that ended
		}
		d, err := v.API.Brief(v.ctx, st.Study)
		if err != nil {
			return err
		}
		if d.Learns {
			p.All = append(p.All, st.Study)
		}
	}
	if p.Study != "" && !slices.Contains(p.All, p.Study) {
		p.All = append(p.All, p.Study)
	}
	if p.Study == "" && len(p.All) > 0 {
		p.Study = p.All[0]
	}
	if p.Study != "" {
		if err := p.look(v, q); err != nil {
			return err
		}
	}
	return v.render("model.html", "Model", p)
}

// look fills in the data about a study. It is no error of the page if the study has no model.
func (p *modelPage) look(v *visit, q url.Values) error {
	m, err := v.API.Model(v.ctx, p.Study)
	if isConflict(err) {
		p.None = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	p.Model = &m
	p.At = p.start()
	for _, a := range m.Attributes {
		if given := q.Get("a." + a.Name); given != "" {
			p.At[a.Name] = given
		}
		p.Attributes = append(p.Attributes, attributeField{a, p.At[a.Name], p.ran(a)})
	}
	p.acts()
	at := map[string]any{}
	for name, text := range p.At {
		at[name] = text
	}
	ps, err := v.API.Predict(v.ctx, p.Study, api.Prediction{At: []map[string]any{at}, Explain: true})
	switch {
	case err == nil && len(ps) == 1:
		p.Predicted = &ps[0]
	case assay.ClassOf(err) == assay.ClassUsage:
		p.Wrong = err.Error()
	default:
		return err
	}
	return nil
}

// start returns the initial values of a prediction: the values of the median run.
func (p *modelPage) start() map[string]string {
	runs := slices.SortedStableFunc(slices.Values(p.Model.Measured), func(a, b result.MeasuredRun) int {
		return cmp.Compare(a.Seconds, b.Seconds)
	})
	if len(runs) == 0 {
		return map[string]string{}
	}
	return maps.Clone(runs[len(runs)/2].At)
}

// ran returns the range of an attribute over the runs, as text.
func (p *modelPage) ran(a result.Attribute) string {
	var texts []string
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, r := range p.Model.Measured {
		if text := r.At[a.Name]; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		if x, ok := assay.Number(r.At[a.Name]); ok {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	if a.Min != nil && lo <= hi {
		return fmt.Sprintf("run at %s to %s", assay.FormatNumber(lo), assay.FormatNumber(hi))
	}
	// The values of an ordinal are in the order that the attribute has.
	slices.SortFunc(texts, func(x, y string) int { return slices.Index(a.Values, x) - slices.Index(a.Values, y) })
	return "run at " + strings.Join(texts[:min(len(texts), 8)], ", ")
}

// acts fills in the same as commands and requests.
func (p *modelPage) acts() {
	file := report.ShellQuote([]string{p.Study + ".model.json"})
	path := "/api/v1/studies/" + url.PathEscape(p.Study)
	p.Learn = Act{"assay learn --from " + report.ShellQuote([]string{p.Study}), "GET", path + "/model", ""}
	var at, body []string
	for _, a := range p.Model.Attributes {
		at = append(at, a.Name+"="+p.At[a.Name])
		body = append(body, fmt.Sprintf("%q: %q", a.Name, p.At[a.Name]))
	}
	p.Predict = Act{
		"assay predict " + file + " --explain --at " + report.ShellQuote([]string{strings.Join(at, ",")}),
		"POST", path + "/predict", `{"at": [{` + strings.Join(body, ", ") + `}], "explain": true}`,
	}
}

// A partRow is one part of a predicted time.
type partRow struct {
	Name    string
	Seconds float64
	Share   string
}

// Parts are the parts of the predicted time, the largest first.
func (p modelPage) Parts() (rows []partRow) {
	total := 0.0
	for name, s := range p.Predicted.Parts {
		rows, total = append(rows, partRow{Name: name, Seconds: s}), total+s
	}
	slices.SortFunc(rows, func(a, b partRow) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), strings.Compare(a.Name, b.Name))
	})
	for i := range rows {
		rows[i].Share = "–"
		if total > 0 {
			rows[i].Share = report.Number(100*rows[i].Seconds/total, 3) + " %"
		}
	}
	return rows
}

// High is the upper end of the interval.
func (p modelPage) High() string {
	if p.Predicted.High == nil {
		return "any time"
	}
	return report.Seconds(*p.Predicted.High)
}

// Percent formats a percentage.
func (p modelPage) Percent(x *float64) string {
	if x == nil {
		return "–"
	}
	return report.Number(*x, 3) + " %"
}

// Error returns the error of a run's prediction from the other runs.
func (p modelPage) Error(r result.MeasuredRun) string {
	if r.Without == nil || r.Seconds == 0 {
		return "–"
	}
	return report.Percent(*r.Without/r.Seconds - 1)
}

// Without returns the prediction of a run from the other runs.
func (p modelPage) Without(r result.MeasuredRun) string {
	if r.Without == nil {
		return "–"
	}
	return report.Seconds(*r.Without)
}

// Text is an assignment in words.
func (p modelPage) Text(at map[string]string) string {
	var words []string
	for _, a := range p.Model.Attributes {
		words = append(words, a.Name+"="+at[a.Name])
	}
	return strings.Join(words, " ")
}

// Number writes a number of an attribute as a field has it.
func (p modelPage) Number(x *float64) string { return assay.FormatNumber(*x) }

// Fails returns the probability that a run fails, "" if it is small.
func (p modelPage) Fails() string {
	if p.Predicted.Fails < 0.05 {
		return ""
	}
	return report.Number(100*p.Predicted.Fails, 2) + " %"
}
