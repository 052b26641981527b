package setup

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// AtPercentile returns the problem of a recorded table with one limit more: the metric is
// at most its percentile, in (0, 100], over the configurations whose runs are good. These are
// the constraints of Cello's evaluation (Ding et al. 2022, section 4.4). The problem itself
// stays as it is. The error is of the class usage if no run has the metric.
func (p *Problem) AtPercentile(metric string, percentile float64) (*Problem, error) {
	goal := assay.Goal{Metric: metric}
	var values []float64
	for _, c := range p.Table.Configs {
		m, ok := p.Table.Mean(c)
		if !ok || m.ExitCode != 0 {
			continue
		}
		if v, err := goal.Value(m); err == nil {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "the table of %s has no such metric", p.Definition.Replay.File)
	}
	most := stats.Quantile(values, percentile/100)
	limited, def := *p, *p.Definition
	def.SubjectTo = append(slices.Clip(def.SubjectTo),
		fmt.Sprintf("%s <= %s", metric, strconv.FormatFloat(most, 'g', -1, 64)))
	limited.Definition, limited.made = &def, nil // a searcher serves one problem
	var err error
	limited.Goal, err = def.Goal()
	return &limited, err
}
