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

func parse(t *testing.T, text string) (*Study, error) {
	t.Helper()
	d, err := ParseJSON("f.json", CloseKernelTuner([]byte(text)))
	if err != nil {
		return nil, err
	}
	if !IsKernelTuner(d.Root) {
		t.Fatalf("%s is not recognised", text)
	}
	return ParseKernelTuner(d, "f")
}

func file(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The cache and the results of one call of tune_kernel (Kernel Tuner 1.5, OpenCL) have the same trials.
func TestKernelTuner(t *testing.T) {
	for _, name := range []string{"kerneltuner-cache.json", "kerneltuner-t4.json"} {
		s, err := parse(t, file(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.Parameters, []string{"block_size_x", "vector"}) || len(s.Runs) != 8 || len(s.Metrics) != 2 {
			t.Fatalf("%s: %+v", name, s)
		}
		first := s.Metrics[0]
		if first != (Metric{Name: "time", Unit: "s", Known: true}) || s.Metrics[1].Name != "GFLOPs" {
			t.Errorf("%s: metrics %+v", name, s.Metrics)
		}
		// 0.0985 ms, 2.03 GFLOP/s; compiled in 24.3 ms and measured in 1.04 ms.
		r := s.Runs[0]
		if !slices.Equal(r.Config, []string{"16", "2"}) || !(math.Abs(r.Values[0]/0.09852399999999999e-3-1) <= 1e-12) ||
			r.Values[1] != 2.029962242702286 || !(math.Abs(r.Elapsed-0.0253706) <= 1e-4) || r.Failed != "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if s, _ := parse(t, file(t, "kerneltuner-cache.json")); s.Name != "vector_add" {
		t.Errorf("the name is %q", s.Name)
	}
}

// A configuration that failed is a failed run, however the version of the tool writes it; a cache whose writer was
// killed has the entries that it has.
func TestKernelTunerFailures(t *testing.T) {
	const head = `{"kernel_name": "k", "tune_params_keys": ["a", "b"], "cache": {` + "\n"
	for text, failed := range map[string]string{
		`"1,x": {"a": 1, "b": "x", "time": "InvalidConfig"}`:                               "InvalidConfig",
		`"1,x": {"a": 1, "b": "x", "time": 3, "__error__": "CompilationFailedConfig"}`:     "CompilationFailedConfig",
		`"1,x": {"a": 1, "b": "x", "time": 1e20}`:                                          "ErrorConfig",
		`"1,x": {"a": 1, "b": "x", "time": 5, "times": [5], "timestamp": "2026-01-01"}`:    "",
		`"1,x": {"a": 1, "b": "x", "time": 5, "GFLOP/s": null, "env": {"core_freq": 100}}`: "",
	} {
		for _, tail := range []string{"}}", ",\n"} {
			s, err := parse(t, head+`"2,y": {"a": 2, "b": "y", "time": 7},`+text+tail)
			if err != nil || len(s.Runs) != 2 || s.Runs[1].Failed != failed || s.Runs[0].Values[0] != 0.007 ||
				s.Metrics[0].Name != "time" {
				t.Errorf("%s%s: %+v, %v", text, tail, s, err)
			}
		}
	}
	for text, want := range map[string]string{
		head + `}}`:                         "f.json: there is no run",
		head + `"1": {"a": 1, "time": 2}}}`: `f.json:2:6: b: a number, a text, or true or false is needed`,
		head + `"1": {"a": [1], "b": 1}}}`: "f.json:2:12: a: a number, a text, or true or false is " +
			"needed",
		head + `"1": {"a": 1, "b": 1}}}`:                       "f.json: nothing was measured",
		head + `"1": {"a": 1, "b": 1, "time": 2`:               "f.json:2:32: not JSON: the text ends too early",
		`{"tune_params_keys": [], "cache": {"": {"time": 1}}}`: "f.json: the study has no parameters",
		`{"results": [{"configuration": {"a": 1}}]}`:           `f.json:1:14: there is no "measurements"`,
	} {
		if _, err := parse(t, text); err == nil || !strings.HasPrefix(err.Error(), want) ||
			assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Any metric can be the objective; which way is better has to be known.
func TestObjective(t *testing.T) {
	s, err := parse(t, file(t, "kerneltuner-cache.json"))
	if err != nil {
		t.Fatal(err)
	}
	time := s.Runs[0].Values[0]
	if err := s.Objective("GFLOPs", ""); assay.ClassOf(err) != assay.ClassUsage ||
		!strings.Contains(err.Error(), "--minimize GFLOPs") {
		t.Errorf("%v", err)
	}
	if err := s.Objective("none", "minimize"); assay.ClassOf(err) != assay.ClassUsage ||
		!strings.Contains(err.Error(), "there is time, GFLOPs") {
		t.Errorf("%v", err)
	}
	if err := s.Objective("GFLOPs", "maximize"); err != nil || !s.Metrics[0].Maximize || s.Metrics[0].Name != "GFLOPs" ||
		s.Runs[0].Values[0] != 2.029962242702286 || s.Runs[0].Values[1] != time {
		t.Errorf("%v, %+v", err, s)
	}
}

// A table quotes the fields that need it, and its columns have names of their own.
func TestWrites(t *testing.T) {
	s := &Study{
		Tool: "a tool", Name: `the "study": 1`, Parameters: []string{"state", "b"},
		Metrics: []Metric{{Name: "b", Maximize: true}, {Name: "m"}},
		Runs: []Run{
			{Config: []string{"x,y", "1"}, Values: []float64{2, math.NaN()}, Elapsed: 3},
			{Config: []string{"z", "1"}, Values: []float64{math.NaN(), math.NaN()}, Elapsed: 4, Failed: "why"},
		},
	}
	var table, def strings.Builder
	if err := s.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	if want := "state,b,b_,m,elapsed,state_\n\"x,y\",1,2,,3,ok\nz,1,,,4,why\n"; table.String() != want {
		t.Errorf("got\n%swant\n%s", table.String(), want)
	}
	if err := s.WriteDefinition(&def, "t.csv"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`name: "the \"study\": 1"`, `"b": "b_"`, `elapsed: "elapsed"`, `ok: {column: "state_", equals: "ok"}`,
		`objective: {maximize: "b"}`,
	} {
		if !strings.Contains(def.String(), want) {
			t.Errorf("no %s in\n%s", want, def.String())
		}
	}
}

// sound fails unless a file "f" was read as a study whose rows are as long as its head, and which can be written, or
// was refused as it should be. It returns whether it was read.
func sound(t *testing.T, s *Study, err error) bool {
	t.Helper()
	if err != nil {
		if assay.ClassOf(err) != assay.ClassUsage || !strings.HasPrefix(err.Error(), "f:") {
			t.Error(err)
		}
		return false
	}
	for _, r := range s.Runs {
		if len(r.Config) != len(s.Parameters) || len(r.Values) != len(s.Metrics) {
			t.Fatalf("%+v of %+v", r, s)
		}
	}
	var b strings.Builder
	if err := s.WriteTable(&b); err != nil {
		t.Error(err)
	}
	return true
}

// FuzzKernelTuner reads any file as a study whose rows are as long as its head, or refuses it.
func FuzzKernelTuner(f *testing.F) {
	for _, name := range []string{"kerneltuner-cache.json", "kerneltuner-t4.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"tune_params_keys": ["a"], "objective": "m", "cache": {"1": {"a": true, "m": 1, "time": ` +
		`"RuntimeFailedConfig"},`))
	f.Add([]byte(`{"results":[{"configuration":{"a":1},"invalidity":"compile",` +
		`"measurements":[{"name":"time","value":1,"unit":"ms"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseJSON("f", CloseKernelTuner(data))
		if err != nil || !IsKernelTuner(d.Root) {
			return
		}
		s, err := ParseKernelTuner(d, "f")
		if !sound(t, s, err) {
			return
		}
		if err := s.Objective("", "minimize"); err != nil {
			t.Error(err)
		}
	})
}
