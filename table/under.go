package table

import "github.com/assay-run/assay"

// Under returns the table of parameters that are those of t with conditions. Rows that differ in
// nothing but what is not in force are repetitions of one configuration, in their order. Without a
// condition it is t.
func (t *Table) Under(params []assay.Param) (*Table, error) {
	free, err := assay.NewSpace(params)
	if err != nil {
		return nil, err
	}
	if !free.Conditional() {
		return t, nil
	}
	out := &Table{Params: params, Metrics: t.Metrics, Digest: t.Digest, elapsed: t.elapsed, index: map[string]int{}}
	for i, c := range t.Configs {
		c = free.Rested(c)
		k, seen := out.index[c.Key()]
		if !seen {
			k = len(out.Configs)
			out.index[c.Key()] = k
			out.Configs, out.runs = append(out.Configs, c), append(out.runs, nil)
		}
		out.runs[k] = append(out.runs[k], t.runs[i]...)
	}
	return out, nil
}
