package spec

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A study that comes from flags alone names arguments and flags, not places.
func TestCheckWithoutFile(t *testing.T) {
	level := Param{Name: "level", Type: "int", Min: 1, Max: 19}
	tests := []struct {
		name  string
		study Study
		want  string
	}{
		{
			"placeholder",
			Study{Command: []string{"zstd", "-{lvel}"}, Params: []Param{level}},
			"argument 2: no parameter \"lvel\" (did you mean {level}?)\n    -{lvel}\n     ^",
		},
		{
			"relation",
			Study{
				Command: []string{"zstd", "{level}"}, Params: []Param{level}, Where: []string{"level < 3", "level <"},
			},
			"where 2: unexpected token EOF\n    level <\n          ^",
		},
		{
			"empty space",
			Study{Command: []string{"zstd", "{level}"}, Params: []Param{level}, Where: []string{"level > 30"}},
			"where: no configuration is admissible: no value satisfies \"level > 30\"",
		},
		{
			"limit",
			Study{Command: []string{"zstd", "{level}"}, Params: []Param{level}, SubjectTo: []string{"max_rs < 3"}},
			"subject_to 1: unknown metric max_rs (did you mean max_rss?)",
		},
		{
			"objective",
			Study{
				Command: []string{"zstd", "{level}"}, Params: []Param{level},
				Objective: Objective{Metric: "fps", Maximize: true},
			},
			"objective: unknown metric fps (known: elapsed, user, ",
		},
		{
			"twice",
			Study{Command: []string{"zstd", "{level}"}, Params: []Param{level, level}},
			"parameter level: it is declared twice",
		},
		{"nothing to tune", Study{Command: []string{"zstd"}}, "no parameters: nothing to tune"},
		{"nothing to run", Study{Params: []Param{level}}, "nothing to run"},
		{
			"negative",
			Study{Command: []string{"zstd", "{level}"}, Params: []Param{level}, Timeout: -time.Second},
			"timeout: it is below 0",
		},
		{
			"estimator", Study{
				Command: []string{"zstd", "{level}"}, Params: []Param{level},
				Repeat: Repeat{Estimator: "avg"},
			}, `repeat.estimator: "avg" is not one of`,
		},
		{
			"shell and list",
			Study{Command: []string{"zstd $LEVEL", "x"}, Shell: true, Params: []Param{level}},
			"command: with a shell the command is one text",
		},
		{
			"hook",
			Study{Command: []string{"zstd", "{level}"}, Params: []Param{level}, Prepare: Hook{Shell: true}},
			"prepare: a shell line is one text",
		},
		{
			"setup",
			Study{
				Command: []string{"zstd", "{level}"}, Params: []Param{level},
				Setup: Setup{Hook: Hook{Argv: []string{"a", "b"}, Shell: true}},
			},
			"setup: a shell line is one text",
		},
	}
	for _, tt := range tests {
		_, err := tt.study.Check()
		if _, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got\n%v\nwant\n%s", tt.name, err, tt.want)
		}
	}
}

func TestMetricSpec(t *testing.T) {
	for _, good := range []string{
		"fps=stdout:/fps=([0-9.]+)/", "n=json:out.json#/a/0", "n=json:out.json#",
		"n=json: out.json", "n=json:{a}.json#/{a}", "n=json:a#b.json#/x", "size=size:a{b}.out", "x=cmd:wc -c < out",
		"a=stderr:/(?:a|b)(x)/",
	} {
		m, err := MetricSpec(good)
		if err != nil || m.Name+"="+m.Source != good {
			t.Errorf("%s: got %+v, %v", good, m, err)
		}
	}
	for bad, want := range map[string]string{
		"fps": "written NAME=SOURCE", "=size:x": "it has no name", "a=b": "a source is one of",
		"a=size:": "size: is followed by FILE", "a=cmd: ": "cmd: is followed by COMMAND",
		"a=stdout:x": "between slashes", "a=stdout:/x/": "exactly one group", "a=stdout:/(x/": "missing closing )",
		"a=json:x#y": "FILE#/POINTER", "a=json:#/y": "FILE#/POINTER", "a=json:f#/~": "~0",
		"a=file:x": `unknown source "file"`,
		"a=stdout:/" + strings.Repeat("x", 10_000) + "(x)/": "at most 10,000 bytes", "a=size:x\x00": "NUL",
	} {
		_, err := MetricSpec(bad)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", bad, err, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour,
		"250ms": 250 * time.Millisecond, "0": 0, "0d": 0,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "90", "-1s", "1.5d", "d", "99999d", "30000d2500000h", "1d-1h", "x", "1h1d"} {
		if got, err := ParseDuration(bad); err == nil {
			t.Errorf("%s: got %v, want an error", bad, got)
		}
	}
}
