package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stats"
)

// A nimoSource says how a recorded table is read: which columns are attributes,
// and which tell one program from another.
type nimoSource struct {
	set, file  string
	attributes []string
	programs   []string // columns that make a program, none for one program a file
	time       string
	scale      float64 // seconds of a unit of time
	status     string  // column that is "failed" for a failed run, or ""
}

// nimoSources are the recorded tables of the evaluation; the attributes are
// what a user would know before a run: size of the cluster, of its nodes and of the data.
var nimoSources = []nimoSource{
	{"c3o", "c3o/sort.csv", []string{"instance_count", "slots", "memory", "data_size_MB", "line_length"}, nil, "gross_runtime_s", 1, ""},
	{"c3o", "c3o/grep.csv", []string{"instance_count", "slots", "memory", "data_size_MB", "p_occurrence"}, nil, "gross_runtime_s", 1, ""},
	{"c3o", "c3o/kmeans.csv", []string{"instance_count", "slots", "memory", "data_size_MB", "k"}, nil, "gross_runtime_s", 1, ""},
	{"scout-aws", "scout-aws/data.csv", []string{"nodes", "cores_per_node", "memory_per_node_GB"}, []string{"workload", "framework", "datasize"}, "elapsed_s", 1, "status"},
	{"lotaru", "lotaru/data.csv", []string{"cpu_score", "io_score", "task_input_B"}, []string{"workflow", "task"}, "realtime_s", 1, ""},
	{"perfevo-brotli", "perfevo-brotli/data.csv", []string{"WindowSize", "CompressionLevel"}, []string{"revision"}, "time_s", 1, ""},
}

// A nimoTable is one program: its assignments, the recorded times of each, none if it failed.
type nimoTable struct {
	set, name string
	params    []assay.Param
	configs   []assay.Config
	times     map[string][]float64
}

// readNimoTables reads the programs of a source with at least 40 assignments.
func readNimoTables(dir string, src nimoSource) ([]nimoTable, error) {
	r, err := os.Open(filepath.Join(dir, filepath.FromSlash(src.file)))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%s: %w", src.file, cmp.Or(err, io.ErrUnexpectedEOF))
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	type record struct {
		at   []float64
		time float64
	}
	programs := map[string][]record{}
	for _, row := range rows[1:] {
		var key []string
		for _, c := range src.programs {
			key = append(key, row[column(c)])
		}
		var rec record
		usable := true
		for _, c := range src.attributes {
			x, err := strconv.ParseFloat(row[column(c)], 64)
			usable = usable && err == nil
			rec.at = append(rec.at, x)
		}
		t, err := strconv.ParseFloat(row[column(src.time)], 64)
		rec.time = t * src.scale
		if src.status != "" && row[column(src.status)] == "failed" {
			rec.time, err = math.Inf(1), nil
		}
		if usable && err == nil && rec.time > 0 {
			k := strings.Join(key, " ")
			programs[k] = append(programs[k], rec)
		}
	}
	var tables []nimoTable
	for key, records := range programs {
		name := strings.TrimSpace(strings.TrimSuffix(filepath.Base(src.file), ".csv") + " " + key)
		t := nimoTable{set: src.set, name: name, times: map[string][]float64{}}
		for i, c := range src.attributes {
			var values []float64
			for _, rec := range records {
				values = append(values, rec.at[i])
			}
			slices.Sort(values)
			values = slices.Compact(values)
			p := assay.Param{Name: c, Kind: assay.Ordinal}
			for _, v := range values {
				p.Levels = append(p.Levels, assay.FormatNumber(v))
			}
			t.params = append(t.params, p)
		}
		for _, rec := range records {
			c := make(assay.Config, len(rec.at))
			for i, v := range rec.at {
				c[i] = float64(slices.Index(t.params[i].Levels, assay.FormatNumber(v)))
			}
			k := c.Key()
			if t.times[k] == nil {
				t.configs = append(t.configs, c)
			}
			t.times[k] = append(t.times[k], rec.time)
		}
		if len(t.configs) >= 40 {
			tables = append(tables, t)
		}
	}
	slices.SortFunc(tables, func(a, b nimoTable) int { return cmp.Compare(a.name, b.name) })
	return tables, nil
}

// nimoShares are the shares of the time of all runs at which methods are compared.
var nimoShares = []float64{0.02, 0.05, 0.1, 0.2, 0.3}

