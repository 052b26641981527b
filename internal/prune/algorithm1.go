package prune

import (
	"fmt"

	"github.com/assay-run/assay"
)

// threshold returns the value that a trial must reach not to be hopeless, for aggressiveness alpha in [0, 1): with E
// the outcomes of the earlier study as qualities to maximize (E = -value),
//
//	t = min E + alpha·(max E - min E)   (Silva et al. 2018, Algorithm 1, line 2),
//
// as a value to minimize. The printed alpha·max E is the same for qualities whose
// least is 0, and meaningless for negative ones.
func (s *source) threshold(alpha float64) float64 {
	return s.worst - alpha*(s.worst-s.best.Value)
}

// hopeless returns the cells that Algorithm 1 removes, by parameter: the cells in which the study has at least `least`
// trials, all of them worse than the threshold. A failed or infeasible trial counts as worse; a censored trial does if
// it was stopped above the threshold. A cell without trials is never hopeless. As alpha < 1, neither is a cell of the
// best trial. Cost: trials times parameters.
//
// The threshold is on the values themselves, not on the scale of the surrogate: alpha is a share of the way from the
// worst outcome to the best one.
func (s *source) hopeless(threshold float64, least int, cs []cells) [][]bool {
	gone := make([][]bool, len(cs))
	for i := range cs {
		used, good := make([]int, cs[i].n), make([]bool, cs[i].n)
		for _, t := range s.trials {
			k := cs[i].of(t.Config[i])
			used[k]++
			// A run that was stopped below the threshold might have reached it, and is counted as if it had.
			if t.State != assay.Failed && t.State != assay.Infeasible && !(t.Value > threshold) {
				good[k] = true
			}
		}
		gone[i] = make([]bool, cs[i].n)
		for k := range gone[i] {
			gone[i][k] = used[k] >= least && !good[k]
		}
	}
	return gone
}

// A Rule selects the safeguards of Algorithm 1.
type Rule uint8

const (
	Guarded   Rule = iota // ours: see [New]
	Published             // as printed
)

// ParseRule reads the name of a rule; "" is Guarded.
func ParseRule(name string) (Rule, error) {
	switch name {
	case "", "guarded":
		return Guarded, nil
	case "published":
		return Published, nil
	}
	return 0, fmt.Errorf("%q is neither guarded nor published", name)
}

// String returns the name.
func (r Rule) String() string {
	switch r {
	case Guarded:
		return "guarded"
	case Published:
		return "published"
	}
	return fmt.Sprintf("Rule(%d)", uint8(r))
}
