package spec

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// BatchSystem is the name of the runner that makes each run a job of a batch system that a file describes.
const BatchSystem = "batch"

// A System holds the commands of a batch system, as read from a file. The format is described in docs/batch.md.
//
// A command is a list of arguments with placeholders; no shell reads it.
type System struct {
	File    string
	Name    string // for people
	Submit  Submission
	List    Listing
	Find    Listing  // of a name; its command is empty if there is no accounting
	Cancel  []string // for one job, or with {ids} for several; empty if it cannot be done
	Gone    []*regexp.Regexp
	Lower   []string // empty if it cannot be done
	Waiting []string // its states of jobs that wait; a state that is in no list is not known
	Running []string
	Over    []string
}

// A Submission is how a job is submitted.
type Submission struct {
	Command []string
	Options map[string][]string // the arguments in place of {options}, by the resource of the request
	ID      *regexp.Regexp      // the first group of its match in the output is the number of the job
	Refused []*regexp.Regexp    // matched in the error output: such a job is never taken
	Full    []*regexp.Regexp    // likewise: no more jobs are taken now
}

// A Listing is a command that lists jobs. Each match of Job in its output is one job, with the groups id, name and
// state. Output without a match is unreadable, unless it is blank or matches None.
type Listing struct {
	Command   []string
	Job, None *regexp.Regexp
}

// asked are the resources that a job may request, with the placeholders for their amount.
var asked = map[string][]string{
	"partition": {"partition"}, "account": {"account"}, "nodes": {"nodes"}, "cpus": {"cpus"}, "gpus": {"gpus"},
	"memory": {"memory_b", "memory_k", "memory_m", "memory_g"},
	"time":   {"time_s", "time_m", "time_hms"},
}

// Splices stand for several arguments of the submit command: the requested resources, and the user's additions.
const (
	OptionsSplice = "{options}"
	ExtraSplice   = "{extra}"
	IDsSplice     = "{ids}"
)

// LoadSystem reads the file of a batch system at a path; see [ParseSystem].
func LoadSystem(path string) (*System, error) {
	data, err := readStudyFile(path)
	if err != nil {
		return nil, err
	}
	return ParseSystem(path, data)
}

// ParseSystem reads the content of a file of a batch system; name is its path, and messages begin with it. The error
// is an [*Error] with every flaw that was found.
func ParseSystem(name string, data []byte) (*System, error) {
	d, root := decode(name, data)
	s := &System{File: name}
	if root != nil {
		s.read(d, root)
	}
	return s, newError(d.flaws)
}

func (s *System) read(d *decoder, root *yaml.Node) {
	job := []string{"name", "script", "output", "dir"}
	found := []string{"id", "name"}
	listing := func(key string, l *Listing, names ...string) field {
		return field{key, func(n *yaml.Node) {
			d.mapping(n, key, []field{
				{"command", func(n *yaml.Node) { l.Command = readArgv(d, key+".command", n, names) }},
				{"job", func(n *yaml.Node) { l.Job = readPattern(d, key+".job", n, "id", "name", "state") }},
				{"none", func(n *yaml.Node) { l.None = readPattern(d, key+".none", n) }},
			}, nil)
			if len(l.Command) == 0 || l.Job == nil {
				d.fail(n, "%s: a command and a pattern are needed, job: '(?P<id>..) (?P<name>..) (?P<state>..)'", key)
			}
		}}
	}
	d.mapping(root, "the file of a batch system", []field{
		{"name", func(n *yaml.Node) { s.Name = d.string("name", n) }},
		{"submit", func(n *yaml.Node) {
			d.mapping(n, "submit", []field{
				{"command", func(n *yaml.Node) {
					s.Submit.Command = readArgv(d, "submit.command", n, append(job, "options", "extra"))
				}},
				{"options", func(n *yaml.Node) { s.Submit.Options = readSystemOptions(d, n, job) }},
				{"id", func(n *yaml.Node) {
					if s.Submit.ID = readPattern(d, "submit.id", n); s.Submit.ID != nil && s.Submit.ID.NumSubexp() < 1 {
						d.fail(n, "submit.id: the number of the job is a group of it, such as '^([0-9]+)$'")
					}
				}},
				{"refused", func(n *yaml.Node) { s.Submit.Refused = readPatterns(d, "submit.refused", n) }},
				{"full", func(n *yaml.Node) { s.Submit.Full = readPatterns(d, "submit.full", n) }},
			}, nil)
			s.Submit.check(d, n)
		}},
		listing("list", &s.List),
		listing("find", &s.Find, "name"),
		{"cancel", func(n *yaml.Node) {
			d.mapping(n, "cancel", []field{
				{"command", func(n *yaml.Node) { s.Cancel = readArgv(d, "cancel.command", n, append(found, "ids")) }},
				{"gone", func(n *yaml.Node) { s.Gone = readPatterns(d, "cancel.gone", n) }},
			}, nil)
		}},
		{"lower", func(n *yaml.Node) {
			d.mapping(n, "lower", []field{{"command", func(n *yaml.Node) {
				s.Lower = readArgv(d, "lower.command", n, append(found, asked["time"]...))
			}}}, nil)
		}},
		{"states", func(n *yaml.Node) {
			words := func(key string, to *[]string) field {
				return field{key, func(n *yaml.Node) { *to = d.texts("states."+key, "states."+key, n) }}
			}
			d.mapping(n, "states", []field{
				words("waiting", &s.Waiting), words("running", &s.Running), words("over", &s.Over),
			}, nil)
		}},
	}, nil)
	if len(d.flaws) > 0 {
		return
	}
	switch {
	case len(s.Submit.Command) == 0 || s.Submit.ID == nil:
		d.fail(root,
			"submit: a command and a pattern of the number that it prints are needed: submit: {command: [...], id: '...'}")
	case len(s.List.Command) == 0:
		d.fail(root, "list: a command that shows the jobs is needed")
	case len(s.Waiting)+len(s.Running) == 0:
		d.fail(root,
			"states: its states of waiting and running jobs are needed: states: {waiting: [...], running: [...]}")
	}
}

