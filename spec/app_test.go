package spec

import (
	"reflect"
	"strings"
	"testing"
)

// A study of an application has no command, is placed on a fleet, and is written as it was read.
func TestApp(t *testing.T) {
	const text = "app: x264\nparameters: {threads: 1..8}\nplace: {parallel: 3, class: any, target: k1}\n"
	s := parse(t, text)
	placed := Placement{On: Fleet, Class: Anywhere, Target: "k1"}
	if s.App != "x264" || !reflect.DeepEqual(s.Placement, placed) || s.Parallel != 3 || s.Mode() != ModeCommand {
		t.Errorf("read as %+v", s)
	}
	p, err := s.Program()
	if err != nil {
		t.Fatal(err)
	}
	if argv, env := p.Argv([]float64{1}), p.Env([]float64{1}); len(argv) != 0 || len(env) != 0 {
		t.Errorf("the study brings the command %q and the variables %q", argv, env)
	}
	written, ok := s.YAML()
	if again := parse(t, written); !ok || again.Diff(s) != nil || !reflect.DeepEqual(again.Placement, s.Placement) ||
		again.Parallel != 3 {
		t.Errorf("written as\n%s", written)
	}
	if d := parse(t, "command: [p, '{threads}']\nparameters: {threads: 1..8}\n").Diff(s); len(d) == 0 {
		t.Error("a study of a command is the same as one of an application")
	}
}

// The command of an application is written on the workers, and nowhere else.
func TestAppBringsNothing(t *testing.T) {
	for more, want := range map[string]string{
		"command: [p, '{a}']\n":               "one of app, command and replay",
		"prepare: [p]\nenv: {A: b}\n":         "env, prepare: how application x is run",
		"files: {f: '{a}'}\n":                 "files: how application",
		"metrics: {m: {cmd: 'rm -r /'}}\n":    "it is a command",
		"place: local\n":                      "place: fleet",
		"parallel: 2\nplace: {parallel: 3}\n": "parallel is set already",
		"place: {target: k}\n":                "it goes with class: any",
	} {
		_, _, err := Parse("f.yaml", []byte("app: x\nparameters: {a: 1..3}\n"+more), nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "f.yaml:") {
			t.Errorf("%q: %v, want %q with its place", more, err, want)
		}
	}
	for _, name := range []string{"command", "a b", "'*'", "a.b", "''"} {
		if _, _, err := Parse("f.yaml", []byte("app: "+name+"\nparameters: {a: 1..3}\n"), nil); err == nil {
			t.Errorf("an application may be called %s", name)
		}
	}
}
