package spec

import (
	"regexp"
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
// command, in this order. In a shell line they are the words with its variable and with no other use of a dollar sign,
// a quotation mark or a backslash, but for double quotes around a word.
func (p *Program) Arguments(i int) (all []Argument) {
	for _, argv := range p.commands() {
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

// A Fixed is an argument that no parameter has a part in, such as -O3, with the setting that it gives a value: threads
// and 4 of --threads=4. Name and Value are "" without an equals sign.
type Fixed struct{ Text, Name, Value string }

// Fixed returns the arguments of the same commands that no parameter has a part in. An option and its value are an
// argument of their own, too: --threads, 4 and --threads=4.
func (p *Program) Fixed() (all []Fixed) {
	add := func(text string) {
		f := Fixed{Text: text}
		if name, value, ok := strings.Cut(text, "="); ok {
			f.Name, f.Value = settingName(name), value
		}
		all = append(all, f)
	}
	for _, argv := range p.commands() {
		for k, t := range argv {
			if len(t.parts) == 0 || len(t.Params()) > 0 {
				continue
			}
			text := t.parts[0].text
			add(text)
			if t.option() == "" && k > 0 && argv[k-1].option() != "" {
				add(argv[k-1].parts[0].text + "=" + text)
			}
		}
	}
	return all
}

// settingName returns the name of the setting of an option: threads of --threads, NewRatio of -XX:NewRatio.
func settingName(option string) string {
	option = strings.TrimRight(strings.TrimLeft(option, "-"), "=: ")
	return option[strings.LastIndex(option, ":")+1:]
}

// commands returns the arguments of the commands that may have settings of the program.
func (p *Program) commands() [][]Template {
	return [][]Template{
		p.words(p.setup.hookTemplate), p.words(p.prepare), p.words(p.service.start), p.words(hookTemplate{p.argv, p.script}),
	}
}

// words returns the arguments of a command, or the words of a shell line, whose variables become placeholders.
func (p *Program) words(h hookTemplate) []Template {
	all := h.argv
	for word := range strings.FieldsSeq(h.script) {
		if len(word) > 1 && word[0] == '"' && word[len(word)-1] == '"' {
			word = word[1 : len(word)-1]
		}
		text := wordVariable.ReplaceAllStringFunc(word, func(use string) string {
			name := strings.Trim(use, "${}")
			if v := slices.IndexFunc(p.vars, func(v variable) bool { return v.name == name }); v >= 0 {
				return "{" + p.params[p.vars[v].param].Name + "}"
			}
			return use
		})
		var t Template // of nothing
		if !strings.ContainsAny(wordVariable.ReplaceAllString(word, ""), "$\"'`\\{}") {
			if own, err := ParseTemplate(text, namesOf(p.params)); err == nil {
				t = own
			}
		}
		all = append(all, t)
	}
	return all
}

// wordVariable is a variable in a shell line: $name or ${name}.
var wordVariable = regexp.MustCompile(`\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})`)

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
	return settingName(name)
}
