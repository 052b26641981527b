package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/setup"
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
		return nil, assay.Errorf(assay.ClassUsage, "--limit %s: a limit is written METRIC@PERCENTILE,...", text)
	}
	var out []percentileLimit
	for item := range Items(list) {
		p, err := strconv.ParseFloat(item, 64)
		if err != nil || !(p > 0 && p <= 100) {
			return nil, assay.Errorf(assay.ClassUsage, "--limit %s: %q is not a percentile above 0, at most 100", text, item)
		}
		out = append(out, percentileLimit{metric, p})
	}
	if len(out) == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "--limit %s: no percentile is given", text)
	}
	return out, nil
}

// suffix distinguishes the study with this limit from others.
func (l percentileLimit) suffix() string { return fmt.Sprintf("/%s@%g", l.metric, l.percentile) }

// limitCombinations reads limits joined by +, each with its percentiles: all that hold together, one for each
// combination of these.
func limitCombinations(text string) ([][]percentileLimit, error) {
	all := [][]percentileLimit{nil}
	for part := range strings.SplitSeq(text, "+") {
		limits, err := percentileLimits(part)
		if err != nil {
			return nil, err
		}
		var next [][]percentileLimit
		for _, have := range all {
			for _, l := range limits {
				next = append(next, append(slices.Clip(have), l))
			}
		}
		all = next
	}
	return all, nil
}

// A limitedProblem is a study with a limit, with a suffix of its name that distinguishes it from others.
type limitedProblem struct {
	*setup.Problem
	suffix string
}

// limited returns the study once for each percentile of each limit, or as it is without any.
func (s Source) limited(texts []string) ([]limitedProblem, error) {
	p, err := s.Table()
	if err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return []limitedProblem{{p, ""}}, nil
	}
	var all []limitedProblem
	for _, text := range texts {
		combinations, err := limitCombinations(text)
		if err != nil {
			return nil, err
		}
		for _, limits := range combinations {
			limited, suffix := p, ""
			for _, l := range limits {
				if limited, err = limited.AtPercentile(l.metric, l.percentile); err != nil {
					return nil, assay.Errorf(assay.ClassUsage, "--limit %s: %w", l.metric, err)
				}
				suffix += l.suffix()
			}
			all = append(all, limitedProblem{limited, suffix})
		}
	}
	return all, nil
}
