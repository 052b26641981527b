package spec

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// body is the rest of a study that has no flaw but the one under test.
const body = "command: [p, '{a}']\nparameters: {a: 1..3}\n"

func TestFlaws(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // the first lines of the flaws, without "s.yaml:"
	}{
		{
			"unknown key", body + "serach: random\n",
			[]string{`3:1: unknown key "serach" in the study (did you mean search?)`},
		},
		{
			"unknown inner key", body + "budget: {tiem: 3s}\n",
			[]string{`3:10: unknown key "tiem" in budget (did you mean time?)`},
		},
		{
			"unknown key of a parameter", "command: [p, '{a}']\nparameters:\n  a: {type: int, min: 1, mx: 3}\n",
			[]string{`3:26: unknown key "mx" in parameter a (did you mean max?)`},
		},
		{
			"duplicate key", body + "name: x\nname: y\n",
			[]string{`4:1: key "name" is given twice in the study, first on line 3`},
		},
		{
			"duplicate parameter", "command: [p, '{a}']\nparameters:\n  a: 1..3\n  a: 1..4\n",
			[]string{`4:3: key "a" is given twice in parameters, first on line 3`},
		},
		{"wrong type", body + "parallel: many\n", []string{`3:11: parallel: "many" is not a number`}},
		{"quoted number", body + "parallel: '2'\n", []string{`3:11: parallel: a number is needed, not the text "2"`}},
		{"list for a number", body + "parallel: [2]\n", []string{`3:11: parallel: a text is needed, not a list`}},
		{"not whole", body + "parallel: 1.5\n", []string{`3:11: parallel: a whole number >= 1 is needed, not 1.5`}},
		{
			"mapping needed", body + "objective: [elapsed]\n",
			[]string{`3:13: objective: a mapping (key: value) is needed, not the text "elapsed"`},
		},
		{"list needed", body + "where: {a: 3}\n", []string{`3:8: where: a list is needed, not a mapping`}},
		{"no value", body + "where:\n", []string{`3:7: where has no value`}},
		{
			"command as text", "command: p --level {a}\nparameters: {a: 1..3}\n",
			[]string{`1:10: command: a list is needed, not a text: write ["p", "--level", "{a}"], ` +
				`or set shell: true to run it with sh -c`},
		},
		{"empty command", "command: []\nparameters: {a: 1..3}\n", []string{`1:10: command: an empty list`}},
		{
			"shell and list", body + "shell: true\n",
			[]string{`1:10: command: with shell: true the command is one text, not a list`},
		},
		{
			"no command", "parameters: {a: 1..3}\n",
			[]string{`nothing to run: a command is needed (or replay: a recorded table; ` +
				`assay ask makes it an external study)`},
		},
		{"no parameters", "command: [p]\n", []string{`no parameters: nothing to tune`}},
		{
			"command and replay", body + "replay: {file: x, parameters: [a], metrics: {elapsed: b}}\n",
			[]string{`1:1: command and replay: a study has one of them`},
		},

		{
			"min above max", "command: [p, '{a}']\nparameters:\n  a: {type: int, min: 5, max: 3}\n",
			[]string{`3:23: parameter a: min 5 is above max 3`},
		},
		{
			"log of zero", "command: [p, '{a}']\nparameters:\n  a: {type: real, min: 0, max: 3, log: true}\n",
			[]string{`3:24: parameter a: log needs min > 0, not 0`},
		},
		{
			"no max", "command: [p, '{a}']\nparameters:\n  a: {type: int, min: 5}\n",
			[]string{`3:3: parameter a: int needs min and max`},
		},
		{
			"int with values", "command: [p, '{a}']\nparameters:\n  a: {type: int, values: [1, 2]}\n",
			[]string{`3:26: parameter a: int has min and max; for a list write type: ordinal`},
		},
		{
			"fraction of an int", "command: [p, '{a}']\nparameters:\n  a: {type: int, min: 0.5, max: 2}\n",
			[]string{`3:23: parameter a: min of an int is a whole number, not 0.5`},
		},
		{
			"beyond 2^53", "command: [p, '{a}']\nparameters:\n  a: {type: int, min: 0, max: 1e17}\n",
			[]string{`3:31: parameter a: max 1e+17 is beyond ±2^53`},
		},
		{
			"nan", "command: [p, '{a}']\nparameters:\n  a: {type: real, min: .nan, max: 3}\n",
			[]string{`3:24: parameter a: min: .nan is not a finite number`},
		},
		{
			"infinity", "command: [p, '{a}']\nparameters:\n  a: {type: real, min: 1, max: .inf}\n",
			[]string{`3:32: parameter a: max: .inf is not a finite number`},
		},
		{
			"overflow", "command: [p, '{a}']\nparameters:\n  a: {type: real, min: 1, max: 1e999}\n",
			[]string{`3:32: parameter a: max: 1e999 is too large`},
		},
		{
			"zero step", "command: [p, '{a}']\nparameters:\n  a: {type: int, min: 1, max: 3, step: 0}\n",
			[]string{`3:40: parameter a: step 0 is not positive`},
		},
		{
			"empty values", "command: [p, '{a}']\nparameters:\n  a: {values: []}\n",
			[]string{`3:15: values: an empty list`},
		},
		{
			"no type", "command: [p, '{a}']\nparameters:\n  a: {unit: s}\n",
			[]string{`3:3: parameter a needs a type, values, or min and max`},
		},
		{
			"same value", "command: [p, '{a}']\nparameters:\n  a: {values: [x, y, x]}\n",
			[]string{`3:22: value "x" is listed twice`},
		},
		{
			"three switches", "command: [p, '{a}']\nparameters:\n  a: {type: bool, values: [x, y, z]}\n",
			[]string{`3:27: parameter a: bool has 2 values: off, then on`},
		},
		{
			"unknown type", "command: [p, '{a}']\nparameters:\n  a: {type: integer, min: 1, max: 2}\n",
			[]string{`3:13: parameter a: type: "integer" is not one of real, int, ordinal, categorical, bool`},
		},
		{
			"short form", "command: [p, '{a}']\nparameters:\n  a: 1..x\n",
			[]string{`3:9: parameter a: "x" is not a number`},
		},
		{
			"bad name", "command: [p]\nparameters:\n  'a{b': 1..2\n",
			[]string{`3:3: parameter "a{b": a name has none of { } ? =`},
		},
		{
			"bad default", "command: [p, '{a}']\nparameters:\n  a: {values: [x, y], default: z}\n",
			[]string{`3:32: parameter a: default z is not one of its values`},
		},
		{
			"inadmissible default",
			"command: [p, '{a}']\nparameters:\n  a: {min: 1, max: 9, default: 7}\nwhere: a < 5\n",
			[]string{`default: the default configuration is not admissible: a=7 does not satisfy "a < 5"`},
		},

		{
			"unknown placeholder", "command: [p, x, '--lvl={lvel}']\nparameters: {level: 1..3}\n",
			[]string{`1:24: argument 3: no parameter "lvel" (did you mean {level}?)`},
		},
		{
			"awk", "command: [awk, '{print $1}', '{a}']\nparameters: {a: 1..3}\n",
			[]string{`1:17: argument 2: no parameter "print $1" (write {{ and }} for braces)`},
		},
		{"unknown name in env", body + "env: {X: '{b}'}\n", []string{`3:11: env X: no parameter "b"`}},
		{
			"single brace", "command: [p, '{a} }']\nparameters: {a: 1..3}\n",
			[]string{`1:19: argument 2: a single } (write }} for a brace)`},
		},

		{"relation does not parse", body + "where: ['a <']\n", []string{`3:12: where 1: unexpected token EOF`}},
		{
			"relation with unknown name", body + "where: ['a < 2', \"a < bb\"]\n",
			[]string{`3:23: where 2: unknown name bb`},
		},
		{
			"relation in a block", body + "where:\n  - |\n    a < 2 &&\n    bb\n",
			[]string{`4:5: where 1: unknown name bb`},
		},
		{
			"relation that no point satisfies", body + "where: a > 5\n",
			[]string{`3:8: where: no configuration is admissible: no value satisfies "a > 5"`},
		},
		{
			"constant relation", body + "where: 1 > 5\n",
			[]string{`3:8: where: no configuration is admissible: "1 > 5" never holds`},
		},
		{
			"limit does not parse", body + "subject_to: [energy <]\n",
			[]string{`3:21: subject_to 1: unexpected token EOF`},
		},
		{
			"limit on an unknown metric", body + "subject_to: [enrgy < 3]\n",
			[]string{`3:14: subject_to 1: unknown metric enrgy (did you mean energy?)`},
		},
		{
			"unknown objective", body + "objective: {minimize: elapsd}\n",
			[]string{`3:23: objective: unknown metric elapsd (did you mean elapsed?)`},
		},
		{
			"one objective twice", body + "objective: {minimize: [elapsed, cpu, elapsed]}\n",
			[]string{`3:38: objective: the metric elapsed is an objective twice`},
		},
		{
			"one objective both ways", body + "objective: [{minimize: cpu}, {maximize: cpu}]\n",
			[]string{`3:41: objective: the metric cpu is an objective twice`},
		},
		{
			"four objectives", body + "objective: {minimize: [elapsed, cpu, energy], maximize: max_rss}\n",
			[]string{`3:57: objective: 4 objectives: at most 3 are possible; make a limit of one (subject_to)`},
		},
		{
			"unknown second objective", body + "objective: {minimize: [elapsed, enegy]}\n",
			[]string{`3:33: objective: unknown metric enegy (did you mean energy?)`},
		},
		{
			"a limit on an objective", body + "objective: {minimize: [elapsed, energy]}\nsubject_to: [energy <= 3]\n",
			[]string{`4:14: subject_to 1: energy is an objective: the Pareto front shows the cost of each value, ` +
				`so that it needs no limit`},
		},
		{
			"a target of a front", body + "objective: {minimize: [elapsed, energy]}\nbudget: {target: 3}\n",
			[]string{`4:18: target: several objectives have no target: use a limit, subject_to`},
		},
		{
			"repeats of a front as it takes", body + "objective: {minimize: [elapsed, energy]}\nrepeat: auto\n",
			[]string{`4:9: repeat: auto compares by one objective`},
		},
		{
			"earlier studies of a front", body + "objective: {minimize: [elapsed, energy]}\nprior: auto\n",
			[]string{`4:8: prior: earlier studies do not help one with several objectives`},
		},
		{
			"no objective in a list", body + "objective: []\n",
			[]string{`3:12: objective: one of minimize and maximize is needed`},
		},
		{
			"metric without a source", body + "metrics: {m: {unit: s}}\n",
			[]string{`3:14: metric m: one of stdout, stderr, json, size, cmd, gpu is needed`},
		},
		{
			"metric with a bad regex", body + "metrics: {m: {stdout: '([0-9'}}\n",
			[]string{"3:24: metric m: the regular expression /([0-9/ at character 2: missing closing ]: [0-9"},
		},
		{
			"metric without a group", body + "metrics: {m: {stdout: '[0-9]'}}\n",
			[]string{`3:24: metric m: the regular expression needs exactly one group`},
		},
		{
			"metric text", body + "metrics: {m: 'stdin:/x/'}\n",
			[]string{`3:15: metric m: unknown source "stdin" (known: stdout, stderr, json, size, cmd, gpu)`},
		},
		{
			"metric with many groups", body + "metrics: {m: 'stdout:/(a)(b)/'}\n",
			[]string{`3:15: metric m: the regular expression needs exactly one group ( ) around the number and has 2`},
		},
		{
			"metric without slashes", body + "metrics: {m: 'stdout:a (b)'}\n",
			[]string{`3:15: metric m: stdout: the regular expression stands between slashes: stdout:/time: ([0-9.]+)/`},
		},
		{
			"metric pointer", body + "metrics: {m: 'json:x.json#y'}\n",
			[]string{`3:15: metric m: json: is followed by FILE#/POINTER: JSON pointer "y" does not begin with /`},
		},
		{
			"metric pointer with ~", body + "metrics: {m: {json: 'x.json#/a~2'}}\n",
			[]string{`3:22: metric m: json: is followed by FILE#/POINTER: JSON pointer "/a~2": ~ must be written ~0`},
		},
		{
			"metric without a file", body + "metrics: {m: {json: '#/a'}}\n",
			[]string{`3:22: metric m: json: is followed by FILE#/POINTER`},
		},
		{
			"metric of nothing", body + "metrics: {m: {cmd: ' '}}\n",
			[]string{`3:21: metric m: cmd: is followed by COMMAND`},
		},
		{"metric with a NUL byte", body + "metrics: {m: {cmd: \"a\\0\"}}\n", []string{`3:20: metric m: `}},
		{
			"placeholder of a metric", body + "metrics: {m: {size: 'out-{b}'}}\n",
			[]string{`3:26: metric m: no parameter "b"`},
		},
		{
			"placeholder of a metric text", body + "metrics: {m: 'size:out-{b}'}\n",
			[]string{`3:24: metric m: no parameter "b"`},
		},
		{
			"placeholder of a metric pointer", body + "metrics: {m: {json: 'x#/a/{b}'}}\n",
			[]string{`3:27: metric m: no parameter "b"`},
		},
		{"built-in metric", body + "metrics: {elapsed: 'size:x'}\n", []string{`3:21: metric elapsed: it is built in`}},

		{
			"duration without a unit", body + "timeout: 90\n",
			[]string{`3:10: timeout: "90" has no unit: write 90s, 90m or 90h`},
		},
		{"bad duration", body + "timeout: soon\n", []string{`3:10: timeout: "soon" is not a duration`}},
		{"negative duration", body + "timeout: -3s\n", []string{`3:10: timeout: "-3s" is not a duration`}},
		{
			"bad estimator", body + "repeat: {runs: 3, estimator: avg}\n",
			[]string{`3:30: repeat.estimator: "avg" is not one of min, median, mean`},
		},
		{
			"bad seed", body + "search: {seed: -1}\n",
			[]string{`3:16: search.seed: a whole number from 0 to 2^64-1 is needed, not "-1"`},
		},
		{"nested option", body + "search: {x: {y: 1}}\n", []string{`3:13: search.x: a text is needed, not a mapping`}},

		{
			"replay without a file", "replay: {parameters: [a], metrics: {elapsed: t}}\n",
			[]string{`1:9: replay: file is needed`},
		},
		{
			"replay scale", "replay: {file: f, parameters: [a], metrics: {elapsed: t}, unit_scale: {x: 1}}\n",
			[]string{`1:72: replay.unit_scale: no metric x in replay.metrics`},
		},
		{
			"replay column twice", "replay: {file: f, parameters: [a, a], metrics: {elapsed: t}}\n",
			[]string{`1:35: column "a" is listed twice`},
		},
		{
			"replay objective", "replay: {file: f, parameters: [a], metrics: {elapsed: t}}\nobjective: {minimize: " +
				"energy}\n", []string{`2:23: objective: unknown metric energy`},
		},
		{
			"replay parameter", "replay: {file: f, parameters: [a], metrics: {elapsed: t}}\nparameters: {b: " +
				"{type: int}}\n", []string{`2:14: parameter b: it is not among the columns`},
		},

		{"not yaml", "command: [p\n", []string{`2:1: while parsing a flow sequence: did not find expected ',' or ']'`}},
		{"tab", "command: [p]\n\tname: x\n", []string{`2:1:`}},
		{"two documents", body + "---\nname: x\n", []string{`3:`}},
		{"a scalar", "hello\n", []string{`1:1: the study: a mapping (key: value) is needed, not the text "hello"`}},
		{"empty", "", []string{`the file is empty`}},
		{"only a comment", "# nothing\n", []string{`the file is empty`}},
		{
			"tab before a key", "command: [p, '{a}']\nparameters:\n\ta: 1..3\n",
			[]string{`3:1: a tab: YAML is indented with spaces`},
		},
		{"tab after spaces", "command:\n  - p\n  \t- x\n", []string{`3:3: a tab: YAML is indented with spaces`}},
		{"tab within a line", "command: [p\t\n", []string{`2:1: while parsing a flow sequence`}},
		{"binary", "\x7fELF\xff\xfe", []string{`not UTF-8 text`}},
		{
			"merge key", "x: &x {a: 1}\n<<: *x\n", []string{
				`1:1: unknown key "x"`,
				`2:1: the study: merge keys (<<) are not supported`,
			},
		},
		{"custom tag", body + "name: !secret x\n", []string{`3:7: name: the tag !secret is not supported`}},
		{"nul", body + "name: \"a\\0b\"\n", []string{`3:7: name: a NUL byte`}},
		{"alias to itself", "name: &a [*a]\n", []string{`aliases (*name) that expand`}},

		{"several", "command: p\nparameters:\n  a: {type: int, min: 3, max: 1}\n  b: {tpye: int}\nserach: " +
			"x\nparallel: 0\n", []string{
			`1:10: command: a list is needed`, `3:23: parameter a: min 3 is above max 1`, `4:7: unknown key "tpye"`,
			`5:1: unknown key "serach"`, `6:11: parallel: a whole number >= 1`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _, err := Parse("s.yaml", []byte(tt.text), nil)
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("got %v, %v; want an *Error", s, err)
			}
			var got []string
			for _, f := range e.Flaws {
				line, _, _ := strings.Cut(f.String(), "\n")
				got = append(got, line)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("got %d flaws, want %d:\n%s", len(got), len(tt.want), strings.Join(got, "\n"))
			}
			for i := range got {
				if rest, ok := strings.CutPrefix(strings.Replace(got[i], "s.yaml: ", "s.yaml:", 1), "s.yaml:"); !ok ||
					!strings.HasPrefix(rest, tt.want[i]) {
					t.Errorf("got  %s\nwant s.yaml:%s", got[i], tt.want[i])
				}
			}
		})
	}
}

