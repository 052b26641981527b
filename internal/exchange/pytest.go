package exchange

// This file reads the output of pytest-benchmark: {"machine_info": …, "benchmarks": [{"fullname": …,
// "stats": {"data": […]}}]}. A value of data is the time of one round in seconds, of one call each. All
// rounds are of one process. --benchmark-json writes data always, --benchmark-autosave with
// --benchmark-save-data.

func isPytest(root Value) bool {
	return root.Look("benchmarks").IsArray() && root.Look("machine_info").Has()
}

func readPytest(root Value) []Benchmark {
	var all []Benchmark
	for _, b := range root.Get("benchmarks").Array() {
		name := b.Get("fullname").Text()
		stats := b.Get("stats")
		data := stats.Look("data")
		if !data.Has() || len(data.Array()) == 0 {
			stats.Fail("%s has no data, the time of each round: save it with --benchmark-json, or with "+
				"--benchmark-autosave --benchmark-save-data", name)
			return nil
		}
		all = append(all, Benchmark{Name: name, Metrics: []BenchMetric{elapsed(data.Numbers())}})
	}
	return all
}
