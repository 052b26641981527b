package spec

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay"
)

// setupName is the placeholder of templates for the folder of the setup: {setup}. In shell lines it is the variable
// SETUP.
const setupName = "setup"

// A Setup is a command that is run once for each combination of the values of the parameters that it uses. Its
// results are in a folder that the other commands name by {setup}.
type Setup struct {
	Hook
	// Uses are parameters that it gets as variables though its command does not name them.
	Uses     []string      `json:"uses,omitempty"`
	Inputs   []string      `json:"inputs,omitempty"`     // patterns of files that it reads, relative to Dir
	Timeout  time.Duration `json:"timeout_ns,omitempty"` // the longest that it may take; 0 means no limit
	Parallel bool          `json:"parallel,omitempty"`   // while runs go on
}

// setupPath returns the path of an argument of the setup in the study file.
func (c *checker) setupPath(i int) string {
	for _, path := range []string{"setup.command", "setup"} {
		if at := fmt.Sprintf("%s[%d]", path, i); c.study.places[at].line > 0 {
			return at
		}
	}
	return ""
}

// checkSetup checks the setup, and adds to used the parameters that it uses.
func (c *checker) checkSetup(names []string, used []bool) {
	s := c.study
	if len(s.Setup.Argv) == 0 {
		return
	}
	if s.Setup.Shell && len(s.Setup.Argv) != 1 {
		c.add("", "", "setup", 0, "a shell line is one text")
	}
	for i, n := range s.Setup.Uses {
		if !slices.Contains(names, n) {
			c.add(fmt.Sprintf("setup.uses[%d]", i), n, "setup.uses", 0, "no parameter %q", clip(n))
		}
	}
	for _, n := range names {
		if strings.EqualFold(n, setupName) {
			c.add("parameters."+n, "", "parameter "+n, 0,
				"{setup} is the folder of the setup: give the parameter another name")
		}
	}
	if !s.Setup.Shell {
		for i, a := range s.Setup.Argv {
			_, err := parseTemplate(a, names, s.folder())
			if e, ok := errors.AsType[*TemplateError](err); ok {
				c.add(c.setupPath(i), a, fmt.Sprintf("setup argument %d", i+1), e.Column, "%s", e.Message)
			}
		}
	}
	for _, i := range newTemplates(s).setupUses() {
		used[i] = true
	}
	if m := variableFlaw(s.Parameters()); m != "" {
		c.add("", "", "", 0, "%s", m)
	}
}

// folder returns the placeholder of the setup, which means nothing to a study without one. A
// setup has no other: it is made for all slots.
func (s *Study) folder() map[string]string {
	own := map[string]string{}
	if len(s.Setup.Argv) > 0 {
		own[setupName] = assay.SetupDir
	}
	return own
}

// own returns the placeholders of the study that are no parameters, and their replacements.
func (s *Study) own() map[string]string {
	own := s.folder()
	if !slices.ContainsFunc(s.Params, func(p Param) bool { return p.Name == slotName }) {
		own[slotName] = assay.SlotMark
	}
	return own
}

var variableUse = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)`)

// setupUses returns the indices of the parameters that the setup depends on: those that its arguments
// name, or its shell line as variables, and those in uses.
func (t *templates) setupUses() []int {
	var out []int
	vars, setup := variables(t.params), &t.study.Setup
	for _, a := range setup.Argv {
		if !setup.Shell {
			out = append(out, t.inFolder(a).Params()...)
			continue
		}
		for _, m := range variableUse.FindAllStringSubmatch(a, -1) {
			for _, v := range vars {
				if v.name == m[1] {
					out = append(out, v.param)
				}
			}
		}
	}
	for _, n := range setup.Uses {
		if i := slices.Index(t.names, n); i >= 0 {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A setupTemplate is a setup whose arguments have placeholders.
type setupTemplate struct {
	hookTemplate
	uses    []int // parameters that it depends on
	inputs  []string
	timeout time.Duration
	besides bool // while runs go on
}

// Setup returns the setup of a configuration, which is run before its runs, or nil. As variables it has the
// parameters that it uses, and those variables of the study that depend on no other parameter.
func (p *Program) Setup(c assay.Config) *assay.Setup {
	argv := p.hook(p.setup.hookTemplate, c)
	if argv == nil {
		return nil
	}
	out := &assay.Setup{
		Argv: argv, Env: []string{"SETUP=" + assay.SetupDir}, Inputs: p.setup.inputs, Limit: p.setup.timeout,
		Parallel: p.setup.besides,
	}
	uses := func(i int) bool { return slices.Contains(p.setup.uses, i) }
	for i, text := range p.ParamEnv(c) {
		if uses(p.vars[i].param) {
			out.Env = append(out.Env, text)
		}
	}
	for _, e := range p.env {
		foreign := slices.ContainsFunc(e.value.Params(), func(i int) bool { return !uses(i) })
		if text, ok := e.value.Expand(p.params, c); ok && !foreign && !strings.Contains(text, assay.SlotMark) {
			out.Env = append(out.Env, e.name+"="+text)
		}
	}
	return out
}
