package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/stats"
)

// A percentileLimit is a limit on a metric at a percentile of its recorded
// values: the constraints of Cello's evaluation (Ding et al. 2022, §4.4).
type percentileLimit struct {
	metric     string
	percentile float64 // in (0, 100]
}

// percentileLimits reads "power@10,50,90".
func percentileLimits(text string) ([]percentileLimit, error) {
	metric, list, ok := strings.Cut(text, "@")
	if !ok || metric == "" {
		return nil, usagef("--limit %s: a limit is written METRIC@PERCENTILE,...", text)
	}
	var out []percentileLimit
	for item := range items(list) {
		p, err := strconv.ParseFloat(item, 64)
		if err != nil || !(p > 0 && p <= 100) {
			return nil, usagef("--limit %s: %q is not a percentile above 0, at most 100", text, item)
		}
		out = append(out, percentileLimit{metric, p})
	}
	if len(out) == 0 {
		return nil, usagef("--limit %s: no percentile is given", text)
	}
	return out, nil
}

// suffix tells the study with this limit from others.
func (l percentileLimit) suffix() string { return fmt.Sprintf("/%s@%g", l.metric, l.percentile) }

// limit returns the problem of a recorded table with the limit.
func (l percentileLimit) limit(p *setup.Problem) (*setup.Problem, error) {
	metric := assay.Goal{Metric: l.metric}
	var values []float64
	for _, c := range p.Table.Configs {
		m, ok := p.Table.Mean(c)
		if !ok || m.ExitCode != 0 {
			continue
		}
		if v, err := metric.Value(m); err == nil {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return nil, usagef("--limit %s: the table of %s has no such metric", l.metric, p.Definition.Replay.File)
	}
	most := stats.Quantile(values, l.percentile/100)
	limited, study := *p, *p.Definition
	study.SubjectTo = append(slices.Clip(study.SubjectTo), fmt.Sprintf("%s <= %s", l.metric, strconv.FormatFloat(most, 'g', -1, 64)))
	limited.Definition = &study
	var err error
	limited.Goal, err = study.Goal()
	return &limited, err
}
