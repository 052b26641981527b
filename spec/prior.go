package spec

import (
	"slices"
	"strings"
)

// A Prior names the earlier studies for a warm start. The zero value means none on record, and those that come with
// assay if it knows the program.
type Prior struct {
	// None leaves out those that come with assay, too.
	None bool `json:"none,omitempty"`
	// Auto takes every study on record that has the same parameters and the same
	// objective, and that ran the same program or replayed a table.
	Auto    bool     `json:"auto,omitempty"`
	Studies []string `json:"studies,omitempty"` // studies with these names
	// Alpha is the aggressiveness of the pruning, in (0, 1); 0 means automatic.
	Alpha float64 `json:"alpha,omitempty"`
	// Threshold is the least correlation of a study that prunes, in (0, 1); 0
	// means the pruner's own choice.
	Threshold float64  `json:"threshold,omitempty"`
	Keep      []string `json:"keep,omitempty"` // NAME=VALUE that is not pruned
	// Rule is "published" for pruning alone by Algorithm 1 as printed; "" and "guarded"
	// are our own rule, with proposals of the earlier studies beside it.
	Rule string `json:"rule,omitempty"`
	// Surrogate continues both studies where they are compared; "" is the rule's own.
	Surrogate string `json:"surrogate,omitempty"`
	// Resolved are the studies that were found when the study began; a resumed search uses the same ones. It is not part
	// of the user's input.
	Resolved []PriorStudy `json:"resolved,omitempty"`
}

// A PriorStudy is an earlier study as it was when it was used first.
type PriorStudy struct {
	Name   string `json:"name"`
	Trials int    `json:"trials"` // its first trials in the order in which they ended
	Digest string `json:"digest"` // of its first trials
	// Ships means that it comes with assay, and is not on record.
	Ships bool `json:"ships,omitempty"`
}

// On reports whether earlier studies are asked for.
func (p Prior) On() bool { return p.Auto || len(p.Studies) > 0 }

// ParsePrior reads the text of the --prior flag: auto, none, or names with commas.
func ParsePrior(text string) (auto bool, studies []string, ok bool) {
	switch text {
	case "auto":
		return true, nil, true
	case "none":
		return false, nil, true
	}
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "" || slices.Contains(studies, name) {
			return false, nil, false
		}
		studies = append(studies, name)
	}
	return false, studies, true
}

// PriorRules returns the words of prior.rule.
func PriorRules() []string { return []string{"guarded", "published"} }

// PriorSurrogates returns the words of prior.surrogate.
func PriorSurrogates() []string { return []string{"knn", "linear", "cubic", "spline"} }

// prior checks the settings of earlier studies.
func (c *checker) prior() {
	p := c.study.Prior
	if !c.study.resolved() {
		return
	}
	for _, text := range p.Keep {
		name, value, ok := strings.Cut(text, "=")
		i := slices.IndexFunc(c.study.Params, func(q Param) bool { return q.Name == name })
		switch {
		case !ok:
			c.add("", "", "prior: keep", 0, "%q: a value is written NAME=VALUE", clip(text))
		case i < 0:
			c.add("", "", "prior: keep", 0, "no parameter %q", clip(name))
		default:
			if _, bad := c.study.Params[i].flaw(false); bad {
				continue // reported elsewhere
			}
			if _, err := c.study.Params[i].Param().Parse(value); err != nil {
				c.add("", "", "prior: keep", 0, "%s", err)
			}
		}
	}
}
