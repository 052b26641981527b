package spec

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

// All that follows from a declaration follows from that of nice: nothing else names it.
func TestNice(t *testing.T) {
	const command = "command: [p, '{a}']\nparameters: {a: 1..3}\n"
	s, _, err := Parse("s.yaml", []byte(command+"nice: 5\n"), nil)
	if err != nil || s.Nice != 5 || s.Place("nice") != "s.yaml:3:7" {
		t.Fatalf("read %+v, at %q, %v", s, s.Place("nice"), err)
	}
	for text, want := range map[string]string{
		command + "nice: x\n":                         `s.yaml:3:7: nice: "x" is not a number`,
		command + "nice: -1\n":                        "s.yaml:3:7: nice: a whole number >= 0 is needed, not -1",
		command + "nise: 1\n":                         `s.yaml:3:1: unknown key "nise" in the study (did you mean nice?)`,
		"app: x264\nnice: 1\nparameters: {a: 1..3}\n": "nice: how application x264 is run is written on the workers",
	} {
		if _, _, err := Parse("s.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\ngot  %v\nwant %s", text, err, want)
		}
	}
	external, _, _ := Parse("s.yaml", []byte("nice: 1\nparameters: {a: 1..3}\n"), func(s *Study) error {
		s.SetAsked()
		return nil
	})
	if external != nil {
		t.Error("an external study has nice")
	}
	stored, err := json.Marshal(s)
	if err != nil || !strings.Contains(string(stored), `"nice":5`) {
		t.Errorf("stored as %s, %v", stored, err)
	}
	back, err := Decode(stored)
	if err != nil || back.Nice != 5 {
		t.Errorf("read back %+v, %v", back, err)
	}
	if text, ok := s.YAML(); !ok || !strings.Contains(text, "nice: 5\n") {
		t.Errorf("written %v as\n%s", ok, text)
	}
	other := *s
	if err := other.Set("nice", "6"); err != nil || other.Nice != 6 {
		t.Errorf("set to %d, %v", other.Nice, err)
	}
	if d := s.Diff(&other); s.Identity() == other.Identity() || len(d) != 1 || d[0] != "nice was 5, now 6" {
		t.Errorf("differs in %q", d)
	}
	if other.Command = nil; other.Executes() != "nice" {
		t.Errorf("an operator may send it: %q", other.Executes())
	}
	online := *s
	if online.SetOnline(); online.Nice != 0 {
		t.Error("on line it is kept")
	}
	page, err := os.ReadFile("../docs/format/study.md")
	schema, err2 := os.ReadFile("../docs/format/study.schema.json")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page),
		"| `nice` | whole number >= 0 | `--nice` | how far a run steps back for other processes |\n") {
		t.Error("the reference has no row")
	}
	var made struct{ Properties map[string]map[string]any }
	if err := json.Unmarshal(schema, &made); err != nil || made.Properties["nice"]["type"] != "integer" {
		t.Errorf("the schema has %v, %v", made.Properties["nice"], err)
	}
}
