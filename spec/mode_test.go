package spec

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMode(t *testing.T) {
	for text, want := range map[string]Mode{
		"command: [p, '{a}']\nparameters: {a: 1..3}\n":                                 ModeCommand,
		"replay: {file: t.csv, parameters: [a], metrics: {elapsed: t}}\n":              ModeTable,
		"parameters: {a: 1..3}\ncommand: [p]\nprepare: rm x\nenv: {X: y}\nwarmup: 2\n": ModeCommand,
	} {
		s, _, err := Parse("f.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Mode() != want {
			t.Errorf("%s: mode %v, want %v", text, s.Mode(), want)
		}
	}
	// On line, nothing needs to be run, and the keys of a program are dropped.
	const text = "parameters: {a: 1..3}\nprepare: rm {b}\nenv: {X: '{b}'}\nmetrics: {m: nonsense}\n"
	online, warnings, err := Parse("f.yaml", []byte(text), func(s *Study) error {
		s.SetOnline()
		return nil
	})
	if err != nil || len(warnings) > 0 || online.Mode() != ModeOnline || online.Env != nil ||
		len(online.Prepare.Argv) > 0 {
		t.Errorf("%+v, %v, %v", online, warnings, err)
	}
	if _, err := online.Program(); err == nil {
		t.Error("an on-line study has a program")
	}
}

// The place of the runs is no part of the identity of a study.
func TestPlacement(t *testing.T) {
	const text = "command: [p, '{a}']\nparameters: {a: 1..3}\n"
	plain := parse(t, text)
	for place, want := range map[string]string{
		"": "", "place: local\n": "local", "place: {on: fleet}\n": "fleet", "place: {}\n": "",
	} {
		s := parse(t, text+place)
		if s.Placement.On != want {
			t.Errorf("%s: on %q, want %q", place, s.Placement.On, want)
		}
		if s.Identity() != plain.Identity() || plain.Diff(s) != nil {
			t.Errorf("%s: another identity: %v", place, plain.Diff(s))
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), `"place"`) != (want != "") {
			t.Errorf("%s is stored as %s", place, data)
		}
		if got, err := Decode(data); err != nil || got.Placement.On != want {
			t.Errorf("%s is read back as %+v, %v", place, got, err)
		}
	}
	for bad, want := range map[string]string{"place: [a]\n": "f.yaml:3:8", "place: {in: x}\n": "f.yaml:3:9"} {
		if _, _, err := Parse("f.yaml", []byte(text+bad), nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
}
