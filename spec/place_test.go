package spec

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/assay-run/assay"
)

// Every flaw has the place of the piece at fault: where § stands in the file.
func TestFlawPlaces(t *testing.T) {
	const (
		command = "command: [p, '{a}']\n"
		params  = "parameters: {a: 1..3}\n"
		table   = "replay: {file: f, parameters: [a], metrics: {elapsed: t}"
	)
	for _, tt := range []struct{ file, want string }{
		// The command.
		{params + "command: §[]\n", "command: an empty list"},
		{params + "shell: true\ncommand: §' '\n", "command: an empty text"},
		{params + "command: [p, §[x]]\n", "argument 2: a text is needed, not a list"},
		{command + params + "env: {§'A=B': x}\n", `env: "A=B" is no name of a variable`},
		{command + params + "env: {A: §[x]}\n", "env A: a text is needed, not a list"},
		{command + params + "env: {A: '§{b}'}\n", `no parameter "b"`},
		{command + params + "prepare: §' '\n", "prepare: an empty text"},
		{command + params + "cleanup: §[]\n", "cleanup: an empty list"},
		{command + params + "prepare: [rm, 'x-§{b}']\n", `no parameter "b"`},
		{command + params + "setup: §' '\n", "setup: an empty text"},
		{command + params + "setup: §{inputs: x}\n", "setup: a command is needed"},
		{command + params + "setup: [cc, '-D§{b}']\n", `no parameter "b"`},
		{command + params + "setup: {command: [cc, '-D§{b}']}\n", `no parameter "b"`},
		{command + params + "setup: {command: cc, uses: [a, §b]}\n", `no parameter "b"`},
		{command + params + "setup: {command: cc, timeout: §5}\n", "setup.timeout"},
		{command + params + "setup: {command: cc, §input: x}\n", `unknown key "input" in setup (did you mean inputs?)`},
		{"command: ['§{setup}/p', '{a}']\n" + params, `no parameter "setup"`},
		{"command: ['{setup}/p']\nsetup: make\nparameters: {§Setup: 1..3}\n", "give the parameter another name"},
		{command + params + "service: §{ready: {port: 1}}\n", "service: start is needed"},
		{command + params + "service: {start: x, §stopp: y}\n", `unknown key "stopp" in service (did you mean stop?)`},
		{command + params + "service: {start: x, ready: §{}}\n", "one of command, port and output is needed"},
		{command + params + "service: {start: x, ready: {output: §'/(/'}}\n", "missing closing )"},
		{command + params + "service: {start: x, ready: {port: §0}}\n", `"0" is no port, nor HOST:PORT`},
		{command + params + "service: {start: x, ready: {port: 1, within: §5}}\n", "service.ready.within"},
		{command + params + "service: {start: x, restart: §never}\n", `"never" is not one of each, changed`},
		{command + params + "service: {start: [x, '§{b}']}\n", `no parameter "b"`},
		{command + params + "service: {start: x, ready: {command: [x, '§{b}']}}\n", `no parameter "b"`},
		{command + params + "service: §{start: x}\nworkbench: {passive: true}\n", "no service beside it"},
		{command + params + "service: {start: x}\nmetrics: {service_cpu: '§size:x'}\n", "it is built in, of the service"},
		{command + params + "setup: [cc, '§{slot}']\n", `no parameter "slot"`},
		{command + params + "files: {§../x: y}\n", "no path below the working directory"},
		{command + params + "files: {§/etc/x: y}\n", "no path below the working directory"},
		{command + params + "files: {§.: y}\n", "no path below the working directory"},
		{command + params + "files: {x: y, §./x: z}\n", `it is the same file as "x"`},
		{command + params + "files: {x: 'n = §{b}'}\n", `no parameter "b"`},
		{command + params + "files: {x: §[y]}\n", "a text is needed, not a list"},
		{command + params + "parallel: 2\nfiles: {§x: y}\n", "runs side by side would write over"},
		{command + params + "verify: §[]\n", "verify: an empty list"},
		{command + params + "verify: [cmp, 'x-§{b}']\n", `no parameter "b"`},
		{command + params + "warmup: §-1\n", "warmup: a whole number >= 0 is needed, not -1"},
		{command + params + "warmup: §1.5\n", "warmup: a whole number >= 0 is needed, not 1.5"},
		{command + params + "parallel: §'2'\n", "parallel: a number is needed, not the text"},
		{command + params + "place: {§off: x}\n", `unknown key "off" in place`},

		// Parameters.
		{command + "parameters: {§' a': 1..3}\n", "neither begins nor ends with a space"},
		{command + "parameters: {§'a=b': 1..3}\n", "a name has none of { } ? ="},
		{command + "parameters: {§\"a\\tb\": 1..3}\n", "a name has no control characters"},
		{command + "parameters: {§" + strings.Repeat("n", 201) + ": 1..3}\n", "at most 200 bytes"},
		{command + "parameters:\n  a: {type: int, min: 1, max: 3, log: §maybe}\n", `true or false is needed, not "maybe"`},
		{command + "parameters:\n  a: {type: int, min: 1, max: 3, step: §-1}\n", "step -1 is not positive"},
		{command + "parameters:\n  a: {values: [x, §[y]]}\n", "a text is needed, not a list"},
		{command + "parameters:\n  a: §[]\n", "an empty list"},

		// The objective.
		{command + params + "objective: §{}\n", "one of minimize and maximize is needed"},
		{command + params + "subject_to: ['energy <= 1', '§cost < 2']\n", "unknown metric cost"},
		{command + params + "metrics: {elapsed: '§stdout:/(x)/'}\n", "it is built in"},
		{command + params + "metrics: {m: §{stdout: '(x)', stderr: '(x)'}}\n", "one of stdout, stderr"},
		{command + params + "where: ['a < 2', 'a < §b']\n", "b"},

		// How it is searched, and for how long.
		{command + params + "search: {name: random, seed: §x}\n", "a whole number from 0 to 2^64-1"},
		{command + params + "search: {name: bayes, list: [1, §{x: 1}]}\n", "a number or a text is needed, not a mapping"},
		{command + params + "search: §[random]\n", "a mapping"},
		{command + params + "stop: {rule: static, interval: §5}\n", "interval"},
		{command + params + "repeat: {runs: §0}\n", "repeat.runs: a whole number >= 1"},
		{command + params + "repeat: {runs: 2, estimator: §med}\n", `"med" is not one of min, median, mean`},
		{command + params + "budget: §0s\n", "budget.time: more than 0 is needed"},
		{command + params + "budget: {trials: §many}\n", `"many" is not a number`},
		{command + params + "budget: {target: §.inf}\n", "is not a finite number"},
		{command + params + "timeout: §soon\n", "timeout"},
		{command + params + "prior: §'a,a'\n", "neither auto, none nor a list of different names"},
		{command + params + "prior: {use: auto, alpha: §1}\n", "a number between 0 and 1 is needed, not 1"},

		// Recorded tables.
		{"replay: §{parameters: [a], metrics: {elapsed: t}}\n", "file is needed"},
		{"replay: §{file: f, metrics: {elapsed: t}}\n", "parameters (a list of columns) is needed"},
		{"replay: §{file: f, parameters: [a]}\n", "metrics (metric: column) is needed"},
		{"replay: {file: f, parameters: [a, §'b=c'], metrics: {elapsed: t}}\n", "a name has none of"},
		{"replay: {file: f, parameters: [a], metrics: {§'x?': t}}\n", "a name has none of"},
		{"replay: {file: f, parameters: [a], metrics: {elapsed: §[]}}\n", "an empty list"},
		{table + ", unit_scale: {elapsed: §0}}\n", "a number > 0 is needed"},
		{table + ", ok: §{}}\n", "column and equals are needed"},
		{table + ", where: {m: §[x]}}\n", "a text is needed, not a list"},

		// YAML itself.
		{command + params + "name: §*nowhere\n", "nowhere"},
		{command + params + "name: \"x\n", ""},
	} {
		before, after, marked := strings.Cut(tt.file, "§")
		line := strings.Count(before, "\n") + 1
		column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
		_, _, err := Parse("s.yaml", []byte(before+after), nil)
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%sgot %v, want a flaw", tt.file, err)
			continue
		}
		f := e.Flaws[0]
		if marked && (f.Line != line || f.Column != column) || f.File != "s.yaml" ||
			!strings.Contains(f.Message, tt.want) {
			t.Errorf("%sgot %v, want %q at %d:%d", tt.file, e, tt.want, line, column)
		}
		if assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%sclass %v, want usage", tt.file, assay.ClassOf(err))
		}
	}
}
