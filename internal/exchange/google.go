package exchange

import (
	"slices"
	"strings"
)

// This file reads the output of Google Benchmark with --benchmark_format=json or --benchmark_out:
// {"context": …, "benchmarks": [{"run_name": …, "run_type": "iteration", "real_time": …, "cpu_time": …,
// "time_unit": "ns", …}]}. A repetition is one entry, the mean of its iterations; all of them are of one
// process. The tool's statistics of the repetitions (mean, median, stddev, cv, big O) are entries of the
// type aggregate. All other numbers of an entry are counters of the user's.

// googleFields are the numbers of an entry that are no counters.
var googleFields = []string{
	"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
	"real_time", "cpu_time", "allocs_per_iter", "max_bytes_used", "total_allocated_bytes", "net_heap_growth",
}

func isGoogle(root Value) bool {
	return root.Look("benchmarks").IsArray() && root.Look("context").IsObject()
}

func readGoogle(root Value) []Benchmark {
	var all []Benchmark
	at := map[string]int{}
	entries := root.Get("benchmarks").Array()
	for _, e := range entries {
		if e.Look("run_type").Has() && e.Get("run_type").Text() == "aggregate" {
			continue
		}
		name := e.Get("name").Text()
		if e.Look("run_name").Has() {
			name = e.Get("run_name").Text()
		}
		b := readRepetition(e, name)
		i, again := at[name]
		if !again {
			at[name] = len(all)
			all = append(all, b)
			continue
		}
		all[i] = all[i].inProcess(b)
	}
	if len(entries) > 0 && len(all) == 0 {
		entries[0].Fail("there are aggregates alone: leave --benchmark_report_aggregates_only out")
	}
	return all
}

// readRepetition reads one entry.
func readRepetition(e Value, name string) Benchmark {
	b := Benchmark{Name: name}
	if w := e.Look("error_occurred"); w.Has() && w.Bool() {
		why, _ := e.Look("error_message").Scalar()
		b.Failed = e.Errorf("%s failed: %s", name, why)
		return b
	}
	unit := e.Get("time_unit")
	factor, ok := seconds(unit.Text())
	if !ok {
		unit.Fail("time_unit: there are ns, us, ms and s")
	}
	for _, m := range []struct{ key, name string }{{"real_time", "elapsed"}, {"cpu_time", "cpu"}} {
		b.Metrics = append(b.Metrics,
			BenchMetric{Name: m.name, Unit: "s", Processes: [][]float64{{e.Get(m.key).Number() * factor}}})
	}
	for _, key := range e.Keys() {
		v := e.Get(key)
		if !v.IsNumber() || slices.Contains(googleFields, key) || key == "elapsed" || key == "cpu" {
			continue
		}
		m := BenchMetric{Name: key, Processes: [][]float64{{v.Number()}}}
		if strings.HasSuffix(key, "_per_second") { // items and bytes, as the tool counts them
			m.Maximize, m.Unit = true, strings.TrimSuffix(key, "_per_second")+"/s"
		}
		b.Metrics = append(b.Metrics, m)
	}
	return b
}

// inProcess returns a benchmark with the values of another repetition of the same process.
func (b Benchmark) inProcess(o Benchmark) Benchmark {
	if b.Failed == nil {
		b.Failed = o.Failed
	}
	for _, m := range o.Metrics {
		if i := indexOf(b.Metrics, m.Name); i >= 0 {
			b.Metrics[i].Processes[0] = append(b.Metrics[i].Processes[0], m.Processes[0]...)
		} else {
			b.Metrics = append(b.Metrics, m)
		}
	}
	return b
}
