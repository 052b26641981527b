package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func benchFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bench.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A key of an inner level replaces the same key of an outer one, whatever the order of the keys.
func TestLevelsOfAComparison(t *testing.T) {
	c, err := LoadComparison(benchFile(t, `
benchmarks:
  small:
    commands:
      old: [run, '{{}}']
      new: {command: [run, -x], prepare: [p3], timeout: 1s}
    env: {SIZE: 1}
    prepare: [p2]
  large:
    commands: {a: [x], b: [y], c: [z]}
    objective: {maximize: fps}
    metrics: {fps: {stdout: 'fps ([0-9]+)', unit: 1/s}}
prepare: [p1]
env: {SIZE: 9, MODE: x}
objective: {minimize: cpu}
warmup: 2
fail_if: slower > 3%
pairs: 50
budget: 2m
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.FailIf != "slower > 3%" || c.Pairs != 50 || c.Budget != 2*time.Minute || len(c.Benchmarks) != 2 {
		t.Errorf("%+v", c)
	}
	small, large := c.Benchmarks[0], c.Benchmarks[1]
	if small.Name != "small" || len(small.Commands) != 2 || len(large.Commands) != 3 {
		t.Fatalf("%+v", c.Benchmarks)
	}
	prepare := func(v Variant) string { return strings.Join(v.Study.Prepare.Argv, " ") }
	for i, want := range []string{"p2", "p3"} {
		v := small.Commands[i]
		if prepare(v) != want || v.Study.Env["SIZE"] != "1" || v.Study.Env["MODE"] != "" || v.Study.Warmup != 2 ||
			v.Study.Objective != (Objective{Metric: "cpu"}) {
			t.Errorf("%s: %+v", v.Name, v.Study)
		}
	}
	if small.Commands[0].Study.Timeout != 0 || small.Commands[1].Study.Timeout != time.Second {
		t.Error("a timeout of one command is that of another")
	}
	v := large.Commands[2]
	if v.Name != "c" || prepare(v) != "p1" || v.Study.Env["MODE"] != "x" ||
		v.Study.Objective != (Objective{Metric: "fps", Maximize: true}) || v.Study.Unit("fps") != "1/s" {
		t.Errorf("%+v", v.Study)
	}
	p, err := small.Commands[0].Study.Program()
	if err != nil || !slices.Equal(p.Argv(nil), []string{"run", "{}"}) {
		t.Errorf("%v, %v", p, err)
	}
}

// Each flaw has its place; a flaw in the keys that all benchmarks share is reported once.
func TestFlawsOfAComparison(t *testing.T) {
	for text, want := range map[string]string{
		"pairs: 0\ncommands: {a: [x], b: [y]}":              "1:8: pairs: a whole number >= 1",
		"budget: 0s\ncommands: {a: [x], b: [y]}":            "1:9: budget: more than 0 is needed",
		"budget: {time: 1s}\ncommands: {a: [x], b: [y]}":    "1:9: budget: a text is needed",
		"parameters: {n: 1..3}\ncommands: {a: [x], b: [y]}": `1:1: unknown key "parameters" in the file`,
		"fail_if: slower":                                                 "1:1: nothing to compare",
		"commands: {a: [x]}":                                              "two commands or more are compared, not 1",
		"commands: {a: [x], a: [y]}":                                      `key "a" is given twice`,
		"commands: {a: [x], b: {shell: true}}":                            "command b: the key command is needed",
		"commands: {a: [x], b: [y]}\nbenchmarks: {c: {}}":                 "a file has one of them",
		"benchmarks: {}":                                                  "benchmarks: at least one is needed",
		"benchmarks: {c: {warmup: 1}}":                                    "benchmark c: commands is needed",
		"benchmarks: {c: {command: [x]}}":                                 `unknown key "command" in benchmark c (did`,
		"commands: {a: [x], b: y}":                                        `a list is needed, not a text: write ["y"]`,
		"metrics: {fps: 'nix:x'}\ncommands: {a: [x], b: [y]}":             `unknown source "nix"`,
		"commands: {a: [x], b: [y, '{setup}']}":                           `1:28: argument 2: no parameter "setup"`,
		"metrics: {cpu: 'size:x'}\ncommands: {a: [x], b: [y]}":            "it is built in",
		"objective: {minimize: fpps}\ncommands: {a: [x], b: [y], c: [z]}": "1:23: objective: unknown metric fpps",
	} {
		path := benchFile(t, text)
		_, err := LoadComparison(path, nil)
		if err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v\nwant %q", text, err, want)
		} else if n := strings.Count(err.Error(), path); n != 1 {
			t.Errorf("%q: %d messages\n%v", text, n, err)
		}
	}
	if _, err := LoadComparison(filepath.Join(t.TempDir(), "nix.yaml"), nil); err == nil {
		t.Error("a file that is not there")
	}
}
