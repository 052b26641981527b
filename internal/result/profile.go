package result

import (
	"fmt"
	"io"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/workbench"
)

// A Reading is one attribute of a [Profile].
type Reading struct {
	Name     string      `json:"name"`
	Resource string      `json:"resource"`
	Unit     string      `json:"unit,omitempty"`
	Value    float64     `json:"value"`
	CI95     [2]*float64 `json:"ci95"` // null on a side without a bound
	Runs     int         `json:"runs"`
	Method   string      `json:"method"`
}

// A Profile is the output of `assay profile --json`: see docs/format/profile.md.
type Profile struct {
	Version    int                `json:"version"`
	Attributes map[string]float64 `json:"attributes"`
	Readings   []Reading          `json:"readings"`
	Warnings   []string           `json:"warnings"`
	Took       float64            `json:"took_s"`
}

// NewProfile returns a resource profile as data.
func NewProfile(p workbench.Profile) Profile {
	j := Profile{
		Version: 1, Attributes: p.Attributes(), Warnings: append([]string{}, p.Warnings...), Took: p.Took.Seconds(),
	}
	for _, r := range p.Readings {
		j.Readings = append(j.Readings, Reading{
			Name: r.Name, Resource: r.Resource, Unit: r.Unit, Method: r.Method,
			Value: r.Value.Value, CI95: [2]*float64{assay.Finite(r.Value.Low), assay.Finite(r.Value.High)}, Runs: r.Value.N,
		})
	}
	return j
}

// WriteProfile prints a resource profile.
func WriteProfile(p workbench.Profile, w io.Writer, colors report.Palette) error {
	t := report.NewTable(colors, "resource", "attribute", "value", ">runs", "method")
	last := ""
	for _, r := range p.Readings {
		resource := r.Resource
		if resource == last {
			resource = ""
		}
		last = r.Resource
		t.Add(resource, r.Name, report.Measured(r.Value.Value, r.Value.Low, r.Value.High, r.Unit),
			fmt.Sprint(r.Value.N), r.Method)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	for _, text := range p.Warnings {
		if _, err := fmt.Fprintf(w, "warning: %s\n", report.Visible(text)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "median and 95 %% interval; %s in all\n", report.Duration(p.Took))
	return err
}

// A DataProfile is the output of `assay profile --data --json`: see docs/format/profile.md.
type DataProfile struct {
	Version     int                `json:"version"`
	Data        string             `json:"data"`
	Attributes  map[string]float64 `json:"attributes"`
	Bytes       int64              `json:"bytes"`
	Files       int64              `json:"files"`
	Directories int64              `json:"directories"`
	Others      int64              `json:"others"`
	Quantiles   []Quantile         `json:"size_quantiles"`
}

// A Quantile is one of the sizes of the files.
type Quantile struct {
	Level float64 `json:"level"`
	Bytes float64 `json:"bytes"`
}

// NewDataProfile returns the profile of the data set that is named data.
func NewDataProfile(data string, p workbench.DataProfile) DataProfile {
	j := DataProfile{1, data, p.Attributes(), p.Bytes, p.Files, p.Directories, p.Others, []Quantile{}}
	levels := workbench.QuantileLevels()
	for i, q := range p.Quantiles {
		j.Quantiles = append(j.Quantiles, Quantile{levels[i], q})
	}
	return j
}

// Write prints the profile.
func (d DataProfile) Write(w io.Writer, _ report.Palette) error {
	var l report.Lines
	l.Add("bytes", "%s (%d B)", report.Bytes(float64(d.Bytes)), d.Bytes)
	l.Add("files", "%d in %d directories below %s", d.Files, d.Directories, d.Data)
	if d.Others > 0 {
		l.Add("others", "%d links, devices and pipes, not followed", d.Others)
	}
	var sizes []string
	for _, q := range d.Quantiles {
		name := fmt.Sprintf("%g %% quantile", 100*q.Level)
		switch q.Level {
		case 0:
			name = "least"
		case 0.5:
			name = "median"
		case 1:
			name = "greatest"
		}
		sizes = append(sizes, fmt.Sprintf("%-14s %s", name, report.Bytes(q.Bytes)))
	}
	l.AddList("size", sizes)
	return l.Write(w)
}
