package table

import "github.com/assay-run/assay"

// Under returns the table of parameters that are the parameters of t with conditions. Rows that differ only in
// inactive parameters are repetitions of one configuration, in their order. Without a condition it is t.
func (t *Table) Under(params []assay.Param) (*Table, error) {
	free, err := assay.NewSpace(params)
	if err != nil {
		return nil, err
	}
	if !free.Conditional() {
		return t, nil
	}
	out := &Table{Params: params, Metrics: t.Metrics, Digest: t.Digest, elapsed: t.elapsed}
	of := out.joined(len(t.Configs), func(i int) assay.Config { return free.Rested(t.Configs[i]) })
	each := make([]int32, len(t.runs.failed))
	for i := range t.Configs {
		for k := t.runs.start[i]; k < t.runs.start[i+1]; k++ {
			each[k] = of[i]
		}
	}
	out.runs = t.runs.gathered(each, len(out.Configs))
	return out, nil
}
