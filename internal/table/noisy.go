package table

// Noisy returns the table of a program whose runs differ: each configuration has n runs. draw is called once for each,
// in order, with its number and the number of recorded runs of the configuration; it returns which of these is played,
// and the factor of all of its metrics.
func (t *Table) Noisy(n int, draw func(k, recorded int) (run int, by float64)) *Table {
	out := &Table{
		Params: t.Params, Configs: t.Configs, Metrics: t.Metrics, Digest: t.Digest, index: t.index, elapsed: t.elapsed,
		runs: &runs{
			width: t.runs.width, start: make([]int32, 1, len(t.Configs)+1),
			failed: make([]bool, 0, n*len(t.Configs)), values: make([]float64, 0, n*len(t.Configs)*t.runs.width),
		},
	}
	for i := range t.Configs {
		recorded := t.runs.count(i)
		for k := range n {
			from, by := draw(k, recorded)
			run := t.runs.at(i, from)
			out.runs.failed = append(out.runs.failed, run.failed)
			for _, v := range run.values {
				out.runs.values = append(out.runs.values, v*by)
			}
		}
		out.runs.start = append(out.runs.start, int32(len(out.runs.failed)))
	}
	return out
}
