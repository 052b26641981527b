package spec

import (
	"slices"
	"strings"

	"github.com/assay-run/assay"
)

// Environment returns the variables that the command needs for a configuration: the
// study's, each once, and the parameters if it is a shell line. A parameter that the line
// names in one spelling only, $threads or $THREADS, is given in that one.
func (p *Program) Environment(c assay.Config) []string {
	params := p.ParamEnv(c)
	spelt := func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return strings.Contains(p.script, "$"+name) || strings.Contains(p.script, "${"+name)
	}
	own, seen := p.ownEnv(c), map[string]bool{}
	return slices.DeleteFunc(p.Env(c), func(e string) bool {
		switch {
		case seen[e]:
			return true
		case slices.Contains(own, e):
			seen[e] = true
			return false
		case strings.HasPrefix(e, "SETUP=") && p.Setup(c) != nil:
			return !p.shell || !spelt(e)
		case !p.shell: // it is for the commands of metrics
			return true
		case spelt(e):
			return false
		}
		return slices.ContainsFunc(params, func(other string) bool {
			return strings.EqualFold(other, e) &&
				spelt(other)
		})
	})
}

// ownEnv returns the variables that the study itself names.
func (p *Program) ownEnv(c assay.Config) (out []string) {
	for _, e := range p.env {
		if text, ok := e.value.Expand(p.params, c); ok {
			out = append(out, e.name+"="+text)
		}
	}
	return out
}
