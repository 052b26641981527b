package exchange

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

func read(t *testing.T, path string) *File {
	t.Helper()
	f, err := Read(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Each file was written by its tool: hyperfine 1.15, pytest-benchmark 5.3, Google Benchmark 1.7, JMH 1.37 and
// criterion 0.5. The wanted values were read from them by eye.
func TestReads(t *testing.T) {
	for _, c := range []struct {
		path, format, name, metric, unit string
		maximize                         bool
		processes, of                    int
		first                            float64
		benchmarks                       int
	}{
		{"hyperfine.json", "hyperfine", "sleep 0.01", "elapsed", "s", false, 8, 1, 0.017271623, 2},
		{"pytest-1.json", "pytest-benchmark", "test_b.py::test_sort", "elapsed", "s", false, 1, 12, 8.79299477674067e-06, 2},
		{"google-1.json", "Google Benchmark", "Sort/100", "elapsed", "s", false, 1, 6, 8.0878576894408047e-07, 2},
		{"google-1.json", "Google Benchmark", "Sort/100", "cpu", "s", false, 1, 6, 3.8221218567610327e-07, 2},
		{
			"google-1.json", "Google Benchmark", "Sort/100", "items_per_second", "items/s", true, 1, 6,
			2.6163477708882535e+08, 2,
		},
		{
			"jmh-1.json", "JMH", "b.Sum.sum[n=100] thrpt", "throughput", "ops/s", true, 5, 3,
			0.005207902418569592e9, 2,
		},
		{
			"jmh-1.json", "JMH", "b.Sum.sum[n=100] thrpt", "gc.alloc.rate.norm", "B/op", false, 5, 3,
			0.004411637222970527, 2,
		},
		{"criterion", "criterion", "fib/10", "elapsed", "s", false, 1, 20, 5731737.0 / 6912 * 1e-9, 2},
		{"criterion:base", "criterion", "fib/10", "elapsed", "s", false, 1, 20, 5731737.0 / 6912 * 1e-9, 2},
		{"criterion/fib/10/new/sample.json", "criterion", "fib/10", "elapsed", "s", false, 1, 20, 5731737.0 / 6912 * 1e-9, 1},
	} {
		f := read(t, c.path)
		b := f.Benchmarks[0]
		i := indexOf(b.Metrics, c.metric)
		if f.Format != c.format || len(f.Benchmarks) != c.benchmarks || b.Name != c.name || i < 0 || b.Failed != nil {
			t.Errorf("%s: %s, %d benchmarks, %+v", c.path, f.Format, len(f.Benchmarks), b)
			continue
		}
		m := b.Metrics[i]
		if m.Unit != c.unit || m.Maximize != c.maximize || len(m.Processes) != c.processes || len(m.Processes[0]) != c.of ||
			!(math.Abs(m.Processes[0][0]/c.first-1) <= 1e-12) {
			t.Errorf("%s: %+v, want %+v", c.path, m, c)
		}
	}
	// The value of an iteration of samples is their mean.
	m := read(t, "jmh-sample.json").Benchmarks[0].Metrics[0]
	want := (40.0*503 + 41*40 + 50*1302 + 51*102 + 60*74 + 61*5) / (503 + 40 + 1302 + 102 + 74 + 5) * 1e-9
	if len(m.Processes) != 2 || !(math.Abs(m.Processes[0][0]/want-1) <= 1e-12) {
		t.Errorf("%+v, want %v", m, want)
	}
}

// A file that is not of a tool, or lacks a needed field, gets one message with its place.
func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"": "x.json:1:1: not JSON: the text ends too early",
		"3": "x.json:1:1: this is no file of hyperfine, pytest-benchmark, Google Benchmark, JMH, " +
			"criterion",
		`{"results": []}`:       "x.json:1:1: there is no benchmark in this file of hyperfine",
		`{"results": [{"times"`: "x.json:1:22: not JSON: the text ends too early",
		`{"results": [{}]}`:     `x.json:1:14: there is no "command"`,
		"{\"results\": [\n{\"command\": \"a\", \"times\": [1, null]}]}": "x.json:2:31: times: a number is needed, not null",
		`{"results": [{"command": "a", "times": []}]}`:                  `x.json:1:40: times: there is no run of "a"`,
		`{"machine_info": {}, "benchmarks": [{"fullname": "f", "stats": {"mean": 1}}]}`: "x.json:1:64: f has no data, " +
			"the time of each round: save it with --benchmark-json, or with --benchmark-autosave --benchmark-save-data",
		`{"context": {}, "benchmarks": [{"name": "a_mean", "run_type": "aggregate"}]}`: "x.json:1:32: there are " +
			"aggregates alone: leave --benchmark_report_aggregates_only out",
		`{"context": {}, "benchmarks": [{"name": "a", "time_unit": "h", "real_time": 1, "cpu_time": 1}]}`: "x.json:1:59: " +
			"time_unit: there are ns, us, ms and s",
		`[{"benchmark": "a", "mode": "x", "primaryMetric": {"scoreUnit": "s/op", "rawData": [[1]]}}]`: "x.json:1:29: mode: " +
			"there are thrpt, avgt, sample and ss",
		`[{"benchmark": "a", "mode": "avgt", "primaryMetric": {"scoreUnit": "s/op", "rawData": []}}]`: "x.json:1:87: " +
			"rawData: there is no iteration",
		`{"iters": [1, 2], "times": [3]}`: "x.json:1:28: times: 1 times of 2 samples",
		`{"iters": [0], "times": [3]}`:    "x.json:1:12: iters: a sample has at least one iteration",
		`{"mean": {"point_estimate": 1}, "std_dev": {}}`: "x.json:1:1: estimates have no runs: give sample.json, which " +
			"criterion writes beside them, or the directory target/criterion",
	} {
		_, err := Parse("x.json", []byte(text))
		if err == nil || err.Error() != want || assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
	for _, path := range []string{"none.json", "testdata/criterion:none", "testdata/google-1.json:base", t.TempDir()} {
		if _, err := Read(path); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func side(name string, files ...[]Benchmark) Side {
	s := Side{Name: name}
	for _, b := range files {
		s.Files = append(s.Files, &File{Path: name, Benchmarks: b})
	}
	return s
}

func took(name string, processes ...[]float64) Benchmark {
	return Benchmark{Name: name, Metrics: []BenchMetric{elapsed(processes...)}}
}

// Benchmarks go by their names; one that is on one side alone is reported.
func TestMatch(t *testing.T) {
	before := side("before", []Benchmark{took("x", []float64{1}), took("gone", []float64{1}), took("y", []float64{2})})
	after := side("after", []Benchmark{took("y", []float64{3}), took("x", []float64{4}), took("new", []float64{1})})
	pairs, notes, err := Match([]Side{before, after}, "", false)
	if err != nil || len(pairs) != 2 || pairs[0].Name != "x" || pairs[1].Name != "y" {
		t.Fatalf("%+v, %v", pairs, err)
	}
	if got := pairs[1].Runs(Rounds); got[0][0] != 2 || got[1][0] != 3 {
		t.Errorf("y is %v", got)
	}
	if want := []string{
		"not in before, and not compared: new",
		"not in after, and not compared: gone",
	}; !slices.Equal(notes, want) {
		t.Errorf("%q", notes)
	}
	if _, _, err := Match([]Side{before, after}, "cpu", false); err == nil ||
		!strings.Contains(err.Error(), "x has no metric \"cpu\"") {
		t.Error(err)
	}
	// One benchmark each is compared whatever it is called.
	pairs, _, err = Match([]Side{
		side("a", []Benchmark{took("./old", []float64{1})}),
		side("b", []Benchmark{took("./new", []float64{1})}),
	}, "", false)
	if err != nil || len(pairs) != 1 || pairs[0].Name != "" {
		t.Errorf("%+v, %v", pairs, err)
	}
	if _, _, err = Match([]Side{before, side("c", []Benchmark{took("z", []float64{1})})}, "",
		false); assay.ClassOf(err) != assay.ClassUsage {
		t.Error(err)
	}
	// A benchmark that failed ends the comparison, or is left out.
	bad := Benchmark{Name: "x", Failed: assay.Errorf(assay.ClassUsage, "x failed")}
	after = side("after", []Benchmark{bad, took("y", []float64{3})})
	if _, _, err = Match([]Side{before, after}, "", false); err == nil || assay.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	pairs, notes, err = Match([]Side{before, after}, "", true)
	if err != nil || len(pairs) != 1 || pairs[0].Name != "y" ||
		!slices.Contains(notes, "x failed in after and is not compared") {
		t.Errorf("%+v, %q, %v", pairs, notes, err)
	}
}

// Values are compared at the outermost level of which each side has more than one.
func TestLevel(t *testing.T) {
	one := side("one", []Benchmark{took("x", []float64{1, 2, 9})})
	forks := side("forks", []Benchmark{took("x", []float64{1, 2, 9}, []float64{4, 5, 6})})
	files := side("files", []Benchmark{took("x", []float64{1, 2, 9})},
		[]Benchmark{took("x", []float64{4, 5, 6}, []float64{7})})
	for _, c := range []struct {
		a, b Side
		want Level
		runs [][]float64
	}{
		{one, forks, Rounds, [][]float64{{1, 2, 9}, {1, 2, 9, 4, 5, 6}}},
		{forks, files, Processes, [][]float64{{2, 5}, {2, 5, 7}}},
		{files, files, Files, [][]float64{{2, 5.5}, {2, 5.5}}},
	} {
		pairs, _, err := Match([]Side{c.a, c.b}, "", false)
		if err != nil {
			t.Fatal(err)
		}
		p := pairs[0]
		if p.Level() != c.want {
			t.Errorf("%s and %s: %s, want %s", c.a.Name, c.b.Name, p.Level(), c.want)
		}
		for i, got := range p.Runs(p.Level()) {
			if !slices.Equal(got, c.runs[i]) {
				t.Errorf("%s and %s: %v, want %v", c.a.Name, c.b.Name, got, c.runs[i])
			}
		}
	}
}

func TestOpen(t *testing.T) {
	in := func(path string) string { return filepath.Join("testdata", path) }
	sides, err := Open([]string{in("pytest-1.json") + "," + in("pytest-2.json"), in("pytest-1.json")})
	if err != nil || len(sides) != 2 || len(sides[0].Files) != 2 || len(sides[1].Files) != 1 {
		t.Errorf("%+v, %v", sides, err)
	}
	// The commands of one file of hyperfine are the sides.
	sides, err = Open([]string{in("hyperfine.json")})
	if err != nil || len(sides) != 2 || sides[1].Name != "sleep 0.02" {
		t.Errorf("%+v, %v", sides, err)
	}
	if _, err := Open([]string{
		in("jmh-1.json") + "," + in("jmh-1.json"),
		in("jmh-2.json"),
	}); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("a file twice: %v", err)
	}
	for _, path := range []string{"pytest-1.json", "criterion", "none.json"} {
		if _, err := Open([]string{in(path)}); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%s: %v", path, err)
		}
	}
	yaml := filepath.Join(t.TempDir(), "bench.yaml")
	if err := os.WriteFile(yaml, []byte("commands: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]bool{
		in("hyperfine.json"): true, in("criterion"): true, in("criterion:base"): true, "none.json": true, yaml: false,
		"none": false,
	} {
		if IsResults(arg) != want {
			t.Errorf("IsResults(%s) is not %v", arg, want)
		}
	}
}

// FuzzParse feeds every format: any file is read as finite values or refused with its place.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) < 5 {
		f.Fatal(paths, err)
	}
	for _, p := range append(paths, "testdata/criterion/fib/10/new/sample.json") {
		data, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{
		`{"results":[{"command":"a","times":[1],"exit_codes":[null]}]}`,
		`{"context":{},"benchmarks":[{"name":"a","error_occurred":true,"error_message":"no"}]}`,
		`[{"benchmark":"a","mode":"ss","primaryMetric":{"scoreUnit":"us/op","rawDataHistogram":[[[[1,2]]]]}}]`,
		`{"iters":[1],"times":[1]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f", data)
		if err != nil {
			if assay.ClassOf(err) != assay.ClassUsage || !strings.HasPrefix(err.Error(), "f:") {
				t.Error(err)
			}
			return
		}
		if len(file.Benchmarks) == 0 {
			t.Error("a file without benchmarks")
		}
		for _, b := range file.Benchmarks {
			if b.Failed == nil && len(b.Metrics) == 0 {
				t.Errorf("%+v has no metric", b)
			}
			for _, m := range b.Metrics {
				for _, p := range m.Processes {
					for _, x := range p {
						if math.IsNaN(x) {
							t.Errorf("%s of %s has NaN", m.Name, b.Name)
						}
					}
				}
			}
		}
	})
}
