package spec

import (
	"slices"
	"strings"

	"github.com/assay-run/assay"
)

// An Argument is an argument of a command that one parameter alone makes: -O{level}, {lto?-flto}, or {threads} behind
// --threads.
type Argument struct {
	param    int
	params   []assay.Param
	template Template
	option   string // the argument before one that is a value and nothing else, such as --threads
}

// Arguments returns the arguments that parameter i alone makes: of the setup, the preparation, the service and the
// command, in this order. Shell lines have none.
func (p *Program) Arguments(i int) (all []Argument) {
	for _, argv := range [][]Template{p.setup.argv, p.prepare.argv, p.service.start.argv, p.argv} {
		for k, t := range argv {
			if !slices.Equal(t.Params(), []int{i}) {
				continue
			}
			a := Argument{param: i, params: p.params, template: t}
			if t.alone() >= 0 && k > 0 && argv[k-1].option() != "" {
				a.option = argv[k-1].parts[0].text
			}
			all = append(all, a)
		}
	}
	return all
}

// Text returns the argument of a configuration: -O3, --threads=4 for the two arguments --threads 4, and "" if it is
// left out.
func (a Argument) Text(c assay.Config) string {
	text, ok := a.template.Expand(a.params, c)
	if !ok {
		return ""
	}
	if a.option != "" {
		return a.option + "=" + text
	}
	return text
}

// Name returns the name of the setting whose value ends the argument of a configuration: threads of --threads=4,
// NewRatio of -XX:NewRatio=2; "" if the argument is a value alone, or does not end with it.
func (a Argument) Name(c assay.Config) string {
	name, ok := strings.CutSuffix(a.Text(c), a.params[a.param].Text(c[a.param]))
	if !ok {
		return ""
	}
	name = strings.TrimRight(strings.TrimLeft(name, "-"), "=: ")
	return name[strings.LastIndex(name, ":")+1:]
}
