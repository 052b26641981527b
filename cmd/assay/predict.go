package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/internal/report"
)

func predictCommand(s streams) *cobra.Command {
	var at []string
	var against, store, on, learnedOn string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "predict MODEL [--at NAME=VALUE,...]",
		Short: "predict how long a program runs on resources, by a model of assay learn",
		Long: `predict prints the time that a run is expected to take on an assignment of
resources, with an interval that holds 95 % of runs, and how much of it is
computing, waiting for the network and the disk, and other: one thread of many cores,
a busy machine or a sleep. Numbers between and beyond
those that were learned from are allowed; the interval says how far to trust
them. Without --at it describes the model.

With --against it is compared with the trials of a study on record: those on
assignments that the model has not been fitted to.`,
		Example: `  assay predict blast.model.json --at cpu=0.5,rtt=18ms,bandwidth=20Mbit
  assay predict blast.model.json --at cpu=1,rtt=2ms --at cpu=2,rtt=2ms --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := readModel(args[0])
			if err != nil {
				return err
			}
			if against != "" {
				return predictAgainst(cmd.Context(), s, m, store, against, asJSON)
			}
			there, err := readMachine("on", on)
			if err != nil {
				return err
			}
			here, err := readMachine("learned-on", learnedOn)
			if err != nil {
				return err
			}
			if here != nil && there == nil {
				return usagef("--learned-on needs --on: the profile of the machine to predict for")
			}
			if there != nil && len(at) == 0 {
				at = []string{""} // all from the profile
			}
			if len(at) == 0 {
				if asJSON {
					return writeJSON(s.out, newModelJSON(m))
				}
				return describeModel(s.out, m)
			}
			var ps []predicted
			for _, text := range at {
				p, err := predictAt(m, text, there, here)
				if err != nil {
					return err
				}
				ps = append(ps, p)
			}
			if asJSON {
				return writeJSON(s.out, ps)
			}
			return writePredictions(s.out, ps)
		},
	}
	cmd.Flags().StringArrayVar(&at, "at", nil, "an assignment, `NAME=VALUE,...`; may be repeated")
	cmd.Flags().StringVar(&on, "on", "", "a machine: a `file` of assay profile --json, for what --at leaves out")
	cmd.Flags().StringVar(&learnedOn, "learned-on", "", "the same of the machine of the model's runs: computing scales")
	cmd.Flags().StringVar(&against, "against", "", "compare with the trials of a `study` on record")
	cmd.Flags().StringVar(&store, "store", "", "where studies are kept: a `path` (default in $XDG_STATE_HOME/assay)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func readModel(file string) (*costmodel.Model, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError(err)
	}
	m := &costmodel.Model{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, usagef("%s: not a model of assay learn: %s", file, forPeople(err))
	}
	return m, nil
}

// predicted is one element of what assay predict --json prints.
type predicted struct {
	At       map[string]string  `json:"at"`
	Seconds  float64            `json:"seconds"`
	Low      float64            `json:"low_s"`
	High     *float64           `json:"high_s"` // null if there is no bound
	Parts    map[string]float64 `json:"parts_s,omitempty"`
	DataFlow float64            `json:"data_flow"`
	Fails    float64            `json:"fails"`                  // probability
	Beyond   []string           `json:"extrapolated,omitempty"` // what lies outside the runs, and how far
	parts    []part
	text     string
}

func (p predicted) high() string {
	if p.High == nil {
		return "any time"
	}
	return report.Seconds(*p.High)
}

// predictAt predicts at "NAME=VALUE,...".
func predictAt(m *costmodel.Model, text string, there, here machine) (predicted, error) {
	at := map[string]string{}
	for item := range items(text) {
		name, value, ok := strings.Cut(item, "=")
		if !ok || name == "" || value == "" {
			return predicted{}, usagef("--at %s: an assignment is written NAME=VALUE,...", text)
		}
		if _, twice := at[name]; twice {
			return predicted{}, usagef("--at %s: %s is given twice", text, name)
		}
		at[name] = value
	}
	there.fill(m, at)
	p, err := m.PredictAt(at)
	if err != nil {
		known := names(m.Space().Params, func(q assay.Param) string { return q.Name })
		return predicted{}, usagef("--at %s: %s (the model's attributes are %s)", text, forPeople(err), known)
	}
	if here != nil {
		p = scaled(p, there.slower(here))
	}
	out := predicted{At: at, Seconds: p.Seconds, Low: p.Low, High: finite(p.High), DataFlow: p.DataFlow, Fails: p.Fails, parts: partsOf(p)}
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

// beyondText says where an extrapolation goes, and how far.
func beyondText(b costmodel.Beyond) string {
	if math.IsInf(b.Ranges, 1) {
		return fmt.Sprintf("%s=%.6g, where all runs have %.6g", b.Attribute, b.Value, b.Ran)
	}
	return fmt.Sprintf("%s=%.6g is beyond the %.6g that was run by %.2g times the range of the runs",
		b.Attribute, b.Value, b.Ran, b.Ranges)
}

func writePredictions(w io.Writer, ps []predicted) error {
	if len(ps) == 1 {
		p := ps[0]
		var l lines
		l.add("at", "%s", p.text)
		l.add("time", "%s, from %s to %s for 95 %% of runs", report.Seconds(p.Seconds), report.Seconds(p.Low), p.high())
		for _, text := range p.Beyond {
			l.add("outside", "extrapolated: %s", text)
		}
		if len(p.parts) > 0 {
			l.add("limited by", "%s", shares(p.parts))
		}
		if p.Fails >= 0.05 {
			l.add("fails", "with a probability of %.0f %%", 100*p.Fails)
		}
		return l.write(w)
	}
	t := report.NewTable(palette(w), "at", ">time", ">from", ">to", "limited by", ">fails")
	for _, p := range ps {
		limited := "–"
		if len(p.parts) > 0 {
			limited = shares(p.parts)
		}
		if len(p.Beyond) > 0 {
			limited += "; extrapolated"
		}
		t.Add(p.text, report.Seconds(p.Seconds), report.Seconds(p.Low), p.high(), limited, fmt.Sprintf("%.0f %%", 100*p.Fails))
	}
	return t.Write(w)
}

// modelJSON is what assay predict --json prints without an assignment.
type modelJSON struct {
	Runs       int             `json:"runs"`
	Failed     int             `json:"failed"`
	Error      *float64        `json:"error_percent"`          // in leave-one-out cross-validation; null for one run
	Elsewhere  *float64        `json:"expected_error_percent"` // on assignments that were not run; likewise
	Attributes []attributeJSON `json:"attributes"`
	Limits     []limiting      `json:"limits,omitempty"`
	NoIO       int             `json:"runs_without_data_flow,omitempty"`
}

// attributeJSON is a resource that a model knows: a range of numbers, or values.
type attributeJSON struct {
	Name   string   `json:"name"`
	Min    *float64 `json:"min,omitempty"`
	Max    *float64 `json:"max,omitempty"`
	Values []string `json:"values,omitempty"`
}

func newModelJSON(m *costmodel.Model) modelJSON {
	j := modelJSON{Runs: len(m.Runs()), Failed: len(m.Failed()), Error: finite(m.Error()), Elsewhere: finite(m.Elsewhere()), Limits: limits(m), NoIO: withoutIO(m)}
	for _, q := range m.Space().Params {
		a := attributeJSON{Name: q.Name, Values: q.Levels}
		if q.Numeric() {
			a = attributeJSON{Name: q.Name, Min: &q.Lo, Max: &q.Hi}
		}
		j.Attributes = append(j.Attributes, a)
	}
	return j
}

// describeModel says what a model knows.
func describeModel(w io.Writer, m *costmodel.Model) error {
	var l lines
	l.add("runs", "%d, %d failed", len(m.Runs()), len(m.Failed()))
	if e := m.Error(); !math.IsNaN(e) {
		l.add("error", "%.1f %% on the average expected on what was not run; %.1f %% in leave-one-out", m.Elsewhere(), e)
	}
	for i, q := range m.Space().Params {
		label := ""
		if i == 0 {
			label = "attributes"
		}
		l.add(label, "%s", paramText(q))
	}
	for i, at := range limits(m) {
		label := ""
		if i == 0 {
			label = "limited by"
		}
		l.add(label, "%s", at.text)
	}
	for i, text := range m.Predictors() {
		label := ""
		if i == 0 {
			label = "predictors"
		}
		l.add(label, "%s", text)
	}
	addDataFlow(&l, m)
	return l.write(w)
}
