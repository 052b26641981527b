package spec

import (
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/expr"
)

// A Level names the parameter that decides how much a run costs, and the value of it at which runs are answers. The
// zero value means none: every run is one.
type Level struct {
	Parameter string `json:"parameter,omitempty"`
	Full      string `json:"full,omitempty"`
}

// On reports whether there are levels.
func (l Level) On() bool { return l.Parameter != "" }

// goalLevel returns the level of the goal; nil without one. The study must have been checked.
func (s *Study) goalLevel() *assay.Level {
	i := slices.IndexFunc(s.Params, func(p Param) bool { return p.Name == s.Level.Parameter })
	if !s.Level.On() || i < 0 {
		return nil
	}
	p := s.Parameters()[i]
	x, err := p.Parse(s.Level.Full)
	if err != nil {
		return nil
	}
	return &assay.Level{Param: i, Full: x, Name: p.Name, Text: p.Text(x)}
}

// level checks the level, and the settings that exclude levels.
func (c *checker) level() {
	s := c.study
	if !s.Level.On() {
		return
	}
	bad := func(path, format string, args ...any) {
		c.add(path, "", "level", 0, format, args...)
	}
	params := s.Parameters()
	names := namesOf(params)
	if i := slices.Index(names, s.Level.Parameter); i >= 0 {
		c.levelOf(s.Params[i], params[i], bad)
	} else if s.resolved() {
		if near := expr.Nearest(s.Level.Parameter, names); near != "" {
			bad("level.parameter", "no parameter %s (did you mean %s?)", clip(s.Level.Parameter), near)
		} else {
			bad("level.parameter", "no parameter %s", clip(s.Level.Parameter))
		}
	}
	if len(s.Others) > 0 {
		bad("objective[1]", "levels are for one objective: take level away, or make a limit of the others without it")
	}
	if len(s.SubjectTo) > 0 {
		bad("subject_to[0]", "a run at a lower level does not show whether a limit holds at the full one: "+
			"remove level or the limits")
	}
	if s.Prior.On() {
		bad("prior", "earlier studies do not help one with levels")
	}
	if s.Repeat.Auto {
		bad("repeat", "auto compares runs of several levels: with level, give the number of runs")
	}
	if s.Stop.Gain > 0 {
		bad("stop.gain", "the further gain is not estimated for studies with levels: end them by a budget")
	}
	if s.Workbench != nil || s.Search.Name == "nimo" {
		bad("level", "a cost model is learned at one level")
	}
	if s.Online {
		bad("level", "a program that is tuned while it runs has no cheaper runs")
	}
}

// levelOf checks the parameter of the level. p is its form in the space.
func (c *checker) levelOf(said Param, p assay.Param, bad func(path, format string, args ...any)) {
	full, err := p.Parse(c.study.Level.Full)
	numbers := p.Numeric()
	if p.Kind == assay.Ordinal {
		numbers = true
		for i := range p.Levels {
			_, is := p.LevelNumber(i)
			numbers = numbers && is
		}
	}
	switch {
	case !numbers:
		bad("level.parameter",
			"%s has values that are no numbers: a level is a size, of which a smaller one is cheaper", p.Name)
	case said.When != "":
		bad("level.parameter", "%s is not always in force", p.Name)
	case err != nil:
		bad("level.full", "%v", err)
	case len(p.LevelsUpTo(full)) == 1:
		bad("level.full", "%s has no value above 0 and well below %s: there is no cheaper level", p.Name, p.Text(full))
	case said.Default != nil:
		if x, err := p.Parse(*said.Default); err == nil && x != full {
			bad("parameters."+p.Name+".default",
				"the default is run first, at the full level: it is %s, or absent", p.Text(full))
		}
	}
}
