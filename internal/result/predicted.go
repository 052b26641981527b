package result

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/report"
)

// A Predicted is one element of the output of `assay predict --json`.
type Predicted struct {
	At       map[string]string  `json:"at"`
	Seconds  float64            `json:"seconds"`
	Low      float64            `json:"low_s"`
	High     *float64           `json:"high_s"` // null without a bound
	Parts    map[string]float64 `json:"parts_s,omitempty"`
	DataFlow float64            `json:"data_flow"`
	Fails    float64            `json:"fails"`                  // probability
	Beyond   []string           `json:"extrapolated,omitempty"` // values outside the range of the runs, and their distance
	// Elasticities are the changes of the time in percent if an attribute grows by 1 %; see [Predicted.Explain].
	Elasticities map[string]float64 `json:"elasticities,omitempty"`
	parts        []part
	text         string
}

// Explain adds the elasticities of the model's attributes. On another machine they are the elasticities of the
// prediction before scaling.
func (p *Predicted) Explain(m *costmodel.Model) (err error) {
	p.Elasticities, err = m.ElasticitiesAt(p.At)
	return err
}

// elasticities writes "cpu -0.71, rtt +0.29", the strongest first.
func (p Predicted) elasticities() string {
	names := slices.SortedFunc(maps.Keys(p.Elasticities), func(a, b string) int {
		return cmp.Or(cmp.Compare(math.Abs(p.Elasticities[b]), math.Abs(p.Elasticities[a])), cmp.Compare(a, b))
	})
	var texts []string
	for _, name := range names {
		texts = append(texts, fmt.Sprintf("%s %+.2f", name, p.Elasticities[name]))
	}
	return strings.Join(texts, ", ")
}

func (p Predicted) high() string {
	if p.High == nil {
		return "any time"
	}
	return report.Seconds(*p.High)
}

// Predict predicts at an assignment, the values of the model's attributes by their names. If on is another machine, not
// nil, attributes missing in at are taken from that machine, and added to at. The error is the error of
// [costmodel.Model.PredictAt].
func Predict(m *costmodel.Model, at map[string]string, on costmodel.Machine) (Predicted, error) {
	on.Fill(m, at)
	p, err := predict(m, at, on)
	if err != nil {
		return Predicted{}, err
	}
	out := Predicted{
		At: at, Seconds: p.Seconds, Low: p.Low, High: assay.Finite(p.High), DataFlow: p.DataFlow, Fails: p.Fails,
		parts: partsOf(p),
	}
	for _, q := range out.parts {
		if out.Parts == nil {
			out.Parts = map[string]float64{}
		}
		out.Parts[q.name] = q.seconds
	}
	for _, b := range m.BeyondRuns(at) {
		out.Beyond = append(out.Beyond, beyondText(b))
	}
	var words []string
	for _, q := range m.Space().Params {
		words = append(words, q.Name+"="+at[q.Name])
	}
	out.text = strings.Join(words, " ")
	return out, nil
}

// predict predicts on a machine, or on the machine of the runs if on is nil.
func predict(m *costmodel.Model, at map[string]string, on costmodel.Machine) (costmodel.Prediction, error) {
	if on == nil {
		return m.PredictAt(at)
	}
	return m.PredictOn(at, on)
}

// beyondText describes the direction and distance of an extrapolation.
func beyondText(b costmodel.Beyond) string {
	if math.IsInf(b.Ranges, 1) {
		return fmt.Sprintf("%s=%.6g, where all runs have %.6g", b.Attribute, b.Value, b.Ran)
	}
	return fmt.Sprintf("%s=%.6g is beyond the %.6g that was run by %.2g times the range of the runs",
		b.Attribute, b.Value, b.Ran, b.Ranges)
}

