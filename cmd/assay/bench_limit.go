package main

import (
	"fmt"
	"strconv"
	"strings"
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