// check checks that the requested resources get into the command.
func (s *Submission) check(d *decoder, n *yaml.Node) {
	has := func(mark string) bool {
		return slices.ContainsFunc(s.Command, func(a string) bool { return strings.Contains(a, mark) })
	}
	if len(s.Options) > 0 && !slices.Contains(s.Command, OptionsSplice) {
		d.fail(n, "submit: the command has no argument %s, so options would have no effect", OptionsSplice)
	}
	if len(s.Command) > 0 && !has("{script}") {
		d.fail(n, "submit: the command has no {script}, the program of the job")
	}
	if len(s.Command) > 0 && !has("{name}") {
		d.fail(n, "submit: the command has no {name}, by which a job is found again")
	}
}

// readSystemOptions reads the arguments of the resources that a job may request.
func readSystemOptions(d *decoder, n *yaml.Node, job []string) map[string][]string {
	out := map[string][]string{}
	var fields []field
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		fields = append(fields, field{key, func(n *yaml.Node) {
			out[key] = readArgv(d, "submit.options."+key, n, append(slices.Clone(job), asked[key]...))
		}})
	}
	d.mapping(n, "submit.options", fields, nil)
	return out
}

// readArgv reads a command, or arguments of one, whose placeholders are of those names.
func readArgv(d *decoder, path string, n *yaml.Node, names []string) []string {
	out := d.texts(path, path, n)
	if len(out) == 0 {
		d.fail(n, "%s: at least one argument", path)
		return nil
	}
	names = append([]string{"here"}, names...)
	nodes := d.list(n, path)
	if i := shellLine(out); i >= 0 {
		d.fail(nodes[i], "%s: a placeholder in a line for a shell would be read as part of the line", path)
	}
	for i, text := range out {
		var used []string
		readPlaceholders(d, nodes[i], path, &used)
		for _, u := range used {
			splice := "{"+u+"}" == OptionsSplice || "{"+u+"}" == ExtraSplice || "{"+u+"}" == IDsSplice
			switch {
			case !slices.Contains(names, u):
				d.fail(nodes[i], "%s: there is no {%s} here: there are {%s}", path, u, strings.Join(names, "}, {"))
			case splice && text != "{"+u+"}":
				d.fail(nodes[i], "%s: {%s} stands for several arguments: it must be an argument by itself", path, u)
			}
		}
	}
	return out
}

// readPattern reads a regular expression with groups of those names.
func readPattern(d *decoder, path string, n *yaml.Node, groups ...string) *regexp.Regexp {
	text := d.string(path, n)
	re, err := regexp.Compile(text)
	if err != nil || text == "" {
		d.fail(n, "%s: %q is no regular expression: %v", path, clip(text), err)
		return nil
	}
	for _, g := range groups {
		if re.SubexpIndex(g) < 0 {
			d.fail(n, "%s: it has no group (?P<%s>...)", path, g)
		}
	}
	return re
}

func readPatterns(d *decoder, path string, n *yaml.Node) (all []*regexp.Regexp) {
	for _, e := range d.list(n, path) {
		if re := readPattern(d, path, e); re != nil {
			all = append(all, re)
		}
	}
	return all
}

// Expand returns a command with values in place of its placeholders, and several for its splices. {here} is the
// directory of the file.
func (s *System) Expand(texts []string, values map[string]string, splices map[string][]string) []string {
	var out []string
	for _, text := range texts {
		if many, is := splices[text]; is {
			out = append(out, many...)
			continue
		}
		parts, _ := appParts(text)
		var b strings.Builder
		for _, p := range parts {
			if b.WriteString(p.text + values[p.name]); p.name == "here" {
				b.WriteString(filepath.Dir(s.File))
			}
		}
		out = append(out, b.String())
	}
	return out
}
