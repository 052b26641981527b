package exchange

import (
	"fmt"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// A Side holds the measurements of one state of a program: one or several files.
type Side struct {
	Name  string
	Files []*File
}

// A Pair is one benchmark on all sides that have it, the first among them, which the others are compared with.
type Pair struct {
	Name  string
	Sides []int            // indices of the sides
	Files [][]*BenchMetric // of each of these sides, the metric in each of its files
}

// A Level names the values that may be treated as independent.
type Level string

// The levels, from the outermost. Files are of sessions of the tool, processes of one session, and rounds of one
// process.
const (
	Files     Level = "files"
	Processes Level = "processes"
	Rounds    Level = "rounds"
)

// Match puts the benchmarks of the sides beside each other, with the metric of that name, or the first
// one of each. If each side has one benchmark alone, these are compared even under different names.
// notes lists the benchmarks that are not compared. An error is of the class usage.
func Match(sides []Side, metric string, ignoreFailed bool) (pairs []Pair, notes []string, err error) {
	names, of := order(sides, alone(sides))
	lacks := map[string][]string{}
	for _, name := range names {
		var p Pair
		p.Name = name
		for i := range sides {
			entries := of[name][i]
			if len(entries) == 0 {
				lacks[sides[i].Name] = append(lacks[sides[i].Name], name)
				continue
			}
			metrics, err := choose(entries, metric, ignoreFailed)
			if err != nil {
				return nil, nil, err
			}
			if len(metrics) == 0 {
				notes = append(notes, fmt.Sprintf("%s failed in %s and is not compared", name, sides[i].Name))
				continue
			}
			p.Sides, p.Files = append(p.Sides, i), append(p.Files, metrics)
		}
		if len(p.Sides) > 1 && p.Sides[0] == 0 {
			pairs = append(pairs, p)
		}
	}
	for _, s := range sides {
		if l := lacks[s.Name]; len(l) > 0 {
			notes = append(notes, fmt.Sprintf("not in %s, and not compared: %s", s.Name, few(l)))
		}
	}
	if len(pairs) == 0 {
		return nil, nil, assay.Errorf(assay.ClassUsage, "%s and the others have no benchmark in common: %s", sides[0].Name,
			strings.Join(notes, "; "))
	}
	return pairs, notes, nil
}

// order returns the names of all benchmarks in order of appearance, and for each benchmark and side the
// values in its files. With alone all have the name "".
func order(sides []Side, alone bool) (names []string, of map[string][][]Benchmark) {
	of = map[string][][]Benchmark{}
	for i, s := range sides {
		for _, f := range s.Files {
			for _, b := range f.Benchmarks {
				name := b.Name
				if alone {
					name = ""
				}
				if of[name] == nil {
					names, of[name] = append(names, name), make([][]Benchmark, len(sides))
				}
				of[name][i] = append(of[name][i], b)
			}
		}
	}
	return names, of
}

// alone reports whether every file has one benchmark, the same within a side, and not the same on all
// sides.
func alone(sides []Side) bool {
	names := map[string]bool{}
	for _, s := range sides {
		for _, f := range s.Files {
			if len(f.Benchmarks) != 1 || f.Benchmarks[0].Name != s.Files[0].Benchmarks[0].Name {
				return false
			}
			names[f.Benchmarks[0].Name] = true
		}
	}
	return len(names) > 1
}

// choose returns the metric of each entry; none if all have failed and that is to be ignored.
func choose(entries []Benchmark, name string, ignoreFailed bool) ([]*BenchMetric, error) {
	var out []*BenchMetric
	for _, b := range entries {
		if b.Failed != nil && !ignoreFailed {
			return nil, assay.WithHint(b.Failed, "see --ignore-failure")
		}
		if len(b.Metrics) == 0 {
			continue
		}
		i := 0
		if name != "" {
			if i = indexOf(b.Metrics, name); i < 0 {
				var have []string
				for _, m := range b.Metrics {
					have = append(have, m.Name)
				}
				return nil, assay.Errorf(assay.ClassUsage, "%s has no metric %q: there is %s", b.Name, name,
					strings.Join(have, ", "))
			}
		}
		out = append(out, &b.Metrics[i])
	}
	return out, nil
}

// few lists the first names of many.
func few(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// Level returns the outermost level of which every side has more than one. Differences between its
// members are part of the observed noise; influences that all of them share are not.
func (p Pair) Level() Level {
	level := Files
	for _, files := range p.Files {
		n := 0
		for _, m := range files {
			n += len(m.Processes)
		}
		switch {
		case n < 2:
			return Rounds
		case len(files) < 2:
			level = Processes
		}
	}
	return level
}

// Runs returns the values of each side at a level: the median of each file or process, or all values.
func (p Pair) Runs(l Level) [][]float64 {
	out := make([][]float64, len(p.Files))
	for i, files := range p.Files {
		for _, m := range files {
			var all []float64
			for _, process := range m.Processes {
				if l == Processes && len(process) > 0 {
					out[i] = append(out[i], stats.Median(process))
				}
				all = append(all, process...)
			}
			switch {
			case l == Files && len(all) > 0:
				out[i] = append(out[i], stats.Median(all))
			case l == Rounds:
				out[i] = append(out[i], all...)
			}
		}
	}
	return out
}
