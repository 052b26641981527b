package spec

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	parse := func(secrets string) (*Study, error) {
		s, _, err := Parse(filepath.Join(dir, "s.yaml"),
			[]byte("command: [p, '{n}']\nparameters: {n: 1..3}\nenv: {E: x}\nsecrets: "+secrets+"\n"), nil)
		return s, err
	}
	s, err := parse("{A: env:HOME, B: file:key, C: 'file:~/key', D: file:/k}")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"A=env:HOME", "B=file:" + filepath.Join(dir, "key"), "C=file:~/key", "D=file:/k"}
	if got := s.SecretVariables(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(b)
	if err != nil || !slices.Equal(again.SecretVariables(), want) {
		t.Errorf("stored: %v, %v", again, err)
	}
	for flaw, says := range map[string]string{
		"{A: c4n4ry}": "env:VARIABLE or file:PATH", "{A: 'env:'}": "env:VARIABLE", "{A: 'file:'}": "env:VARIABLE",
		"{E: env:E}":     "env has a variable of that name",
		"{'a=b': env:E}": "no name of a variable", "[a]": "", "{A: 'c4n4ry:x'}": "env:VARIABLE",
	} {
		_, err := parse(flaw)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "c4n4ry") {
			t.Errorf("%s: got %v, want %q", flaw, err, says)
		}
		if err != nil && !strings.Contains(err.Error(), "s.yaml:4") {
			t.Errorf("%s: no place in %v", flaw, err)
		}
	}
	app, err := ParseApps(filepath.Join(dir, "apps.yaml"), []byte("a: {command: [p], secrets: {A: env:X}}\n"))
	if err != nil || app.Apps[0].Secrets["A"] != "env:X" {
		t.Errorf("%+v, %v", app, err)
	}
}
