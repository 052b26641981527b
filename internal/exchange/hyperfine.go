package exchange

// This file reads the output of `hyperfine --export-json`: {"results": [{"command": …, "times": […],
// "exit_codes": […], "parameters": {…}}]}, with "memory_usage_byte" from version 1.19 on. Times are in
// seconds. Each run is a process of its own. user and system are means alone, which carry no information
// about their noise.

func isHyperfine(root Value) bool { return root.Look("results").IsArray() }

func readHyperfine(root Value) []Benchmark {
	var all []Benchmark
	for _, r := range root.Get("results").Array() {
		times := r.Get("times")
		b := Benchmark{Name: r.Get("command").Text(), Metrics: []BenchMetric{elapsed(each(times.Numbers())...)}}
		if len(b.Metrics[0].Processes) == 0 {
			times.Fail("times: there is no run of %q", b.Name)
		}
		if m := r.Look("memory_usage_byte"); m.IsArray() {
			if values := m.Numbers(); len(values) > 0 {
				b.Metrics = append(b.Metrics, BenchMetric{Name: "max_rss", Unit: "B", Processes: each(values)})
			}
		}
		if codes := r.Look("exit_codes"); codes.IsArray() {
			for _, c := range codes.Array() { // null: ended by a signal
				if !c.Has() || c.Number() != 0 {
					b.Failed = c.Errorf("%q failed: a run ended with an exit code other than 0", b.Name)
					break
				}
			}
		}
		all = append(all, b)
	}
	return all
}
