package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-run/assay"
)

// A Program turns configurations into commands and their environment. It is immutable and safe for concurrent use.
type Program struct {
	params  []assay.Param
	shell   bool
	argv    []Template // of the command, without placeholders if shell
	script  string
	env     []envTemplate
	setup   setupTemplate
	prepare hookTemplate
	cleanup hookTemplate
	service serviceTemplate
	verify  hookTemplate
	files   []fileTemplate
	metrics []metricTemplate
	data    Template   // of the workbench's data set
	vars    []variable // the parameters as environment variables
	anyVars bool       // they are exported, see exports

	dataVaries bool // configurations have data sets of their own
}

type envTemplate struct {
	name  string
	value Template
}

type hookTemplate struct {
	argv   []Template
	script string
}

// A metricTemplate is a source whose file and pointer have placeholders.
type metricTemplate struct {
	assay.MetricSource
	file, pointer Template
}

// A variable is an environment variable that holds a parameter.
type variable struct {
	name  string
	param int
}

// Program returns the templates of a study that has been checked. It returns
// an error if a template is malformed, and one if the study has neither a command nor an
// application, whose program has no arguments here.
func (s *Study) Program() (*Program, error) {
	if len(s.Command) == 0 && s.App == "" {
		return nil, fmt.Errorf("the study has no command")
	}
	t := newTemplates(s)
	p := &Program{
		params: t.params, shell: s.Shell, prepare: t.hook(s.Prepare), cleanup: t.hook(s.Cleanup), verify: t.hook(s.Verify),
		metrics: t.metrics(), service: t.service(), files: t.files(), vars: variables(t.params), anyVars: s.exports(),
		setup: setupTemplate{t.hook(s.Setup.Hook), t.setupUses(), s.Setup.Inputs, s.Setup.Timeout, s.Setup.Parallel},
	}
	if s.Shell {
		p.script = s.Command[0]
	} else if s.App == "" {
		p.argv = t.parse(s.Command...)
	}
	for name, value := range s.Env {
		p.env = append(p.env, envTemplate{name, t.parse(value)[0]})
	}
	slices.SortFunc(p.env, func(a, b envTemplate) int { return cmp.Compare(a.name, b.name) })
	if w := s.Workbench; w != nil && !w.Passive {
		p.dataVaries = w.varies()
		p.data = t.inFolder(w.Data)
	}
	if t.failed != nil {
		return nil, t.failed
	}
	return p, nil
}

// templates reads the texts of a study as templates of its parameters.
type templates struct {
	study  *Study
	params []assay.Param
	names  []string // of params
	failed error    // the first
}

func newTemplates(s *Study) *templates {
	params := s.Parameters()
	return &templates{study: s, params: params, names: namesOf(params)}
}

// parse reads texts that may name the slot of the run.
func (t *templates) parse(texts ...string) (out []Template) {
	for _, text := range texts {
		one, err := parseTemplate(text, t.names, t.study.own())
		t.failed = cmp.Or(t.failed, err)
		out = append(out, one)
	}
	return out
}

// inFolder reads a text that is the same in all slots.
func (t *templates) inFolder(text string) Template {
	one, err := parseTemplate(text, t.names, t.study.folder())
	t.failed = cmp.Or(t.failed, err)
	return one
}

func (t *templates) hook(h Hook) hookTemplate {
	if h.Shell {
		return hookTemplate{script: h.Argv[0]}
	}
	return hookTemplate{argv: t.parse(h.Argv...)}
}

// metrics returns the templates of the sources of metrics.
func (t *templates) metrics() (out []metricTemplate) {
	for _, m := range t.study.Metrics {
		source, err := assay.ParseMetricSource(m.Name, m.Source)
		t.failed = cmp.Or(t.failed, err)
		source.Poll, source.Curve = m.Poll, m.Poll == progressPoll
		files := t.parse(source.File, source.Pointer)
		out = append(out, metricTemplate{source, files[0], files[1]})
	}
	return out
}

// exports reports whether the commands of the study get the parameters as environment variables. A single command
// that is a list does not: so no parameter can have the name of a variable with a meaning to it.
func (s *Study) exports() bool {
	return s.Shell || s.Service != nil ||
		len(s.Prepare.Argv) > 0 || len(s.Cleanup.Argv) > 0 || len(s.Verify.Argv) > 0 ||
		slices.ContainsFunc(s.Metrics, func(m Metric) bool {
			source, err := assay.ParseMetricSource(m.Name, m.Source)
			return err == nil && source.Kind.Argument() == assay.CommandArgument
		})
}

