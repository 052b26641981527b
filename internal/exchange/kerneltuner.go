package exchange

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

// This file reads the files of Kernel Tuner: its cache files, {"kernel_name": …, "tune_params_keys":
// […], "objective": …, "cache": {"16,2": {"block_size_x": 16, …, "time": 0.19, …}, …}}, and its results
// in the format T4, {"results": [{"configuration": {…}, "invalidity": "correct", "measurements":
// [{"name", "value", "unit"}, …]}, …]}.
//
// Times are in milliseconds. A configuration that failed has the name of an error where a number is
// expected, or the member __error__; an old cache has 1e20. A cache that is being written, or whose
// writer was killed, ends with a comma.

// ktTimes are the members of a cache entry that are times of the tuner itself, in milliseconds: the time
// to try a configuration is the sum of the first three.
var ktTimes = []string{"compile_time", "verification_time", "benchmark_time", "framework_time", "strategy_time"}

// ktWays maps the objectives that Kernel Tuner knows to whether more is better.
var ktWays = map[string]bool{
	"time": false, "energy": false, "fitness": true, "cost": false, "loss": false, "GFLOP/s": true, "TFLOP/s": true,
	"GB/s": true, "TB/s": true, "GFLOPS/W": true, "TFLOPS/W": true, "GFLOP/J": true, "TFLOP/J": true,
}

// ktFailed is a time that stands for none in old files.
const ktFailed = 1e20

// IsKernelTuner reports whether a document is a cache or a file of results of Kernel Tuner.
func IsKernelTuner(root Value) bool {
	return root.Look("cache").IsObject() && root.Look("tune_params_keys").IsArray() || isT4(root)
}

func isT4(root Value) bool {
	r := root.Look("results")
	return r.IsArray() && len(r.Array()) > 0 && r.Array()[0].Look("configuration").IsObject()
}

// CloseKernelTuner returns the text of a cache file that is not closed with its end, and all others as they are.
func CloseKernelTuner(data []byte) []byte {
	text := bytes.TrimRight(data, " \t\r\n")
	if !bytes.Contains(data, []byte(`"tune_params_keys"`)) || !bytes.HasSuffix(text, []byte(",")) {
		return data
	}
	return append(slices.Clone(text[:len(text)-1]), "}}"...)
}

// ParseKernelTuner reads a cache or a file of results. name is the name of the study if the file has
// none.
func ParseKernelTuner(d *Document, name string) (*Study, error) {
	s := &Study{Tool: "Kernel Tuner", Name: name}
	var entries []ktEntry
	var objective string
	if isT4(d.Root) {
		entries, objective = s.readT4(d.Root)
	} else {
		entries, objective = s.readCache(d.Root)
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	s.gather(entries, objective)
	return s, s.check(d.File)
}

// A ktEntry is a configuration and its measurements.
type ktEntry struct {
	config  []string
	names   []string // of the measurements, in order
	values  map[string]float64
	seconds float64
	failed  string
}

// readCache reads the entries of a cache.
func (s *Study) readCache(root Value) (entries []ktEntry, objective string) {
	if k := root.Look("kernel_name"); k.Has() && k.Text() != "" {
		s.Name = k.Text()
	}
	for _, k := range root.Get("tune_params_keys").Array() {
		s.Parameters = append(s.Parameters, k.Text())
	}
	objective = ktObjective(root.Look("objective"))
	cache := root.Get("cache")
	for _, key := range cache.Keys() {
		c := cache.Get(key)
		e := ktEntry{values: map[string]float64{}, config: s.config(c)}
		for _, k := range c.Keys() {
			v := c.Get(k)
			switch {
			case slices.Contains(s.Parameters, k):
			case slices.Contains(ktTimes[:3], k) && v.IsNumber():
				e.seconds += v.Number() / 1000
			case slices.Contains(ktTimes, k):
			case v.IsNumber():
				e.measured(k, v.Number(), ktScale(k, ""))
			default:
				if text, ok := v.Scalar(); ok && (k == "__error__" || strings.HasSuffix(text, "Config")) {
					e.failed = text
				}
			}
		}
		entries = append(entries, e)
	}
	return entries, objective
}

// ktObjective returns the first of the objectives, "" if there is no objective.
func ktObjective(o Value) string {
	switch {
	case o.IsArray() && len(o.Array()) > 0:
		return o.Array()[0].Text()
	case o.Has() && !o.IsArray():
		return o.Text()
	}
	return ""
}

// config returns the values of the parameters of an entry.
func (s *Study) config(v Value) []string {
	var out []string
	for _, p := range s.Parameters {
		text, ok := v.Get(p).Scalar()
		if !ok {
			v.Get(p).Fail("%s: a number, a text, or true or false is needed", p)
		}
		out = append(out, text)
	}
	return out
}

// measured keeps a value.
func (e *ktEntry) measured(name string, value, scale float64) {
	if value >= ktFailed {
		e.failed = "ErrorConfig"
		return
	}
	if _, twice := e.values[name]; !twice {
		e.names = append(e.names, name)
	}
	e.values[name] = value * scale
}

// ktScale returns the factor that converts a metric to base units: times are in milliseconds.
func ktScale(name, unit string) float64 {
	if unit == "ms" || unit == "" && strings.HasPrefix(name, "time") {
		return 1e-3
	}
	return 1
}

// readT4 reads the entries of a file of results.
func (s *Study) readT4(root Value) (entries []ktEntry, objective string) {
	for i, r := range root.Get("results").Array() {
		c := r.Get("configuration")
		if i == 0 {
			s.Parameters = slices.Clone(c.Keys())
		}
		e := ktEntry{values: map[string]float64{}, config: s.config(c)}
		if v := r.Look("invalidity"); v.Has() && v.Text() != "correct" {
			e.failed = v.Text()
		}
		for _, key := range []string{"compilation", "compilation_time", "validation", "benchmark"} {
			if t := r.Look("times").Look(key); t.IsNumber() {
				e.seconds += t.Number() / 1000
			}
		}
		for _, m := range r.Get("measurements").Array() {
			unit, _ := m.Look("unit").Scalar()
			if v := m.Get("value"); v.IsNumber() {
				e.measured(m.Get("name").Text(), v.Number(), ktScale(m.Get("name").Text(), unit))
			}
		}
		if o := r.Look("objectives"); objective == "" && o.IsArray() && len(o.Array()) > 0 {
			objective = o.Array()[0].Text()
		}
		entries = append(entries, e)
	}
	return entries, objective
}

// gather makes metrics and runs of entries. The objective comes first, time if the file names none.
func (s *Study) gather(entries []ktEntry, objective string) {
	var names []string
	for _, e := range entries {
		for _, n := range e.names {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	if objective == "" {
		objective = "time"
	}
	if i := slices.Index(names, objective); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, objective)
	}
	for _, n := range names {
		more, known := ktWays[n]
		m := Metric{Name: n, Maximize: more, Known: known}
		if strings.HasPrefix(n, "time") {
			m.Unit = "s"
		}
		s.Metrics = append(s.Metrics, m)
	}
	for _, e := range entries {
		r := Run{Config: e.config, Failed: e.failed, Elapsed: e.seconds}
		if e.seconds == 0 {
			r.Elapsed = math.NaN()
		}
		for _, n := range names {
			v, ok := e.values[n]
			if !ok {
				v = math.NaN()
			}
			r.Values = append(r.Values, v)
		}
		s.Runs = append(s.Runs, r)
	}
}
