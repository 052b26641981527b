package nimo

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
)

// A source describes how a recorded table is read: which columns are attributes, and which columns
// distinguish programs.
type source struct {
	set, file  string // set is the folder of the file
	attributes []string
	programs   []string // columns that make a program, none for one program a file
	time       string   // s
	status     string   // column that is "ok" for a run that ended well, or ""
}

// sources are the recorded tables of the evaluation. The attributes are known to a user before a run:
// size of the cluster, of its nodes and of the data.
var sources = []source{
	{
		set: "c3o", file: "sort.csv", time: "gross_runtime_s",
		attributes: []string{"instance_count", "slots", "memory", "data_size_MB", "line_length"},
	},
	{
		set: "c3o", file: "grep.csv", time: "gross_runtime_s",
		attributes: []string{"instance_count", "slots", "memory", "data_size_MB", "p_occurrence"},
	},
	{
		set: "c3o", file: "kmeans.csv", time: "gross_runtime_s",
		attributes: []string{"instance_count", "slots", "memory", "data_size_MB", "k"},
	},
	{
		set: "scout-aws", file: "data.csv", time: "elapsed_s", status: "status",
		attributes: []string{"nodes", "cores_per_node", "memory_per_node_GB"},
		programs:   []string{"workload", "framework", "datasize"},
	},
	{
		set: "lotaru", file: "data.csv", time: "realtime_s",
		attributes: []string{"cpu_score", "io_score", "task_input_B"},
		programs:   []string{"workflow", "task"},
	},
	{
		set: "perfevo-brotli", file: "data.csv", time: "time_s",
		attributes: []string{"WindowSize", "CompressionLevel"},
		programs:   []string{"revision"},
	},
}

// fewest is the least number of assignments of a program: with less, a third of them
// is no test set.
const fewest = 40

// A Table is one program of a recorded table: its assignments and their records.
type Table struct {
	Set  string // of which it is a part
	Name string

	params  []assay.Param // ordinal, the levels ascending
	configs []assay.Config
	times   map[string][]float64 // s, by Key; +Inf for a run that failed
}

// Open reads the programs with at least 40 assignments of the recorded tables in dir that are named in
// sets. A set that does not exist, and a file that cannot be read, lacks a column or has a flaw, are
// errors; an error in a file is a *table.Error.
func Open(dir string, sets []string) ([]Table, error) {
	for _, name := range sets {
		if !slices.ContainsFunc(sources, func(src source) bool { return src.set == name }) {
			return nil, fmt.Errorf("no recorded tables %q (there are c3o, scout-aws, lotaru, perfevo-brotli)", name)
		}
	}
	var all []Table
	for _, src := range sources {
		if !slices.Contains(sets, src.set) {
			continue
		}
		tables, err := src.open(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, tables...)
	}
	return all, nil
}

// open reads the programs of a source, in the order of their names. A row is left out if one of its
// attributes is not a number, or if its time is 0, or empty without a column that marks the run as
// failed.
func (src source) open(dir string) ([]Table, error) {
	spec := table.Spec{
		File:       filepath.Join(dir, src.set, src.file),
		Parameters: slices.Concat(src.programs, src.attributes),
		Metrics:    map[string][]string{"elapsed": {src.time}},
	}
	if src.status != "" {
		spec.OKColumn, spec.OKEquals = src.status, "ok"
	}
	var asWritten []assay.Param // every text is a level; programs 1.1 and 1.10 are two
	for _, name := range spec.Parameters {
		asWritten = append(asWritten, assay.Param{Name: name, Kind: assay.Categorical})
	}
	t, err := table.Open(spec, asWritten...)
	if err != nil {
		return nil, err
	}
	programs := map[string][]record{}
	for _, c := range t.Configs {
		if r, ok := src.record(t, c); ok {
			programs[r.program] = append(programs[r.program], r)
		}
	}
	var tables []Table
	for _, records := range programs {
		if p := src.table(records); len(p.configs) >= fewest {
			tables = append(tables, p)
		}
	}
	slices.SortFunc(tables, func(a, b Table) int { return cmp.Compare(a.Name, b.Name) })
	return tables, nil
}

// A record is an assignment of a program as it stands in the file.
type record struct {
	program string
	at      []float64 // by attribute
	times   []float64 // s; +Inf for a run that failed
}

// record returns a configuration of the file; ok is false if it has no record.
func (src source) record(t *table.Table, c assay.Config) (r record, ok bool) {
	var name []string
	for i, p := range t.Params {
		text := p.Text(c[i])
		if i < len(src.programs) {
			name = append(name, text)
			continue
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return r, false
		}
		r.at = append(r.at, x)
	}
	r.program = strings.Join(name, " ")
	for _, m := range t.Measurements(c) {
		switch x := m.Metrics["elapsed"]; {
		case m.ExitCode != 0 && src.status != "":
			r.times = append(r.times, math.Inf(1))
		case m.ExitCode == 0 && x > 0:
			r.times = append(r.times, x)
		}
	}
	return r, len(r.times) > 0
}

// table makes a program of its records, of which there is one at least.
func (src source) table(records []record) Table {
	file := strings.TrimSuffix(src.file, ".csv")
	t := Table{Set: src.set, Name: strings.TrimSpace(file + " " + records[0].program), times: map[string][]float64{}}
	values := make([][]float64, len(src.attributes))
	for i, name := range src.attributes {
		for _, r := range records {
			values[i] = append(values[i], r.at[i])
		}
		slices.Sort(values[i])
		values[i] = slices.Compact(values[i])
		p := assay.Param{Name: name, Kind: assay.Ordinal}
		for _, v := range values[i] {
			p.Levels = append(p.Levels, assay.FormatNumber(v))
		}
		t.params = append(t.params, p)
	}
	for _, r := range records {
		c := make(assay.Config, len(r.at))
		for i, v := range r.at {
			c[i] = float64(slices.Index(values[i], v))
		}
		k := c.Key()
		if t.times[k] == nil {
			t.configs = append(t.configs, c)
		}
		t.times[k] = append(t.times[k], r.times...)
	}
	return t
}