// Argv returns the command for a configuration: the arguments with their
// placeholders replaced, those left out that are only conditions that are off, or that name a
// parameter that is not in force, which takes the option of its name before it along; or sh -c LINE.
func (p *Program) Argv(c assay.Config) []string {
	if p.shell {
		return []string{"sh", "-c", p.script}
	}
	return p.expand(p.argv, c)
}

func (p *Program) expand(templates []Template, c assay.Config) []string {
	out := make([]string, 0, len(templates))
	for k, t := range templates {
		if text, ok := t.Expand(p.params, c); ok {
			out = append(out, text)
			continue
		}
		// --trees goes with the {trees} behind it.
		if i := t.alone(); i >= 0 && k > 0 && templates[k-1].option() == optionName(p.params[i].Name) {
			out = out[:len(out)-1]
		}
	}
	return out
}

// Env returns the environment of the command as "NAME=value": the variables of the study in order of their names. The
// variables of [Program.ParamEnv] precede them if the study has more than a command that is a list: a shell line, a
// hook, a metric that is a command.
func (p *Program) Env(c assay.Config) []string {
	var out []string
	if p.setup.argv != nil || p.setup.script != "" {
		out = append(out, "SETUP="+assay.SetupDir)
	}
	if p.anyVars {
		out = append(out, p.ParamEnv(c)...)
	}
	return append(out, p.ownEnv(c)...)
}

// ParamEnv returns the parameters as environment variables, "NAME=value": under their names in upper case, and as
// written if that is another name. Characters that a shell does not allow in a name become _. Inactive parameters are
// not set.
func (p *Program) ParamEnv(c assay.Config) []string {
	out := make([]string, 0, len(p.vars))
	for _, v := range p.vars {
		if assay.Active(p.params, c, v.param) {
			out = append(out, v.name+"="+p.params[v.param].Text(c[v.param]))
		}
	}
	return out
}

// Prepare returns the command that is run before a configuration, or nil.
func (p *Program) Prepare(c assay.Config) []string { return p.hook(p.prepare, c) }

// Cleanup returns the command that is run after a configuration, or nil.
func (p *Program) Cleanup(c assay.Config) []string { return p.hook(p.cleanup, c) }

func (p *Program) hook(h hookTemplate, c assay.Config) []string {
	switch {
	case h.script != "":
		return []string{"sh", "-c", h.script}
	case h.argv == nil:
		return nil
	}
	return p.expand(h.argv, c)
}

// Metrics returns the metrics of the user with the placeholders of their files
// replaced, nil if there are none.
func (p *Program) Metrics(c assay.Config) []assay.MetricSource {
	var out []assay.MetricSource
	for _, m := range p.metrics {
		s := m.MetricSource
		s.File, _ = m.file.Expand(p.params, c)
		s.Pointer, _ = m.pointer.Expand(p.params, c)
		out = append(out, s)
	}
	return out
}

// variables returns the environment variables of the parameters.
func variables(params []assay.Param) []variable {
	var out []variable
	for i, p := range params {
		name := shellName(p.Name)
		upper := strings.ToUpper(name)
		out = append(out, variable{upper, i})
		if name != upper {
			out = append(out, variable{name, i})
		}
	}
	return out
}

// shellName replaces the characters that a shell does not allow in the name of a variable.
func shellName(name string) string {
	id := strings.Map(func(r rune) rune {
		if r == '_' || r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return r
		}
		return '_'
	}, name)
	if id[0] >= '0' && id[0] <= '9' {
		id = "_" + id
	}
	return id
}

// reserved are the variables that shells and loaders obey.
var reserved = []string{
	"PATH", "HOME", "SHELL", "IFS", "ENV", "BASH_ENV", "PWD", "OLDPWD", "USER", "LOGNAME", "TMPDIR", "LANG", "TZ",
	"TERM",
	"PS1", "PS2", "PS4", "CDPATH", "SHELLOPTS", "BASHOPTS", "HOSTNAME", "UID", "PPID", "OPTIND", "OPTARG",
}

// variableFlaw returns the flaw of the parameters as variables, or "".
func variableFlaw(params []assay.Param) string {
	owner := map[string]int{}
	for _, v := range variables(params) {
		name := params[v.param].Name
		upper := strings.ToUpper(v.name)
		if slices.Contains(reserved, upper) || strings.HasPrefix(upper, "LD_") || strings.HasPrefix(upper, "ASSAY_") {
			return "parameter " + name + " would replace the variable " + upper + " of the shell: give it another name"
		}
		if i, taken := owner[v.name]; taken && i != v.param {
			return "parameters " + params[i].Name + " and " + name + " are the same variable " + v.name +
				" of the shell"
		}
		owner[v.name] = v.param
	}
	return ""
}
