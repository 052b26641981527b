package setup

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stop"
)

// This file holds the code that only studies with levels need (level: in a study file).

// make makes the searcher that the definition names, of the full level.
func (p *Problem) make() (assay.Searcher, error) {
	space := p.Space
	if l := p.Goal.Level; l != nil {
		var err error
		if space, err = p.Space.Fixed(l.Param, l.Full); err != nil {
			return nil, usagef("%sno configuration is at the full level: %w", p.Definition.At("level.full"), err)
		}
	}
	return p.makes(space, p.Definition.Search.Seed)
}

// stopAtLevel has a rule compare runs of one level; l is nil without levels.
func stopAtLevel(rule assay.Stopper, l *assay.Level) assay.Stopper {
	if l != nil && rule != nil {
		return stop.Level{Rule: rule, Param: l.Param, Full: l.Full, Keep: search.FidelityKeep}
	}
	return rule
}
