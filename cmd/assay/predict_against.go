package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/stats"
)

// compared is what assay predict --against --json prints.
type compared struct {
	Study   string        `json:"study"`
	MAPE    float64       `json:"mape_percent"`
	Covered float64       `json:"covered"` // share of the runs that are in their interval
	Trained int           `json:"trained"` // trials left out, since the model was fitted to their assignment
	Runs    []comparedRun `json:"runs"`
}

type comparedRun struct {
	Trial    int64             `json:"trial"`
	At       map[string]string `json:"at"`
	Measured float64           `json:"measured_s"`
	Seconds  float64           `json:"seconds"`
	Low      float64           `json:"low_s"`
	High     *float64          `json:"high_s"`
	text     string
}

// predictAgainst compares a model with the trials of a study: the external test
// set of Shivam, Babu and Chase (2006, §4.1).
func predictAgainst(ctx context.Context, s streams, m *costmodel.Model, at, name string, asJSON bool) error {
	h, err := setup.ReadStore(ctx, at)
	if err != nil {
		return err
	}
	defer h.Close()
	r, err := readRecord(ctx, h, name)
	if err != nil {
		return noStudy(err, name)
	}
	var trained []map[string]string
	for _, run := range m.Runs() {
		trained = append(trained, textsOf(m.Space().Params, run.Config))
	}
	out := compared{Study: name}
	var measured, seconds []float64
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return err
		}
		if t.State != assay.Done && t.State != assay.Infeasible {
			continue
		}
		where := textsOf(r.Params, t.Config)
		if slices.ContainsFunc(trained, func(w map[string]string) bool { return maps.Equal(w, where) }) {
			out.Trained++
			continue
		}
		p, err := m.PredictAt(where)
		if err != nil {
			return usagef("study %s: %s", name, forPeople(err))
		}
		c := comparedRun{Trial: t.ID, At: where, Measured: t.Measurement.Elapsed.Seconds(), Seconds: p.Seconds, Low: p.Low, High: finite(p.High)}
		c.text = r.Params.Text(t.Config)
		out.Runs = append(out.Runs, c)
		measured, seconds = append(measured, c.Measured), append(seconds, p.Seconds)
		if c.Low <= c.Measured && c.Measured <= p.High {
			out.Covered++
		}
	}
	if len(out.Runs) == 0 {
		return usagef("study %s has no run to its end on an assignment that the model does not know", name)
	}
	out.Covered /= float64(len(out.Runs))
	out.MAPE = stats.MAPE(measured, seconds)
	if asJSON {
		return writeJSON(s.out, out)
	}
	return out.write(s.out)
}

func textsOf(params []assay.Param, c assay.Config) map[string]string {
	m := map[string]string{}
	for i, p := range params {
		m[p.Name] = p.Text(c[i])
	}
	return m
}

func (o compared) write(w io.Writer) error {
	t := report.NewTable(palette(w), ">trial", "at", ">measured", ">predicted", ">error %")
	for _, c := range o.Runs {
		t.Add(fmt.Sprint(c.Trial), c.text, report.Seconds(c.Measured), report.Seconds(c.Seconds), fmt.Sprintf("%+.1f", 100*(c.Seconds-c.Measured)/c.Measured))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	var l lines
	l.add("error", "%.1f %% on the average (MAPE) of %d runs on assignments that were not learned from", o.MAPE, len(o.Runs))
	l.add("interval", "%.0f %% of them are within it", 100*o.Covered)
	if o.Trained > 0 {
		l.add("left out", "%d on assignments that were", o.Trained)
	}
	return l.write(w)
}