// WritePredictions prints predictions: one as lines, several as a table.
func WritePredictions(w io.Writer, p report.Palette, ps []Predicted) error {
	if len(ps) == 1 {
		q := ps[0]
		var l report.Lines
		l.Add("at", "%s", q.text)
		l.Add("time", "%s, from %s to %s for 95 %% of runs", report.Seconds(q.Seconds), report.Seconds(q.Low), q.high())
		for _, text := range q.Beyond {
			l.Add("outside", "extrapolated: %s", text)
		}
		if len(q.parts) > 0 {
			l.Add("limited by", "%s", shares(q.parts))
		}
		if len(q.Elasticities) > 0 {
			l.Add("elasticity", "%s: %% of the time for 1 %% more of each", q.elasticities())
		}
		if q.Fails >= 0.05 {
			l.Add("fails", "with a probability of %.0f %%", 100*q.Fails)
		}
		return l.Write(w)
	}
	t := report.NewTable(p, "at", ">time", ">from", ">to", "limited by", ">fails")
	for _, q := range ps {
		limited := "–"
		if len(q.parts) > 0 {
			limited = shares(q.parts)
		}
		if len(q.Beyond) > 0 {
			limited += " (extrapolated)"
		}
		if len(q.Elasticities) > 0 {
			limited += "; elasticities " + q.elasticities()
		}
		t.Add(q.text, report.Seconds(q.Seconds), report.Seconds(q.Low), q.high(), limited,
			fmt.Sprintf("%.0f %%", 100*q.Fails))
	}
	return t.Write(w)
}

// A Model is the output of `assay predict --json` without an assignment.
type Model struct {
	Runs       int         `json:"runs"`
	Failed     int         `json:"failed"`
	Error      *float64    `json:"error_percent"`          // in leave-one-out cross-validation; null for one run
	Elsewhere  *float64    `json:"expected_error_percent"` // on assignments that were not run; likewise
	Attributes []Attribute `json:"attributes"`
	Limits     []Limiting  `json:"limits,omitempty"`
	NoIO       int         `json:"runs_without_data_flow,omitempty"`
	// Measured are the runs that the model was fitted to.
	Measured []MeasuredRun `json:"measured"`
}

// A MeasuredRun is a run that a model was fitted to, with the prediction of the model without this run, from which the
// model's error is estimated.
type MeasuredRun struct {
	At      map[string]string `json:"at"`
	Seconds float64           `json:"measured_s"`
	Without *float64          `json:"without_s"` // null if it is the only one
}

// An Attribute is a resource that a model knows: a range of numbers, or values.
type Attribute struct {
	Name   string   `json:"name"`
	Min    *float64 `json:"min,omitempty"`
	Max    *float64 `json:"max,omitempty"`
	Values []string `json:"values,omitempty"`
}

// NewModel returns the content of a model.
func NewModel(m *costmodel.Model) Model {
	j := Model{
		Runs: len(m.Runs()), Failed: len(m.Failed()), Error: assay.Finite(m.Error()), Elsewhere: assay.Finite(m.Elsewhere()),
		Limits: limits(m), NoIO: withoutIO(m),
	}
	for _, q := range m.Space().Params {
		a := Attribute{Name: q.Name, Values: q.Levels}
		if q.Numeric() {
			a = Attribute{Name: q.Name, Min: &q.Lo, Max: &q.Hi}
		}
		j.Attributes = append(j.Attributes, a)
	}
	j.Measured = []MeasuredRun{}
	without := m.WithoutOne()
	for i, r := range m.Runs() {
		j.Measured = append(j.Measured, MeasuredRun{
			At: assignment(m.Space().Params, r.Config), Seconds: r.Seconds, Without: assay.Finite(without[i]),
		})
	}
	return j
}

// WriteModel prints the content of a model.
func WriteModel(w io.Writer, m *costmodel.Model) error {
	var l report.Lines
	l.Add("runs", "%d, %d failed", len(m.Runs()), len(m.Failed()))
	if e := m.Error(); !math.IsNaN(e) {
		l.Add("error", "%.1f %% expected on average for untried assignments; %.1f %% in leave-one-out", m.Elsewhere(), e)
	}
	var attributes []string
	for _, q := range m.Space().Params {
		attributes = append(attributes, ParamText(q))
	}
	l.AddList("attributes", attributes)
	l.AddList("limited by", textsOf(limits(m)))
	l.AddList("predictors", m.Predictors())
	noDataFlow(&l, withoutIO(m), len(m.Runs()))
	return l.Write(w)
}
