package result

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// A Compared is the output of `assay predict --against --json`. Its JSON is a contract.
type Compared struct {
	Study   string        `json:"study"`
	MAPE    float64       `json:"mape_percent"`
	Covered float64       `json:"covered"` // share of the runs that are in their interval
	Trained int           `json:"trained"` // trials left out, since the model was fitted to their assignment
	Runs    []ComparedRun `json:"runs"`
}

// A ComparedRun is one measured run with its prediction.
type ComparedRun struct {
	Trial    int64             `json:"trial"`
	At       map[string]string `json:"at"`
	Measured float64           `json:"measured_s"`
	Seconds  float64           `json:"seconds"`
	Low      float64           `json:"low_s"`
	High     *float64          `json:"high_s"`
	text     string
}

// Against compares a model with the completed runs of a study on assignments that the model was not fitted to: the
// external test set of Shivam, Babu and Chase (2006, §4.1). It returns an error of class usage if no such run exists,
// or if the model cannot predict one.
//
// With a machine, on which the study ran in place of the machine of the model's runs, every run belongs to the test
// set.
func (r *Record) Against(ctx context.Context, m *costmodel.Model, on costmodel.Machine) (*Compared, error) {
	var trained []map[string]string
	for _, run := range m.Runs() {
		if on != nil {
			break
		}
		trained = append(trained, assignment(m.Space().Params, run.Config))
	}
	out := &Compared{Study: r.Name}
	var measured, seconds []float64
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return nil, err
		}
		if t.State != assay.Done && t.State != assay.Infeasible {
			continue
		}
		at := assignment(r.Params, t.Config)
		if slices.ContainsFunc(trained, func(w map[string]string) bool { return maps.Equal(w, at) }) {
			out.Trained++
			continue
		}
		p, err := predict(m, at, on)
		if err != nil {
			return nil, assay.Errorf(assay.ClassUsage, "study %s: %w", r.Name, err)
		}
		c := ComparedRun{
			Trial: t.ID, At: at, Measured: t.Measurement.Elapsed.Seconds(), Seconds: p.Seconds, Low: p.Low,
			High: assay.Finite(p.High), text: r.Params.Text(t.Config),
		}
		out.Runs = append(out.Runs, c)
		measured, seconds = append(measured, c.Measured), append(seconds, p.Seconds)
		if c.Low <= c.Measured && c.Measured <= p.High {
			out.Covered++
		}
	}
	if len(out.Runs) == 0 {
		return nil, assay.Errorf(assay.ClassUsage,
			"study %s has no run to its end on an assignment that the model does not know", r.Name)
	}
	out.Covered /= float64(len(out.Runs))
	out.MAPE = stats.MAPE(measured, seconds)
	return out, nil
}

// assignment returns a configuration as the texts of its values.
func assignment(params []assay.Param, c assay.Config) map[string]string {
	m := map[string]string{}
	for i, p := range params {
		m[p.Name] = p.Text(c[i])
	}
	return m
}

// Write prints the comparison.
func (o *Compared) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, ">trial", "at", ">measured", ">predicted", ">error %")
	for _, c := range o.Runs {
		t.Add(fmt.Sprint(c.Trial), c.text, report.Seconds(c.Measured), report.Seconds(c.Seconds),
			fmt.Sprintf("%+.1f", 100*(c.Seconds-c.Measured)/c.Measured))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	var l report.Lines
	l.Add("error", "%.1f %% on the average (MAPE) of %d runs on assignments that were not learned from",
		o.MAPE, len(o.Runs))
	l.Add("interval", "%.0f %% of them are within it", 100*o.Covered)
	if o.Trained > 0 {
		l.Add("left out", "%d on assignments that were", o.Trained)
	}
	return l.Write(w)
}
