package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-run/assay"
)

const tableText = `machine,size,opt,mode,n,status,t1_ms,t2_ms,energy,note
azure,4M,0,slow,8,ok,2000,2200,10,
azure,64M,0,fast,16,ok,1000,,5,"a, b"
azure,1M,1,slow,8,ok,3000,3200,,
azure,1M,1,slow,8.0,ok,3400,3600,12,
other,1M,1,slow,9,ok,x,y,z,
azure,1M,0,slow,2,killed,500,,1,
azure,1M,0,fast,2,ok,,,,
`

var tableSpec = Spec{
	File:       "t.csv",
	Where:      map[string]string{"machine": "azure"},
	Parameters: []string{"size", "opt", "mode", "n"},
	Metrics:    map[string][]string{"elapsed": {"t1_ms", "t2_ms"}, "energy": {"energy"}},
	UnitScale:  map[string]float64{"elapsed": 0.001},
	OKColumn:   "status", OKEquals: "ok",
}

func readTable(t *testing.T, text string, spec Spec, given ...assay.Param) *Table {
	t.Helper()
	table, err := Read(strings.NewReader(text), spec, given...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestReadTable(t *testing.T) {
	table := readTable(t, tableText, tableSpec)
	wantParams := []assay.Param{
		{Name: "size", Kind: assay.Ordinal, Levels: []string{"1M", "4M", "64M"}},
		{Name: "opt", Kind: assay.Switch, Levels: []string{"0", "1"}},
		{Name: "mode", Kind: assay.Categorical, Levels: []string{"slow", "fast"}},
		{Name: "n", Kind: assay.Ordinal, Levels: []string{"2", "8", "16"}},
	}
	if d := cmp.Diff(wantParams, table.Params); d != "" {
		t.Errorf("parameters (-want +got)\n%s", d)
	}
	wantConfigs := []assay.Config{{1, 0, 0, 1}, {2, 0, 1, 2}, {0, 1, 0, 1}, {0, 0, 0, 0}, {0, 0, 1, 0}}
	if d := cmp.Diff(wantConfigs, table.Configs); d != "" {
		t.Errorf("configurations (-want +got)\n%s", d)
	}
	var runs []int
	for _, c := range table.Configs {
		runs = append(runs, table.Runs(c))
	}
	if want := []int{2, 1, 4, 1, 1}; !slices.Equal(runs, want) {
		t.Errorf("repetitions %v, want %v", runs, want)
	}
	if table.Runs(assay.Config{9, 9, 9, 9}) != 0 {
		t.Error("runs of a configuration that was not recorded")
	}
	space, err := table.Space()
	if err != nil || space.Size().N != 5 {
		t.Errorf("space %v, %v", space, err)
	}
	// Means: 2.1, 1, 3.3; the last two failed.
	if got, want := table.MedianElapsed(), 2100*time.Millisecond; got != want {
		t.Errorf("median %v, want %v", got, want)
	}
}

func TestTableOptimum(t *testing.T) {
	table := readTable(t, tableText, tableSpec)
	best, err := table.Optimum(assay.Goal{Metric: "elapsed"}, nil)
	if err != nil || !best.Config.Equal(table.Configs[1]) || best.Value != 1 {
		t.Errorf("got %+v, %v", best, err)
	}
	best, err = table.Optimum(assay.Goal{Metric: "elapsed", Maximize: true}, nil)
	if err != nil || !best.Config.Equal(table.Configs[2]) || !(math.Abs(best.Value+3.3) <= 1e-12) {
		t.Errorf("got %+v, %v", best, err)
	}
	// The mean of a metric is over the runs that have it.
	if x := best.Metrics.Metrics["energy"]; x != 12 {
		t.Errorf("energy %v, want 12", x)
	}
	limit := assay.Limit{Text: "energy > 6", Holds: func(metric func(string) (float64, bool)) (bool, error) {
		x, ok := metric("energy")
		if !ok {
			return false, errors.New("not measured")
		}
		return x > 6, nil
	}}
	best, err = table.Optimum(assay.Goal{Metric: "elapsed", Limits: []assay.Limit{limit}}, nil)
	if err != nil || !best.Config.Equal(table.Configs[0]) || !(math.Abs(best.Value-2.1) <= 1e-12) {
		t.Errorf("got %+v, %v", best, err)
	}
	only, err := assay.NewList(table.Params, table.Configs[2:])
	if err != nil {
		t.Fatal(err)
	}
	if best, err = table.Optimum(assay.Goal{Metric: "elapsed"}, only); err != nil ||
		!best.Config.Equal(table.Configs[2]) {
		t.Errorf("got %+v, %v", best, err)
	}
	if _, err = table.Optimum(assay.Goal{Metric: "nope"}, nil); err == nil {
		t.Error("an optimum of a metric that was not recorded")
	}
}

func TestGivenParams(t *testing.T) {
	spec := tableSpec
	spec.Parameters = []string{"n", "mode", "size"}
	table := readTable(t, tableText, spec,
		assay.Param{Name: "n", Kind: assay.Integer},
		assay.Param{Name: "mode", Kind: assay.Ordinal, Levels: []string{"fast", "medium", "slow"}},
		assay.Param{Name: "size", Kind: assay.Categorical, Unit: "B"})
	want := []assay.Param{
		{Name: "n", Kind: assay.Integer, Lo: 2, Hi: 16},
		{Name: "mode", Kind: assay.Ordinal, Levels: []string{"fast", "medium", "slow"}},
		{Name: "size", Kind: assay.Categorical, Levels: []string{"4M", "64M", "1M"}, Unit: "B"},
	}
	if d := cmp.Diff(want, table.Params); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if d := cmp.Diff(assay.Config{8, 2, 0}, table.Configs[0]); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	_, err := Read(strings.NewReader(tableText), spec, assay.Param{Name: "n", Kind: assay.Integer, Lo: 2, Hi: 8})
	flaw := `t.csv:3: column n: "16" is not a value of the parameter: parameter "n": 16 is not in 2..8`
	if err == nil || err.Error() != flaw {
		t.Errorf("got %v, want %s", err, flaw)
	}
}

func TestReadTableErrors(t *testing.T) {
	with := func(change func(*Spec)) Spec {
		s := tableSpec
		change(&s)
		return s
	}
	minimal := Spec{File: "t.csv", Parameters: []string{"a"}, Metrics: map[string][]string{"elapsed": {"t"}}}
	tests := []struct {
		name, text string
		spec       Spec
		want       string
	}{
		{
			"no column", tableText, with(func(s *Spec) { s.Parameters = []string{"sise"} }),
			`t.csv:1: no column "sise" for a parameter (it has machine, size,`,
		},
		{
			"no metric column", tableText, with(func(s *Spec) { s.Metrics = map[string][]string{"elapsed": {"t"}} }),
			`t.csv:1: no column "t" for metric elapsed`,
		},
		{
			"no rows match", tableText, with(func(s *Spec) { s.Where = map[string]string{"machine": "x", "n": "8"} }),
			`t.csv: no row has machine = x and n = 8`,
		},
		{
			"not a number", tableText, with(func(s *Spec) { s.Where = nil }),
			`t.csv:6: column t1_ms: "x" is not a number`,
		},
		{"column twice", "a,a,t\n1,2,3\n", minimal, `t.csv:1: column a: it is there twice`},
		{"short row", "a,t\n1,2\n3\n", minimal, `t.csv:3: 1 cells, the header has 2`},
		{"bare quote", "a,t\n1,2\"\n", minimal, `t.csv:2: bare "`},
		{"infinite", "a,t\n1,inf\n", minimal, `t.csv:2: column t: inf is not a finite number`},
		{"nan", "a,t\n1,NaN\n", minimal, `t.csv:2: column t: NaN is not a finite number`},
		{"huge", "a,t\n1,1e999\n", minimal, `t.csv:2: column t: 1e999 is not a finite number`},
		{"negative", "a,t\n1,-3\n", minimal, `t.csv:2: column t: -3 is no elapsed time`},
		{"header only", "a,t\n", minimal, `t.csv: the table has no rows`},
		{"empty", "", minimal, `t.csv: the table has no rows`},
		{"not gzip", "a,t\n", Spec{File: "t.csv.gz"}, `t.csv.gz:`},
		{"nul", "a,t\n\x00,3\n", minimal, `t.csv:2: column a: a NUL byte`},
		{
			"changed", "a,t\n1,3\n", Spec{
				File: "t.csv", Parameters: minimal.Parameters, Metrics: minimal.Metrics,
				Digest: "00",
			}, `t.csv: the file has changed since the study began`,
		},
		{"long row", "a,t\n" + strings.Repeat("1", 2<<20), minimal, `a row of more than 1 MiB`},
		{"long quote", "a,t\n\"" + strings.Repeat("1\n", 1<<20), minimal, `a row of more than 1 MiB`},
		{"columns", strings.Repeat("x,", 20_000) + "x\n", minimal, `more than 10,000 columns`},
	}
	for _, tt := range tests {
		_, err := Read(strings.NewReader(tt.text), tt.spec)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want a *Error that contains %s", tt.name, err, tt.want)
		}
	}
	if _, err := Open(Spec{File: "/nonexistent/x.csv"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadTableGzip(t *testing.T) {
	spec := tableSpec
	spec.File = filepath.Join(t.TempDir(), "t.csv.gz")
	data := gzipped(t, []byte(tableText))
	if err := os.WriteFile(spec.File, data, 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.Digest = table.Digest
	if _, err := Open(spec); err != nil {
		t.Errorf("the same file: %v", err)
	}
	if len(table.Digest) != 64 || len(table.Configs) != 5 {
		t.Errorf("digest %q, %d configurations", table.Digest, len(table.Configs))
	}
	// A bomb: 20 MB of rows that do not count, in 50 kB.
	row := gzipped(t, []byte("other,1M,1,slow,9,ok,1,2,3,"+strings.Repeat("x", 1<<16)+"\n"))
	bomb := append(gzipped(t, []byte(tableText)), bytes.Repeat(row, 320)...)
	start := time.Now()
	_, err = Read(bytes.NewReader(bomb), spec)
	if err == nil || !strings.Contains(err.Error(), "expands to more than 200 times its size") {
		t.Errorf("got %v", err)
	}
	t.Logf("refused after %v", time.Since(start))
}

// A table without elapsed times has runs of one second.
func TestTableWithoutElapsed(t *testing.T) {
	spec := Spec{File: "t.csv", Parameters: []string{"a"}, Metrics: map[string][]string{"score": {"s"}}}
	table := readTable(t, "a,s\n1,10\n2,20\n3,\n", spec)
	if got := table.MedianElapsed(); got != time.Second {
		t.Errorf("median %v, want 1 s", got)
	}
	best, err := table.Optimum(assay.Goal{Metric: "score", Maximize: true}, nil)
	if err != nil || best.Value != -20 {
		t.Errorf("got %+v, %v", best, err)
	}
	r := NewReplay(table, nil, nil)
	m, err := r.Run(t.Context(), assay.Job{Config: assay.Config{1}}, nil)
	if err != nil || m.Elapsed != time.Second || m.Metrics["score"] != 20 || m.ExitCode != 0 {
		t.Errorf("got %+v, %v", m, err)
	}
	m, err = r.Run(t.Context(), assay.Job{Config: assay.Config{2}}, nil)
	if err != nil || m.ExitCode != 1 {
		t.Errorf("a row without a metric: got %+v, %v", m, err)
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add(tableText)
	f.Add("\ufeffmachine,size,opt,mode,n,status,t1_ms,t2_ms,energy\nazure,,,,,,,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := Read(strings.NewReader(text), tableSpec)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("error %T: %v", err, err)
			}
			return
		}
		space, err := table.Space()
		if err != nil || space.Size().N != int64(len(table.Configs)) {
			t.Fatalf("%d configurations make a space of %v: %v", len(table.Configs), space, err)
		}
		r := NewReplay(table, nil, nil)
		for _, c := range table.Configs {
			for k := range table.Runs(c) {
				if _, err := r.Run(t.Context(), assay.Job{ID: assay.RunID{Repeat: k}, Config: c}, nil); err != nil {
					t.Error(err)
				}
			}
		}
		if got := table.MedianElapsed(); got < 0 {
			t.Error(got)
		}
	})
}

func BenchmarkReadTable(b *testing.B) {
	var text strings.Builder
	text.WriteString("a,b,c,t\n")
	for i := range 10_000 {
		fmt.Fprintf(&text, "%d,%d,x%d,%d.5\n", i%10, i/10, i%3, i)
	}
	spec := Spec{Parameters: []string{"a", "b", "c"}, Metrics: map[string][]string{"elapsed": {"t"}}}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Read(strings.NewReader(text.String()), spec); err != nil {
			b.Fatal(err)
		}
	}
}

// Measurements are the runs of a configuration that a Replay hands out, in turn, failures included.
func TestMeasurements(t *testing.T) {
	table := readTable(t, tableText, tableSpec)
	r := NewReplay(table, nil, nil)
	failed := 0
	for _, c := range table.Configs {
		ms := table.Measurements(c)
		if len(ms) != table.Runs(c) {
			t.Errorf("%v: %d measurements of %d runs", c, len(ms), table.Runs(c))
		}
		for i, got := range ms {
			want, err := r.Run(t.Context(), assay.Job{ID: assay.RunID{Repeat: i}, Config: c}, nil)
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Errorf("%v, run %d: %v (-want +got)\n%s", c, i, err, d)
			}
			if got.ExitCode != 0 {
				failed++
			}
		}
	}
	if failed != 2 {
		t.Errorf("%d failed runs, want 2: the killed one and the one without a time", failed)
	}
	if got := table.Measurements(assay.Config{9, 9, 9, 9}); got != nil {
		t.Errorf("a configuration that was not recorded: %v", got)
	}
}
