package setup

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stop"
)

// This file is what a study with levels has of its own (level: in a study file).

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

// withLevels has most configurations of a searcher run at cheap levels.
func (p *Problem) withLevels(s assay.Searcher, presume bool) assay.Searcher {
	return search.Levels(s, search.LevelOptions{Space: p.Space, Level: *p.Goal.Level, Presume: presume})
}

// stopAtLevel has a rule compare runs of one level.
func (p *Problem) stopAtLevel(rule assay.Stopper) assay.Stopper {
	if l := p.Goal.Level; l != nil && rule != nil {
		return stop.Level{Rule: rule, Param: l.Param, Full: l.Full, Keep: search.LevelKeep}
	}
	return rule
}
