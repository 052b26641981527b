package exchange

// This file reads the results of other benchmark tools, so that two of their files can be compared.
//
//  1. [Read] reads one file, or a directory of criterion, and detects the tool by its content.
//  2. [Match] puts the benchmarks of several sides beside each other by their names.
//  3. [Pair.Runs] returns the values of each side that may be treated as independent.
//
// A reader of a format is one function in a file of its own, in the table below. It reads values as they were
// measured, in base units; statistics that the tool has made of them are left alone.

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/assay-run/assay"
)

// A Benchmark holds the values of one benchmark in a file.
type Benchmark struct {
	Name    string
	Metrics []BenchMetric // at least one; the first is compared if no other is named
	// Failed is the reason why the benchmark failed, with its place in the file; nil if it succeeded. It
	// may have no metrics.
	Failed error
}

// A BenchMetric is the values of one quantity.
type BenchMetric struct {
	Name     string // such as elapsed
	Unit     string // s, B, ops/s, ...
	Maximize bool   // more of it is better
	// Processes has the values by the process that measured them, in the order in which they were.
	Processes [][]float64
}

// A File is the benchmarks of one file, in its order.
type File struct {
	Path       string
	Format     string // such as hyperfine
	Benchmarks []Benchmark
}

// maxSize is larger than any file of results; a larger file is something else.
const maxSize = 512 << 20

// A format reads the files of one tool.
type format struct {
	name string
	// is reports whether a document is one of the tool's, by its outermost values.
	is func(root Value) bool
	// read returns its benchmarks. Errors are recorded in the document.
	read func(root Value) []Benchmark
}

var formats = []format{
	{"hyperfine", isHyperfine, readHyperfine},
	{"pytest-benchmark", isPytest, readPytest},
	{"Google Benchmark", isGoogle, readGoogle},
	{"JMH", isJMH, readJMH},
	{"criterion", isCriterion, readCriterion},
}

// Formats returns the names of the tools whose files are read.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Read reads a file. A directory is one of criterion (target/criterion), of which DIR:NAME is the baseline of
// that name and DIR the last measurement. The error of a file that cannot be read as one of a tool is of the
// class usage and has its place.
func Read(path string) (*File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if dir, baseline, ok := cutLast(path, ":"); ok && isDir(dir) {
			return readCriterionDir(path, dir, baseline)
		}
	}
	switch {
	case err != nil:
		return nil, assay.WithClass(assay.ClassUsage, err)
	case info.IsDir():
		return readCriterionDir(path, path, latest)
	case info.Size() > maxSize:
		return nil, assay.Errorf(assay.ClassUsage, "%s: a file of results has at most %d MB", path, maxSize>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, assay.WithClass(assay.ClassUsage, err)
	}
	f, err := Parse(path, data)
	if err != nil || f.Format != "criterion" {
		return f, err
	}
	return nameCriterion(f)
}

// Parse reads the text of a file; path is for messages.
func Parse(path string, data []byte) (*File, error) {
	d, err := ParseJSON(path, data)
	if err != nil {
		return nil, err
	}
	for _, f := range formats {
		if !f.is(d.Root) {
			continue
		}
		all := f.read(d.Root)
		if d.Err() == nil && len(all) == 0 {
			d.Root.Fail("there is no benchmark in this file of %s", f.name)
		}
		if err := d.Err(); err != nil {
			return nil, err
		}
		return &File{path, f.name, merge(all)}, nil
	}
	return nil, d.Root.Errorf("this is no file of %s", strings.Join(Formats(), ", "))
}

// merge puts benchmarks of one name together, in the order in which they come first.
func merge(all []Benchmark) []Benchmark {
	at := map[string]int{}
	var out []Benchmark
	for _, b := range all {
		i, again := at[b.Name]
		if !again {
			at[b.Name] = len(out)
			out = append(out, b)
			continue
		}
		out[i] = out[i].with(b)
	}
	return out
}

// with returns a benchmark with the values of another of its name, which other processes have measured.
func (b Benchmark) with(o Benchmark) Benchmark {
	b.Failed = cmp.Or(b.Failed, o.Failed)
	metrics := append([]BenchMetric{}, b.Metrics...)
	for _, m := range o.Metrics {
		i := indexOf(metrics, m.Name)
		if i < 0 {
			metrics = append(metrics, m)
			continue
		}
		metrics[i].Processes = append(metrics[i].Processes[:len(metrics[i].Processes):len(metrics[i].Processes)],
			m.Processes...)
	}
	b.Metrics = metrics
	return b
}

func indexOf(metrics []BenchMetric, name string) int {
	for i, m := range metrics {
		if m.Name == name {
			return i
		}
	}
	return -1
}

// elapsed returns the metric of run times.
func elapsed(processes ...[]float64) BenchMetric {
	return BenchMetric{Name: "elapsed", Unit: "s", Processes: processes}
}

// scaled returns values times a factor.
func scaled(values []float64, factor float64) []float64 {
	out := make([]float64, len(values))
	for i, x := range values {
		out[i] = x * factor
	}
	return out
}

// each returns values of which each is a process of its own.
func each(values []float64) [][]float64 {
	var out [][]float64
	for _, x := range values {
		out = append(out, []float64{x})
	}
	return out
}

// seconds returns the length of a unit of time in seconds.
func seconds(unit string) (float64, bool) {
	s, ok := map[string]float64{
		"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "hr": 3600, "day": 86400,
	}[unit]
	return s, ok
}

// cutLast cuts a text around the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i <= 0 || i+len(sep) == len(s) {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// withParams returns a name with parameters in brackets, if there are any.
func withParams(name string, params []string) string {
	if len(params) == 0 {
		return name
	}
	return fmt.Sprintf("%s[%s]", name, strings.Join(params, ","))
}
