package spec

import (
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// The command needs the variables that the study itself names, each once, also if a parameter has the same variable.
func TestEnvironmentOfOwnNames(t *testing.T) {
	for text, want := range map[string][]string{
		"command: [p, '{m}']\nenv: {N: '{n}', X: 'a{n}'}\n":                  {"N=3", "X=a3"},
		"command: [p, '{m}', '{n}']\nprepare: 'true'\nenv: {N: '{n}'}\n":     {"N=3"},
		"command: p $M $n\nshell: true\nenv: {N: '{n}'}\n":                   {"M=2", "n=3", "N=3"},
		"command: p $M $N\nshell: true\nenv: {N: '{n}'}\n":                   {"M=2", "N=3"},
		"command: [p, '{m}', '{n}']\nprepare: 'true'\nenv: {OTHER: other}\n": {"OTHER=other"},
	} {
		s, _, err := Parse("s.yaml", []byte("parameters: {m: 1..9, n: 1..9}\n"+text), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Program()
		if err != nil {
			t.Fatal(err)
		}
		got := p.Environment(assay.Config{2, 3})
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
