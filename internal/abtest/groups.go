package abtest

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// A Group holds the runs of one worker, or of the machines of one class, among the runs of
// configurations that were run more than once. Each is compared with the median of its configuration, so
// that runs of different configurations can be combined.
type Group struct {
	Worker       string `json:"worker,omitempty"` // "" for a class
	MachineClass string `json:"class"`
	Runs         int    `json:"runs"`
	Configs      int    `json:"configurations"`
	// Min, Median and Max are parts of the median of the configuration.
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
	// CV is the standard deviation of the runs of one configuration in this group around their mean, as a part
	// of the median of the configuration, over all of its configurations; null where it has run none twice.
	CV *float64 `json:"cv"`
}

// groups returns the runs of samples in groups by the result of of for each, in the order of classes and
// workers. Runs with an empty group are left out.
func groups(samples []NoiseSample, of func(Maker) Group) []Group {
	type gathered struct {
		Group
		parts   []float64
		squares float64
		free    int
	}
	by := map[Group]*gathered{}
	for _, s := range samples {
		m := math.Abs(stats.Median(s.Values))
		if len(s.Values) < 2 || len(s.Makers) < len(s.Values) || m == 0 {
			continue
		}
		here := map[*gathered][]float64{}
		for i, v := range s.Values {
			key := of(s.Makers[i])
			if key == (Group{}) {
				continue
			}
			if by[key] == nil {
				by[key] = &gathered{Group: key}
			}
			here[by[key]] = append(here[by[key]], v/m)
		}
		for g, parts := range here {
			g.Configs++
			g.parts = append(g.parts, parts...)
			mean := stats.Mean(parts)
			for _, x := range parts {
				g.squares += (x - mean) * (x - mean)
			}
			g.free += len(parts) - 1
		}
	}
	var all []Group
	for _, g := range by {
		g.Runs, g.Min, g.Median, g.Max = len(g.parts), stats.Min(g.parts), stats.Median(g.parts), stats.Max(g.parts)
		if g.free > 0 {
			g.CV = assay.Finite(math.Sqrt(g.squares / float64(g.free)))
		}
		all = append(all, g.Group)
	}
	slices.SortFunc(all, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.MachineClass, b.MachineClass), cmp.Compare(a.Worker, b.Worker))
	})
	return all
}

// group fills in the results by worker and by class, for runs whose makers are known.
func (n *NoiseReport) group(samples []NoiseSample) {
	n.Workers = groups(samples, func(m Maker) Group {
		if m.Worker == "" {
			return Group{}
		}
		return Group{Worker: m.Worker, MachineClass: m.Class}
	})
	n.Classes = groups(samples, func(m Maker) Group { return Group{MachineClass: m.Class} })
}

// writeGroups writes tables of the workers and of the classes, if there are any.
func (n *NoiseReport) writeGroups(w io.Writer) error {
	for _, of := range []struct {
		what string
		all  []Group
	}{{"worker", n.Workers}, {"class", n.Classes}} {
		if len(of.all) == 0 {
			continue
		}
		titles := []string{of.what, "class"}
		if of.what == "class" {
			titles = titles[:1]
		}
		t := report.NewTable(report.Palette{}, append(titles, ">runs", ">configurations", ">least", ">median", ">greatest",
			">deviation")...)
		for _, g := range of.all {
			row := []string{g.Worker, g.MachineClass}
			if of.what == "class" {
				row = row[1:]
			}
			deviation := "–"
			if g.CV != nil {
				deviation = report.Number(100**g.CV, 2) + " %"
			}
			t.Add(append(row, fmt.Sprint(g.Runs), fmt.Sprint(g.Configs), part(g.Min), part(g.Median), part(g.Max),
				deviation)...)
		}
		if _, err := fmt.Fprintf(w, "\nby %s, as parts of the median of the configuration\n", of.what); err != nil {
			return err
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	return nil
}

func part(x float64) string { return report.Number(x, 3) }
