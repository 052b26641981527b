package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	for line, want := range map[string][]string{
		"":                                   nil,
		"rm -f /tmp/x":                       {"rm"},
		"rm -f a; ./build.sh && make all":    {"rm", "./build.sh", "make"},
		"A=1 B= prog x | tail -1":            {"prog", "tail"},
		"if test -f x; then go build; fi":    {"test", "go", "fi"},
		"x=$(./ask 1) && echo $x":            {"./ask", "echo"},
		"echo `./ask`":                       {"echo", "./ask"},
		"echo 'a; ./b' \"; ./c\"":            {"echo"},
		"prog >out 2>&1 </dev/null; true":    {"prog", "true"},
		">out prog":                          {"prog"},
		"# ./comment\ntrue # ./comment":      {"true"},
		"'./with space' x":                   {"./with space"},
		"(cd x && prog) & wait":              {"cd", "prog", "wait"},
		"exec nice prog":                     {"prog"},
		"a\\ b":                              {"a b"},
		"while ! redis-cli ping; do :; done": {"redis-cli", ":", "done"},
	} {
		if got := commands(line); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// A parameter must reach something. A study in which it cannot is an error with its place, one in
// which it may is a warning.
func TestReach(t *testing.T) {
	const (
		reached = ""
		nothing = "s.yaml:3:3: parameter flag: it reaches nothing"
		doubt   = "parameter flag is named nowhere: it has an effect only if "
	)
	for text, want := range map[string]string{
		"command: [prog, '{n}']":                                     nothing,
		"command: [prog, '{n}', '{flag}']":                           reached,
		"command: [prog, '{n}', '{flag?-x}']":                        reached,
		"command: [./prog, '{n}']":                                   nothing, // it has no variables
		"command: [prog, '{n}']\nenv: {F: '{flag}'}":                 reached,
		"command: [prog, '{n}']\nmetrics: {s: {size: 'out-{flag}'}}": reached,
		"command: [prog, '{n}']\nmetrics: {s: {cmd: 'echo $FLAG'}}":  reached,
		"command: [prog, '{n}']\nmetrics: {s: {cmd: 'wc -l < log'}}": doubt +
			"prog reads the variable FLAG",
		"command: [sleep, '{n}']\nmetrics: {s: {cmd: 'wc -l < log'}}":                    nothing,
		"command: [sleep, '{n}']\nprepare: 'rm -rf data/x'":                              nothing,
		"command: [sleep, '{n}']\nprepare: [rm, -f, x]":                                  nothing,
		"command: [sleep, '{n}']\nprepare: [rm, -f, 'x{flag}']":                          reached,
		"command: [sleep, '{n}']\nprepare: 'echo \"A=$FLAG\" >> log'":                    reached,
		"command: [sleep, '{n}']\nprepare: 'echo \"A=$flag\" >> log'":                    reached,
		"command: [sleep, '{n}']\nprepare: 'echo \"A=$FLAGS\" >> log'":                   nothing,
		"command: [sleep, '{n}']\nprepare: ./build.sh":                                   reached,
		"command: [sleep, '{n}']\nprepare: [./build.sh]":                                 reached,
		"command: [sleep, '{n}']\nprepare: [python3.12, build.py]":                       reached,
		"command: [sleep, '{n}']\ncleanup: 'cd x && make clean'":                         reached,
		"command: [sleep, '{n}']\ncleanup: 'redis-cli flushall'":                         doubt + "redis-cli reads",
		"command: 'prog $n'\nshell: true":                                                doubt + "prog reads",
		"command: 'sleep $n'\nshell: true":                                               nothing,
		"command: './prog $n'\nshell: true":                                              reached,
		"command: 'python3 -c \"import os; print(os.environ[\\\"N\\\"])\"'\nshell: true": reached,
	} {
		s, said, err := Parse("s.yaml", []byte("parameters:\n  n: 1..3\n  flag: [a, b]\n"+text), nil)
		switch {
		case want == nothing:
			if err == nil || !strings.HasPrefix(err.Error(), nothing) || strings.Count(err.Error(), "\n") > 0 {
				t.Errorf("%s\ngot %v, want %s", text, err, want)
			}
		case err != nil:
			t.Errorf("%s\n%v", text, err)
		case want == reached && len(said) > 0, want != reached && (len(said) != 1 || !strings.HasPrefix(said[0], want)):
			t.Errorf("%s\nwarns %q, want %q", text, said, want)
		case want != reached && !s.exports():
			t.Errorf("%s: a doubt without a variable", text)
		}
	}
}

// A study that has more than a command that is a list exports its parameters to all of it.
func TestExports(t *testing.T) {
	for text, want := range map[string]bool{
		"command: [p, '{n}']":                             false,
		"command: [p, '{n}']\nenv: {A: '{n}'}":            false,
		"command: [p, '{n}']\nmetrics: {a: 'size:x'}":     false,
		"command: [p, '{n}']\nmetrics: {a: 'cmd:echo 1'}": true,
		"command: [p, '{n}']\nprepare: [q]":               true,
		"command: [p, '{n}']\ncleanup: q":                 true,
		"command: p $N\nshell: true":                      true,
	} {
		s := parse(t, text+"\nparameters: {n: 1..3}")
		p, err := s.Program()
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Contains(p.Env([]float64{2}), "N=2")
		if got != want {
			t.Errorf("%s: exported %v, want %v", text, got, want)
		}
	}
}
