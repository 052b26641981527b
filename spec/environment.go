package spec

import (
	"slices"
	"strings"

	"github.com/assay-run/assay"
)

// Environment returns the variables that the command needs for a configuration: those
// of the study, and the parameters if it is a shell line. A parameter that the line
// names in one spelling only, $threads or $THREADS, is given in that one.
func (p *Program) Environment(c assay.Config) []string {
	params := p.ParamEnv(c)
	spelt := func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return strings.Contains(p.script, "$"+name) || strings.Contains(p.script, "${"+name)
	}
	return slices.DeleteFunc(p.Env(c), func(e string) bool {
		switch {
		case strings.HasPrefix(e, "SETUP=") && p.Setup(c) != nil:
			return !p.shell || !spelt(e)
		case !slices.Contains(params, e):
			return false
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
