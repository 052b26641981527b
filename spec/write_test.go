package spec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every study file of the documentation and of the examples is written so that it is read
// as the same study.
func TestYAMLIsTheStudy(t *testing.T) {
	files := map[string]string{
		"all keys": `
name: "a: b"
command: [p, "{n}", "{v?-x}", "it's\x1b\n"]
env: {A: "{n}", "B": "#"}
prepare: "echo a; echo b"
cleanup: [rm, -f, x]
warmup: 2
setup: {command: [cc, "-O{n}", -o, "{setup}/p"], inputs: ["src/**"], uses: [r], timeout: 5m, parallel: true}
parameters:
  n: {type: int, min: 1, max: 64, step: 3, default: 4}
  r: {type: real, min: 1e-9, max: 10, log: true, unit: V}
  o: {type: ordinal, values: [1M, 4M, "007"]}
  v: {type: bool}
  c: {type: categorical, values: ["yes", "null", " x", "a\nb", "</script>"]}
where: ["n <= 4 || c != 'yes'"]
objective: {maximize: speed}
subject_to: [elapsed <= 100]
metrics: {speed: {stdout: "([0-9]+) B/s", unit: B/s}, size: "size:out-{n}"}
search: {name: bayes, seed: 18446744073709551615, learner: forest, initial: 7}
stop: {rule: predictive, interval: 250ms, audit: 0.1}
repeat: {runs: auto, estimator: median}
prior: {use: [s, t], alpha: 0.25, keep: [n=1]}
budget: {time: 1h30m, trials: 10, target: -0.5}
timeout: 90s
parallel: 3
place: {on: local}
`,
		"shell": "command: |\n  a $n\n  b\nshell: true\nparameters: {n: 1..3}\n",
		"replay": "replay: {file: t.csv, where: {m: \"1\"}, parameters: [a], metrics: {elapsed: [x, y], e: z}, " +
			"unit_scale: {e: 0.001}, ok: {column: s, equals: good}}\n",
	}
	examples, err := filepath.Glob("../examples/*/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatal(examples, err)
	}
	for _, name := range examples {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	guide, err := os.ReadFile("../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		files["guide.md: "+m[1][:min(len(m[1]), 30)]] = m[1]
	}
	checked := 0
	for name, text := range files {
		s, _, err := Parse("f.yaml", []byte(text), nil)
		if err != nil {
			if name == "all keys" || name == "shell" || name == "replay" {
				t.Errorf("%s: %v", name, err)
			}
			continue // no study
		}
		checked++
		if s.Online {
			continue
		}
		got, ok := s.YAML()
		if !ok {
			t.Errorf("%s is not read back from what was written:\n%s", name, got)
		}
	}
	if checked < 8 {
		t.Errorf("%d study files", checked)
	}
}

// A study that the writer does not know whole is shown as it is on record.
func TestYAMLOfAnUnknownKey(t *testing.T) {
	s := &Study{
		Version: Version, Command: []string{"p"}, Params: []Param{{Name: "n", Type: "int", Min: 1, Max: 2}},
		Search: Method{Options: map[string]any{"odd": map[string]any{"a": 1}}},
	}
	text, ok := s.YAML()
	var back Study
	if ok || json.Unmarshal([]byte(text), &back) != nil || !strings.Contains(text, `"odd"`) {
		t.Errorf("%v\n%s", ok, text)
	}
}