func TestFlawCaret(t *testing.T) {
	_, _, err := Parse("s.yaml", []byte(body+"where: ['a < 2 && thread > 3']\n"), nil)
	want := "s.yaml:3:19: where 1: unknown name thread\n    a < 2 && thread > 3\n             ^"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestFlawsAreCut(t *testing.T) {
	var b strings.Builder
	b.WriteString(body)
	for i := range 25 {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	_, _, err := Parse("s.yaml", []byte(b.String()), nil)
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Flaws) != 10 || e.More != 15 || !strings.HasSuffix(err.Error(), "\n... and 15 more") {
		t.Errorf("got %v", err)
	}
}

func bomb(levels, width int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i := 1; i < levels; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), width),
			","))
	}
	return b.String()
}

// Bombs are refused within 100 ms and 64 MiB.
func TestBombs(t *testing.T) {
	million := func(f string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, f, i)
		}
		return b.String()
	}
	tests := []struct{ name, text, want string }{
		{"aliases", bomb(30, 10), "expand to more than"},
		{"aliases in a parameter", bomb(9, 9) + "parameters: {a: {values: *a8}}", "expand to more than"},
		{"depth in flow", strings.Repeat("[", 10_000), "nested deeper than 32"},
		{"depth in blocks", strings.Repeat("- ", 10_000), "nested deeper than 32"},
		{"depth in mappings", strings.Repeat("{a: ", 10_000), "nested deeper than 32"},
		{
			"a million values", "command: [p, '{a}']\nparameters:\n  a: {values: [" + million("%d,", 1_000_000) +
				"]}\n", "more than 100,000 values",
		},
		{
			"too many values", "command: [p, '{a}']\nparameters:\n  a: {values: [" + million("%d,", 20_000) + "]}\n",
			"more than 10,000 values",
		},
		{"a million parameters", "parameters:\n" + million("  p%d: 1..2\n", 1_000_000), "more than 100,000 values"},
		{"anchors", strings.Repeat("&a ", 10_000) + "x", ""},
		{"a long text", "name: " + strings.Repeat("x", 1<<20) + "\n" + body, "a text of more than 100,000 bytes"},
		{"too large", strings.Repeat("#", MaxFile+1), "larger than 16 MiB"},
		{
			"a large regex", body + "metrics: {m: {stdout: '" + strings.Repeat("(?:a{1000}){1000}", 100) + "(x)'}}",
			"invalid repeat count",
		},
		{
			"a nested regex", body + "metrics: {m: {stdout: '" + strings.Repeat("(?:", 300) + "a" +
				strings.Repeat("{9})", 300) + "(x)'}}", "invalid repeat count",
		},
		{"a long relation", body + "where: '" + strings.Repeat("a<1||", 15_000) + "a<1'", "longer than 10,000 bytes"},
		{
			"a template of braces", "command: [p, '" + strings.Repeat("{a?", 100_000) + "']\nparameters: {a: 1..2}",
			"more than 100,000 values",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := []byte(tt.text)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, _, err := Parse("s.yaml", data, nil)
			runtime.ReadMemStats(&after)
			d := time.Hour // of processor time, the least of a few: the machine may be busy
			for n := 0; n < 3 || n < 10 && d > 100*time.Millisecond; n++ {
				start := processorTime(t)
				Parse("s.yaml", data, nil)
				d = min(d, processorTime(t)-start)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %.200v, want %q", err, tt.want)
			}
			if err != nil && len(err.Error()) > 2000 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%v, %d MiB allocated", d.Round(time.Millisecond), allocated)
			if tt.want != "" && (d > 100*time.Millisecond || allocated > 64) {
				t.Errorf("took %v and %d MiB", d, allocated)
			}
		})
	}
}

// processorTime returns the processor time that this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(x264))
	f.Add([]byte(replayed))
	f.Add([]byte(bomb(4, 4)))
	f.Add([]byte(body + "serach: x\n? [a]\n: b\n--- x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _, err := Parse("s.yaml", data, nil)
		if err != nil {
			if e, ok := errors.AsType[*Error](err); !ok || len(e.Flaws) == 0 || e.Error() == "" {
				t.Errorf("error %T: %v", err, err)
			}
			return
		}
		if s.Replay == nil {
			space, err := s.Space()
			if err != nil {
				t.Fatalf("a study without flaws has no space: %v", err)
			}
			p, err := s.Program()
			if err != nil {
				t.Fatalf("a study without flaws has no program: %v", err)
			}
			if c, ok, err := s.Default(space); err != nil {
				t.Error(err)
			} else if ok {
				p.Argv(c)
				p.Env(c)
			}
		}
		if _, err := s.Goal(); err != nil {
			t.Error(err)
		}
	})
}
