package search

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// A table is one environment of a recorded data set as a listed space.
type table struct {
	name   string
	space  *assay.Space
	value  map[string]float64 // by Config.Key; failed rows have none
	best   float64
	middle float64
}

// A tableSource describes a table: the columns of its parameters, the rows of one environment, and
// the column that is minimized.
type tableSource struct {
	name   string // folder
	params string // columns, comma-separated
	where  string // column=value,...
	metric string
}

var tableSources = []tableSource{
	{"perfevo-brotli", "WindowSize,CompressionLevel", "revision=1.0.7", "energy_J"},
	{
		"perfevo-hsqldb",
		"incrementalBackup,cacheSize,defragLimit,logSize,encryption_algo,transaction_control,table_type," +
			"log_mode,defrag_mode",
		"revision=2.4.0", "energy_J",
	},
	{
		"perfevo-postgresql",
		"fsync,synchronousCommit,fullPageWrites,trackActivities,trackCounts,sharedBuffers,tempBuffers," +
			"workMem",
		"revision=9.6.0", "time_ms",
	},
	{
		"perfevo-fastdownward",
		"mergeAndShrink,blind,max,iPDB,noiPDB,canonicalPDB,bisimulation,fPreserving,landmarkCut," +
			"landmarkCount,exhaustiveLM,hmLM,RHWLM,zhuGivanLM,resonableOrders,onlyCausalLMs,conjunctiveLMs," +
			"noOrders,beforeShrinking,beforeMerging,allSystems,twoSystems,allSystemsWithFixpoint,pdbMaxSize," +
			"collectionMaxSize,numSamples,minImprovement,random",
		"revision=2016.07", "time_s",
	},
	{
		"ase17-x264",
		"non_deterministic,no_asm,no_mixed_refs,no_chroma_me,no_8x8dct,no_fast_pskip,no_dct_decimate," +
			"no_scenecut,no_cabac,no_deblock,no_mbtree,no_weightb,no_psy,no_progress,dts_compress",
		"machine=azure,frames=128", "time1_s",
	},
	{
		"gpu-convolution", "block_size_x,block_size_y,tile_size_x,tile_size_y,read_only,use_padding,use_shmem",
		"gpu=A100", "time_mean_ms",
	},
	{
		"gpu-convolution", "block_size_x,block_size_y,tile_size_x,tile_size_y,read_only,use_padding,use_shmem",
		"gpu=MI250X", "time_mean_ms",
	},
	{"spl-dune", "preconditioner,solver,cells,pre_smoothing,post_smoothing", "", "time_ms"},
	{"scout-aws", "machine_type,nodes", "workload=bayes,datasize=bigdata,framework=spark", "cost_usd"},
	{"scout-aws", "machine_type,nodes", "workload=bayes,datasize=bigdata,framework=spark", "elapsed_s"},
}

func readRows(t testing.TB, folder, name string) [][]string {
	t.Helper()
	var r io.Reader
	f, err := os.Open(filepath.Join(folder, name, "data.csv"))
	if err == nil {
		defer f.Close()
		r = f
	} else {
		g, err := os.Open(filepath.Join(folder, name, "data.csv.gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		if r, err = gzip.NewReader(g); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows
}

// readTable returns the table of a source. Columns of numbers become ordered
// parameters, two-valued ones among them switches, others categories.
func readTable(t testing.TB, folder string, src tableSource) table {
	t.Helper()
	rows := readRows(t, folder, src.name)
	column := func(name string) int {
		i := slices.Index(rows[0], name)
		if i < 0 {
			t.Fatalf("%s has no column %q", src.name, name)
		}
		return i
	}
	where := map[int]string{}
	for cond := range strings.SplitSeq(src.where, ",") {
		if name, value, ok := strings.Cut(cond, "="); ok {
			where[column(name)] = value
		}
	}
	var cols []int
	for name := range strings.SplitSeq(src.params, ",") {
		cols = append(cols, column(name))
	}
	metric := column(src.metric)
	rows = slices.DeleteFunc(rows[1:], func(r []string) bool {
		for i, v := range where {
			if r[i] != v {
				return true
			}
		}
		return false
	})
	tab := table{name: src.name + " " + src.where + " " + src.metric, value: map[string]float64{}, best: math.Inf(1)}
	params := make([]assay.Param, len(cols))
	for k, i := range cols {
		params[k] = columnParam(strings.Split(src.params, ",")[k], rows, i)
	}
	var list []assay.Config
	var values []float64
	for _, r := range rows {
		c := make(assay.Config, len(cols))
		for k, i := range cols {
			c[k] = float64(slices.Index(params[k].Levels, r[i]))
		}
		list = append(list, c)
		if v, err := strconv.ParseFloat(r[metric], 64); err == nil {
			tab.value[c.Key()] = v
			tab.best = min(tab.best, v)
			values = append(values, v)
		}
	}
	if len(list) == 0 {
		t.Fatalf("%s: no row with %s", src.name, src.where)
	}
	tab.middle = stats.Median(values)
	var err error
	if tab.space, err = assay.NewList(params, list); err != nil {
		t.Fatal(err)
	}
	return tab
}

func columnParam(name string, rows [][]string, i int) assay.Param {
	distinct := map[string]bool{}
	for _, r := range rows {
		distinct[r[i]] = true
	}
	levels := slices.Sorted(maps.Keys(distinct))
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return math.NaN()
		}
		return x
	}
	if slices.ContainsFunc(levels, func(l string) bool { return math.IsNaN(number(l)) }) {
		return assay.Param{Name: name, Kind: assay.Categorical, Levels: levels}
	}
	slices.SortFunc(levels, func(a, b string) int {
		if number(a) < number(b) {
			return -1
		}
		return 1
	})
	kind := assay.Ordinal
	if len(levels) == 2 {
		kind = assay.Switch
	}
	return assay.Param{Name: name, Kind: kind, Levels: levels}
}

// regret runs s for some trials and returns log(best/optimum).
func regret(t testing.TB, tab table, s assay.Searcher, trials int) float64 {
	t.Helper()
	best := math.Inf(1)
	for range trials {
		ps, err := s.Ask(1)
		if err == assay.ErrDone {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", tab.name, err)
		}
		trial := assay.Trial{Proposal: ps[0], State: assay.Failed, Value: math.Inf(1)}
		if v, ok := tab.value[ps[0].Config.Key()]; ok {
			trial.State, trial.Value = assay.Done, v
			best = min(best, v)
		}
		if err := s.Tell(trial); err != nil {
			t.Fatalf("%s: %v", tab.name, err)
		}
	}
	return math.Log(best / tab.best)
}

// heldOut are tables on which no setting was looked at.
var heldOut = []tableSource{
	{"perfevo-brotli", "WindowSize,CompressionLevel", "revision=0.5.2", "time_s"},
	{"perfevo-hsqldb", tableSources[1].params, "revision=2.2.4", "time_ms"},
	{"perfevo-postgresql", tableSources[2].params, "revision=11.2", "time_ms"},
	{"ase17-x264", tableSources[4].params, "machine=feature8,frames=32", "time2_s"},
	{"gpu-convolution", tableSources[5].params, "gpu=W7800", "time_mean_ms"},
	{"scout-aws", "machine_type,nodes", "workload=terasort,datasize=huge,framework=hadoop", "cost_usd"},
	{"scout-aws", "machine_type,nodes", "workload=pagerank,datasize=bigdata,framework=hadoop", "elapsed_s"},
	{"inputs-gcc", "optim,floop_interchange,fprefetch_loop_arrays,ffloat_store,fno_asm", "input=2mm", "run_s"},
}
