package spec

import (
	"path/filepath"
	"strings"
	"testing"
)

// The files of examples/batch are read.
func TestSystemExamples(t *testing.T) {
	files, _ := filepath.Glob("../examples/batch/*.yaml")
	if len(files) < 5 {
		t.Fatalf("%v", files)
	}
	for _, f := range files {
		if s, err := LoadSystem(f); err != nil || s.Name == "" {
			t.Errorf("%s: %v", f, err)
		}
	}
}

const goodSystem = `submit: {command: [qsub, -N, '{name}', '{options}', '{script}'], options: {cpus: [-c, '{cpus}']},
  id: '(.+)'}
list: {command: [qstat], job: '(?P<id>.) (?P<name>.) (?P<state>.)'}
states: {waiting: [Q], running: [R], over: [F]}
`

// Each flaw of a file has its place and its remedy.
func TestSystemFlaws(t *testing.T) {
	if _, err := ParseSystem("s.yaml", []byte(goodSystem)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"'{script}'", "x", "s.yaml:1:9: submit: the command has no {script}"},
		{"'{name}'", "x", "s.yaml:1:9: submit: the command has no {name}"},
		{"'{options}', ", "", "s.yaml:1:9: submit: the command has no argument {options}"},
		{"'{options}'", "'-l {options}'", "{options} stands for several arguments"},
		{"'{cpus}'", "'{gpus}'", "submit.options.cpus: there is no {gpus} here"},
		{"cpus: [-c", "cores: [-c", "cores"},
		{"(.+)", ".+", "submit.id: the number of the job is a group"},
		{"(.+)", "(", "submit.id: \"(\" is no regular expression"},
		{"(?P<state>.)", "(.)", "s.yaml:3:31: list.job: it has no group (?P<state>...)"},
		{"command: [qstat]", "command: []", "list.command: at least one argument"},
		{"[qsub, -N, ", "[sh, -c, 'qsub {name}', ", "a placeholder in a line for a shell"},
		{"waiting: [Q], running: [R], ", "", "s.yaml:1:1: states: its states of waiting"},
		{"list: {", "lists: {", "lists"},
	} {
		text := strings.Replace(goodSystem, c.old, c.new, 1)
		if _, err := ParseSystem("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in place of %q: %v", c.new, c.old, err)
		}
	}
}

// A value is one argument, whatever is in it; a splice is as many as it has.
func TestSystemExpand(t *testing.T) {
	s := &System{File: "/etc/x/s.yaml"}
	got := s.Expand([]string{"a{name}b", "{ids}", "{here}/c", "{{x}}"}, map[string]string{"name": "$(x) {id}"},
		map[string][]string{
			IDsSplice: {"1 2", "3"},
		})
	if want := "a$(x) {id}b|1 2|3|/etc/x/c|{x}"; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
}