// A nimoDataCell is one row of the result on recorded tables: a contract.
type nimoDataCell struct {
	Set      string    `json:"set"`
	Programs int       `json:"programs"`
	Share    float64   `json:"share"` // of the time of all runs
	Auto     float64   `json:"auto"`  // MAPE, geometric mean over programs and seeds, percent
	Random   float64   `json:"random"`
	Linear   float64   `json:"random_linear"` // random sampling with the published regression
	Ratio    float64   `json:"ratio"`         // Auto/Random
	CI95     []float64 `json:"ci95"`          // of Ratio, over programs and seeds
	AutoRuns float64   `json:"auto_runs"`
	RandRuns float64   `json:"random_runs"`
	All      float64   `json:"all_at_once"` // error after all runs, at a share of 1
}

// runTables compares on every recorded table. A third of the assignments of each are
// the external test set; the others can be run.
func (f *benchNimoFlags) runTables(ctx context.Context, s streams) error {
	type work struct {
		table nimoTable
		seed  uint64
	}
	var todo []work
	wanted := slices.Collect(items(f.tables))
	for _, name := range wanted {
		if !slices.ContainsFunc(nimoSources, func(src nimoSource) bool { return src.set == name }) {
			return usagef("no recorded tables %q (there are c3o, scout-aws, lotaru, perfevo-brotli)", name)
		}
	}
	for _, src := range nimoSources {
		if !slices.Contains(wanted, src.set) {
			continue
		}
		tables, err := readNimoTables(f.data, src)
		if err != nil {
			return err
		}
		for _, t := range tables {
			for i := range f.seeds {
				todo = append(todo, work{t, f.seed + uint64(i)})
			}
		}
	}
	results := make([]nimoDuel, len(todo))
	errs := make([]error, len(todo))
	status := newStatus(s.err)
	defer status.Close()
	var wg sync.WaitGroup
	for w := range f.jobs {
		wg.Go(func() {
			for i := w; i < len(todo) && ctx.Err() == nil; i += f.jobs {
				if w == 0 {
					status.Set(fmt.Sprintf("%d of %d: %s", i, len(todo), todo[i].table.name))
				}
				results[i], errs[i] = todo[i].table.duel(todo[i].seed)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return err
	}
	status.Close()
	cells := nimoDataCells(results)
	if f.json {
		return writeJSON(s.out, cells)
	}
	return writeNimoData(s.out, cells)
}

// A nimoDuel is the outcome of one seed on one table, by share: errors in percent,
// NaN where a method has no model yet.
type nimoDuel struct {
	set, name            string
	auto, random, linear []float64
	autoRuns, randRuns   []float64
	all                  float64
}

func (t nimoTable) duel(seed uint64) (nimoDuel, error) {
	rng := rand.New(rand.NewPCG(seed, 7))
	d := nimoDuel{set: t.set, name: t.name}
	perm := rng.Perm(len(t.configs))
	var test, pool []assay.Config
	var truth []float64
	var total float64
	for k, i := range perm {
		c := t.configs[i]
		x := t.times[c.Key()]
		switch {
		case k >= len(perm)/3:
			pool = append(pool, c)
			if m := stats.Mean(x); !math.IsInf(m, 0) {
				total += m
			}
		case !math.IsInf(stats.Mean(x), 0):
			test, truth = append(test, c), append(truth, stats.Median(x))
		}
	}
	space, err := assay.NewList(t.params, pool)
	if err != nil {
		return d, err
	}
	run := func(c assay.Config) (assay.Measurement, bool) {
		x := t.times[c.Key()]
		v := x[rng.IntN(len(x))]
		if math.IsInf(v, 0) { // how long it took to fail is not recorded
			return assay.Measurement{Elapsed: time.Duration(stats.Median(truth) * 1e9)}, false
		}
		return assay.Measurement{Elapsed: time.Duration(v * 1e9)}, true
	}
	if d.auto, d.autoRuns, err = learnTable(costmodel.NewActiveLearner(space, costmodel.Options{Seed: seed}), space, run, total, test, truth, costmodel.Best); err != nil {
		return d, err
	}
	rng = rand.New(rand.NewPCG(seed, 8))
	if d.random, d.randRuns, err = learnTable(search.NewRandom(space, seed), space, run, total, test, truth, costmodel.Best); err != nil {
		return d, err
	}
	var runs []costmodel.Run
	for _, c := range pool {
		if m, ok := run(c); ok {
			r, err := costmodel.Profile(c, m, 0)
			if err != nil {
				return d, err
			}
			runs = append(runs, r)
		}
	}
	everything, err := costmodel.Fit(space, runs, nil, costmodel.Best)
	if err != nil {
		return d, err
	}
	d.all = nimoError(everything, test, truth)
	rng = rand.New(rand.NewPCG(seed, 8))
	if d.linear, _, err = learnTable(search.NewRandom(space, seed), space, run, total, test, truth, costmodel.Linear); err != nil {
		return d, err
	}
	return d, nil
}

// learnTable runs a searcher and returns, for each share of the total time, the error
// of a model of what had run to the end by then and the number of runs.
func learnTable(s assay.Searcher, space *assay.Space, run func(assay.Config) (assay.Measurement, bool), total float64, test []assay.Config, truth []float64, regression costmodel.Regression) (errs, counts []float64, err error) {
	var runs []costmodel.Run
	var failed []assay.Config
	var spent float64
	at := func() error { // the error now
		m, err := costmodel.Fit(space, runs, failed, regression)
		if errors.Is(err, assay.ErrTooFew) {
			errs, counts = append(errs, math.NaN()), append(counts, 0)
			return nil
		} else if err != nil {
			return err
		}
		errs, counts = append(errs, nimoError(m, test, truth)), append(counts, float64(len(runs)))
		return nil
	}
	for len(errs) < len(nimoShares) {
		ps, err := s.Ask(1)
		if err != nil {
			break
		}
		m, ok := run(ps[0].Config)
		for len(errs) < len(nimoShares) && spent+m.Elapsed.Seconds() > nimoShares[len(errs)]*total {
			if err := at(); err != nil {
				return nil, nil, err
			}
		}
		spent += m.Elapsed.Seconds()
		tr := assay.Trial{Proposal: ps[0], State: assay.Done, Measurement: m, Value: m.Elapsed.Seconds()}
		if ok {
			r, err := costmodel.Profile(ps[0].Config, m, 0)
			if err != nil {
				return nil, nil, err
			}
			runs = append(runs, r)
		} else {
			tr.State, tr.Value = assay.Failed, math.Inf(1)
			failed = append(failed, ps[0].Config)
		}
		if err := s.Tell(tr); err != nil {
			return nil, nil, err
		}
	}
	for len(errs) < len(nimoShares) {
		if err := at(); err != nil {
			return nil, nil, err
		}
	}
	return errs, counts, nil
}

// nimoDataCells summarizes by data set and share. Where a method has no model
// yet, the pair is left out.
func nimoDataCells(duels []nimoDuel) []nimoDataCell {
	var cells []nimoDataCell
	for len(duels) > 0 {
		n := 1
		names := map[string]bool{duels[0].name: true}
		for n < len(duels) && duels[n].set == duels[0].set {
			names[duels[n].name] = true
			n++
		}
		for k, share := range nimoShares {
			var auto, random, linear, ratio, all, ar, rr []float64
			for _, d := range duels[:n] {
				if math.IsNaN(d.auto[k]) || math.IsNaN(d.random[k]) {
					continue
				}
				auto, random, linear = append(auto, math.Log(d.auto[k])), append(random, math.Log(d.random[k])), append(linear, math.Log(d.linear[k]))
				ratio = append(ratio, math.Log(d.auto[k]/d.random[k]))
				all = append(all, math.Log(d.all))
				ar, rr = append(ar, d.autoRuns[k]), append(rr, d.randRuns[k])
			}
			if len(ratio) == 0 {
				continue
			}
			e := stats.MeanInterval(ratio, 0.95)
			mean := func(x []float64) float64 { return math.Exp(stats.Mean(x)) }
			cells = append(cells, nimoDataCell{
				Set: duels[0].set, Programs: len(names), Share: share, Auto: mean(auto), Random: mean(random), Linear: mean(linear),
				Ratio: math.Exp(e.Value), CI95: []float64{math.Exp(e.Low), math.Exp(e.High)}, AutoRuns: stats.Mean(ar), RandRuns: stats.Mean(rr), All: mean(all),
			})
		}
		duels = duels[n:]
	}
	return cells
}

func writeNimoData(w io.Writer, cells []nimoDataCell) error {
	t := report.NewTable(palette(w), "data", ">programs", ">time", ">auto", ">random", ">random, linear", ">ratio", "95 %", ">auto runs", ">random runs", ">all at once")
	for _, c := range cells {
		t.Add(c.Set, fmt.Sprint(c.Programs), fmt.Sprintf("%.0f %%", 100*c.Share), fmt.Sprintf("%.1f", c.Auto), fmt.Sprintf("%.1f", c.Random), fmt.Sprintf("%.1f", c.Linear),
			fmt.Sprintf("%.2f", c.Ratio), fmt.Sprintf("%.2f – %.2f", c.CI95[0], c.CI95[1]), fmt.Sprintf("%.1f", c.AutoRuns), fmt.Sprintf("%.1f", c.RandRuns), fmt.Sprintf("%.1f", c.All))
	}
	return t.Write(w)
}
