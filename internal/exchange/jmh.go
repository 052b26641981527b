package exchange

import (
	"strings"
)

// This file reads the output of JMH with -rf json: [{"benchmark": …, "mode": …, "params": {…},
// "primaryMetric": {"scoreUnit": "ns/op", "rawData": [[…], …]}, "secondaryMetrics": {…}}]. rawData has
// the iterations of each fork, and a fork is a process. With the mode sample there is rawDataHistogram
// in its place, of each fork and iteration the pairs [time, count]; the value of an iteration is then
// their mean.

// jmhModes maps a mode to whether more is better.
var jmhModes = map[string]bool{"thrpt": true, "avgt": false, "sample": false, "ss": false}

func isJMH(root Value) bool {
	if !root.IsArray() || len(root.Array()) == 0 {
		return false
	}
	first := root.Array()[0]
	return first.Look("benchmark").Has() && first.Look("primaryMetric").Has()
}

func readJMH(root Value) []Benchmark {
	seen := map[string]int{} // number of modes
	var all []Benchmark
	var modes []string
	for _, e := range root.Array() {
		var params []string
		if p := e.Look("params"); p.Has() {
			for _, k := range p.Keys() {
				text, _ := p.Get(k).Scalar()
				params = append(params, k+"="+text)
			}
		}
		mode := e.Get("mode")
		more, ok := jmhModes[mode.Text()]
		if !ok {
			mode.Fail("mode: there are thrpt, avgt, sample and ss")
		}
		b := Benchmark{Name: withParams(e.Get("benchmark").Text(), params)}
		m := readJMHMetric(e.Get("primaryMetric"))
		m.Maximize = more
		if m.Name = "elapsed"; more {
			m.Name = "throughput"
		}
		b.Metrics = []BenchMetric{m}
		if second := e.Look("secondaryMetrics"); second.Has() {
			for _, k := range second.Keys() {
				m := readJMHMetric(second.Get(k))
				m.Name = strings.TrimPrefix(k, "·") // a mark of older versions
				if indexOf(b.Metrics, m.Name) < 0 && len(m.Processes) > 0 {
					b.Metrics = append(b.Metrics, m)
				}
			}
		}
		seen[b.Name]++
		all, modes = append(all, b), append(modes, mode.Text())
	}
	for i := range all {
		if seen[all[i].Name] > 1 {
			all[i].Name += " " + modes[i]
		}
	}
	return all
}

// readJMHMetric reads the values of a metric, in base units.
func readJMHMetric(v Value) BenchMetric {
	unit, factor := jmhUnit(v.Get("scoreUnit").Text())
	m := BenchMetric{Unit: unit}
	if h := v.Look("rawDataHistogram"); h.IsArray() {
		for _, fork := range h.Array() {
			var values []float64
			for _, iteration := range fork.Array() {
				values = append(values, factor*meanOfCounts(iteration))
			}
			m.Processes = append(m.Processes, values)
		}
		return m
	}
	raw := v.Get("rawData")
	for _, fork := range raw.Array() {
		if values := scaled(fork.Numbers(), factor); len(values) > 0 {
			m.Processes = append(m.Processes, values)
		}
	}
	if len(m.Processes) == 0 {
		raw.Fail("rawData: there is no iteration")
	}
	return m
}

// jmhUnit returns the base unit of a score, and the factor that converts the score to it.
func jmhUnit(unit string) (base string, factor float64) {
	before, after, ok := strings.Cut(unit, "/")
	if !ok {
		return unit, 1
	}
	if s, is := seconds(before); is && after == "op" {
		return "s", s
	}
	if s, is := seconds(after); is {
		return before + "/s", 1 / s
	}
	return unit, 1
}

// meanOfCounts returns the mean of a histogram.
func meanOfCounts(h Value) float64 {
	var sum, n float64
	for _, pair := range h.Array() {
		p := pair.Numbers()
		if len(p) != 2 || p[1] < 0 {
			pair.Fail("rawDataHistogram: pairs [time, count] are needed")
			return 0
		}
		sum, n = sum+p[0]*p[1], n+p[1]
	}
	if n == 0 {
		h.Fail("rawDataHistogram: an iteration has no sample")
		return 0
	}
	return sum / n
}
