package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

const staging = "command: [cat, in, \"{n}\"]\nparameters: {n: 1..3}\n"

func TestStagingKeys(t *testing.T) {
	s := parse(t, staging+"inputs: [data/in.y4m, \"*.c\", lib/]\noutputs: \"*.log\"\nshared: [/data, /srv/x.bin]\n")
	if fmt.Sprint(s.Inputs, s.Outputs, s.Shared) != "[data/in.y4m *.c lib/] [*.log] [/data /srv/x.bin]" {
		t.Errorf("%q %q %q", s.Inputs, s.Outputs, s.Shared)
	}
	s.Staged = &Staged{
		Inputs: []assay.Input{{Name: "a.c", SHA256: strings.Repeat("a", 64), Size: 3}},
		Shared: []assay.Shared{{Path: "/data", Size: -1}, {Path: "/srv/x.bin", Size: 7}},
	}
	if _, err := s.Check(); err != nil {
		t.Error(err)
	}
	// The staged files are no part of a study file.
	if text, ok := s.YAML(); !ok || !strings.Contains(text, "inputs: [data/in.y4m, '*.c', lib/]") {
		t.Errorf("%v\n%s", ok, text)
	}
}

func TestStagingFlaws(t *testing.T) {
	for text, says := range map[string]string{
		"inputs: [/etc/passwd]": `study.yaml:3:10: inputs: "/etc/passwd": an input is below the directory of the study ` +
			`(shared:`,
		"inputs: [../secret]":    `study.yaml:3:10: inputs: "../secret": it is not a plain path below a directory`,
		"inputs: [a, a/../../b]": `study.yaml:3:13: inputs: "a/../../b": it is not a plain path`,
		"inputs: [\"[x\"]":       "it is no pattern",
		"inputs: [a, a]":         `study.yaml:3:13: inputs: "a" is there twice`,
		"inputs: .":              "it names no file",
		"outputs: [../*.log]":    "it is not a plain path",
		"outputs: [/var/*.log]":  "it is an absolute path",
		"outputs: {a: b}":        "outputs",
		"shared: [data]":         `study.yaml:3:10: shared: "data": it is no absolute path (inputs:`,
		"shared: [/data/../etc]": "it is written in another way than /etc",
		"app: x\ninputs: [a]":    "app: a study has one of app",
	} {
		_, _, err := Parse("study.yaml", []byte(staging+text+"\n"), nil)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", text, err, says)
		}
	}
	_, _, err := Parse("study.yaml", []byte("app: x264\nparameters: {n: 1..3}\ninputs: [a]\noutputs: [b]\nshared: [/c]\n"),
		nil)
	if err == nil || !strings.Contains(err.Error(),
		"inputs, outputs, shared: how application x264 is run is written on the workers") {
		t.Errorf("%v", err)
	}
}

// Inputs that another process declares are checked as if it had made them up.
func TestStagedFlaws(t *testing.T) {
	hash := strings.Repeat("a", 64)
	in := func(name string) assay.Input { return assay.Input{Name: name, SHA256: hash, Size: 1} }
	var many, long []assay.Input
	for i := range 201 {
		many = append(many, in(fmt.Sprint(i)))
	}
	for i := range 150 {
		long = append(long, in(strings.Repeat(fmt.Sprint(i, "x"), 60)))
	}
	for says, g := range map[string]Staged{
		"not a plain path":                      {Inputs: []assay.Input{in("../x")}},
		"absolute path":                         {Inputs: []assay.Input{in("/x")}},
		"no SHA-256 or no size":                 {Inputs: []assay.Input{{Name: "a", SHA256: "../x", Size: 1}}},
		"there twice":                           {Inputs: []assay.Input{in("a"), in("a")}},
		`"a" is a file, and the directory`:      {Inputs: []assay.Input{in("a"), in("a/b/c")}},
		"201 inputs":                            {Inputs: many},
		"150 inputs with names of":              {Inputs: long},
		"not those that the study names":        {},
		"the shared paths are not those that t": {Inputs: []assay.Input{in("a")}, Shared: []assay.Shared{{Path: "/etc"}}},
	} {
		s := parse(t, staging+"inputs: [a]\n")
		s.Staged = &g
		if _, err := s.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestStagedDiff(t *testing.T) {
	was, is := parse(t, staging+"inputs: [a, b, c]\n"), parse(t, staging+"inputs: [a, b, c]\n")
	in := func(name, digit string) assay.Input {
		return assay.Input{Name: name, SHA256: strings.Repeat(digit, 64)}
	}
	was.Staged = &Staged{Inputs: []assay.Input{in("a", "1"), in("b", "2"), in("c", "3")}}
	is.Staged = &Staged{Inputs: []assay.Input{in("a", "1"), in("b", "9"), in("d", "4")}}
	want := "input b was sha256 222222222222..., now sha256 999999999999...; input c is gone; input d is new"
	if got := strings.Join(was.Diff(is), "; "); got != want {
		t.Errorf("%s", got)
	}
}
