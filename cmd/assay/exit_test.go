package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// A mistake on a command line ends with code 2 and a message that names it, before anything is run or written.
func TestMistakes(t *testing.T) {
	h := newHouse(t)
	h.run("tune t.yaml --trials 4 --study s")
	h.run("learn m.yaml --trials 8 --study lm --model lm.json")
	before := h.run("study ls --json")
	for line, says := range map[string]string{
		"nix":                                        `unknown command "nix"`,
		"tune":                                       "what shall be tuned?",
		"tune t.yaml c.yaml":                         "one study file at a time, not 2",
		"tune nix.yaml":                              "nix.yaml: no such file or directory",
		"tune t.yaml --trials 0":                     "--trials 0: a whole number >= 1 is needed",
		"tune t.yaml --parallel 0":                   "--parallel 0: a whole number >= 1 is needed",
		"tune t.yaml --check -1":                     "--check -1: write auto, a number of pairs, or none",
		"tune t.yaml --budget soon":                  `--budget soon: "soon" is not a duration`,
		"tune t.yaml --interval -1s":                 `--interval -1s: "-1s" is not a duration`,
		"tune t.yaml --repeat x":                     `--repeat x: "x" is not a number`,
		"tune t.yaml --minimize a --maximize b":      "--minimize and --maximize exclude each other",
		"tune t.yaml --default threads":              `--default "threads": a default is written NAME=VALUE`,
		"tune c.yaml --default m=1":                  `--default m=1: no parameter "m"`,
		"tune t.yaml --prior a,a":                    `--prior a,a: "a,a" is neither auto, none nor`,
		"tune t.yaml --alpha 2":                      "--alpha 2: a number between 0 and 1 is needed",
		"tune t.yaml --metric x":                     "x",
		"tune t.yaml --dry-run --json":               "--dry-run has no result",
		"tune t.yaml --trials x":                     `--trials x: "x" is not a number`,
		"learn":                                      "what shall be learned?",
		"learn m.yaml --from lm":                     "--from lm runs nothing",
		"learn --from nix":                           `no study "nix"`,
		"learn m.yaml --error x":                     "--error x: not a percentage",
		"learn m.yaml --model /nix/m.json":           "there is no directory",
		"predict":                                    "an argument is missing",
		"predict nix.json":                           "nix.json: no such file",
		"predict t.yaml":                             "not a model of assay learn",
		"predict lm.json --at cpu":                   "--at cpu: an assignment is written NAME=VALUE",
		"predict lm.json --at cpu=1,cpu=2":           "cpu is given twice",
		"predict lm.json --at cpu=1":                 "the model's attributes are cpu, rtt",
		"predict lm.json --against s":                `study s: no attribute "`,
		"predict lm.json --against nix":              `no study "nix"`,
		"bench t.yaml":                               "a budget is needed",
		"bench t.yaml --trials 0":                    "--trials 0: not a number of trials",
		"bench t.yaml --budget-x 0":                  "--budget-x 0: not a positive number",
		"bench t.yaml --budget x":                    "--budget x: not a duration",
		"bench t.yaml --trials 2 --seeds 0":          "--seeds and --jobs are at least 1",
		"bench t.yaml --trials 2 --methods ,":        "no method is given",
		"bench t.yaml --trials 2 --methods x":        "x",
		"bench c.yaml --trials 2":                    "bench needs a recorded table",
		"bench t.yaml --trials 2 --limit a@5":        "t.csv has no such metric",
		"plan":                                       "an argument is missing",
		"plan w.json --slots x":                      `--slots "x"`,
		"plan w.json --levels x":                     "--levels",
		"plan w.json --delay -1s":                    "--delay -1s: it is negative",
		"plan w.json --budget -1":                    "--budget -1: not a sum",
		"plan w.json --error 1":                      "--error 1: not a number from 0",
		"plan w.json --samples 0":                    "--samples 0: at least 1",
		"plan w.json --clusters -1":                  "--clusters -1: at least 1",
		"plan w.json --machines x":                   "--machines",
		"plan w.json --model k=lm.json":              "--model needs --sites",
		"plan w.json --save-calibration c.json":      "--save-calibration without --calibrate",
		"workflow show w.json --slots 0":             "--slots 0: at least 1",
		"workflow show w.json --levels tda,bua":      "one way to count levels at a time",
		"workflow calibrate nix.json":                "nix.json: no such file",
		"serve":                                      "what shall be tuned?",
		"serve --online c.yaml --listen 127.0.0.1:0": "--listen excludes --socket and needs --token-file",
		"serve --online c.yaml --mode x":             "x",
		"serve --online c.yaml --deadline x":         "--deadline x: not a duration",
		"serve --online c.yaml -- /nix/prog":         "/nix/prog",
		"serve status":                               "which session?",
		"serve pause --at nix":                       "not the address of a session",
		"profile --dir x --data y":                   "--data and --dir exclude each other",
		"profile --host x":                           "--host x: not an address",
		"profile --time 1ms":                         "--time 1ms: not a duration from 1s to 1h",
		"profile --data nix.csv":                     "nix.csv: no such file",
		"compare -- true":                            "two commands are needed",
		"compare":                                    "two commands are needed",
		"compare true -- true":                       "a file of benchmarks has its own commands",
		"compare -- true -- -- true":                 "two commands are needed",
		"compare -n 0 -- true -- true":               "--pairs is at least 1",
		"compare --pairs 0 -- true -- true":          "--pairs is at least 1",
		"compare --fail-if 3% -- true -- true":       `--fail-if "3%": a limit is written 'slower > 3%'`,
		"compare --json --markdown -- true -- true":  "exclude each other",
		"compare --junit nix/j -- true -- true":      "there is no directory nix",
		"compare --maximize fps -- true -- true":     "--maximize: unknown metric fps",
		"compare --metric a=b -- true -- true":       "a source is one of",
		"compare --setup make -- true -- true":       "--setup builds the commits of --builds",
		"compare --builds HEAD -- true":              "two commits and one command are needed",
		"compare --builds a b -- true -- true":       "two commits and one command are needed",
		"compare nix.yaml":                           "nix.yaml: no such file",
		"compare c.yaml":                             `unknown key "command"`,
		"compare --metric x -- true -- true":         "--metric",
		"compare --budget x -- true -- true":         "--budget x: not a duration",
		"compare -- true -- /nix/prog":               "/nix/prog",
		"study show nix":                             `no study "nix"`,
		"study explain nix":                          `no study "nix"`,
		"study noise s":                              "no configuration with 3 runs or more",
		"study noise s --error 0":                    "--difference and --error are between 0 and 1",
		"study output s x":                           `"x" is not the number of a trial`,
		"study export s --format x":                  "--format x: there are csv, jsonl and optuna",
		"study rm s nix":                             "nothing was removed",
		"study import c.yaml":                        "import needs a recorded table",
		"catalogue":                                  "an argument is missing",
		"catalogue nix":                              `no catalogue of "nix" (there are gcc, clang, postgresql,`,
		"catalogue sysctl --top 0":                   "--top 0: at least 1",
		"catalogue sysctl --only nix":                "sysctl has no setting nix that can be tuned",
		"doctor x":                                   "too many arguments: x",
		"help nix":                                   `unknown command "nix"`,
	} {
		code, out, errs := h.try(line, "")
		if code != codeUsage || !strings.HasPrefix(errs, "assay: ") || !strings.Contains(errs, says) || out != "" {
			t.Errorf("assay %s: exit code %d, want %d and %q\n%s%s", line, code, codeUsage, says, errs, out)
		}
	}
	if after := h.run("study ls --json"); after != before {
		t.Errorf("the store has changed:\n%s\nwas\n%s", after, before)
	}
}

// A study without a result ends with code 3 and the reason; so does a model without a run.
func TestNoResult(t *testing.T) {
	testbed.Outside(t)
	h := newHouse(t)
	for line, says := range map[string]string{
		"tune c.yaml --trials 3 --check 0 --study c":        "The first reasons:\n  trial 1 (n=",
		"tune c.yaml --trials 2 --check 0 --json --study d": "The first reasons:\n  trial 1 (n=",
		"learn --from c --model c.json":                     "no run to its end: there is no model",
	} {
		if strings.HasPrefix(line, "learn") {
			h.try("tune c.yaml --trials 3 --check 0 --study c", "")
		}
		code, out, errs := h.try(line, "")
		if code != codeNoResult || !strings.Contains(errs, says) {
			t.Errorf("assay %s: exit code %d\n%s", line, code, errs)
		}
		if strings.Contains(line, "--json") && !strings.Contains(out, `"best":null`) {
			t.Errorf("got %s", out)
		}
	}
	if _, err := os.Stat(h.path("c.json")); err == nil {
		t.Error("a model was written")
	}
}

// Flags lie over the study file, and over nothing else of it.
func TestFlagsOverFile(t *testing.T) {
	h := newHouse(t)
	text := `command: [echo, '{n}']
parameters: {n: 1..9}
objective: {minimize: user}
search: {name: random, seed: 3}
stop: {rule: none}
repeat: {runs: 2}
budget: {time: 1m, trials: 10}
`
	if err := os.WriteFile(h.path("f.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file := []string{"n: int 1..9", "objective  minimize user\n", "search     random, early stopping: none, seed 3\n"}
	for flags, want := range map[string][]string{
		"":                        file,
		"--trials 4 --budget 2m":  file,
		"--maximize max_rss":      {file[0], "objective  maximize max_rss\n", file[2]},
		"--search lhs --seed 7":   {file[0], file[1], "search     lhs, early stopping: none, seed 7\n"},
		"--stop incumbent":        {file[0], file[1], "search     random, early stopping: incumbent, seed 3\n"},
		"-p n=2..4 --default n=3": {"n: int 2..4\n", file[1], file[2], "first runs echo 3\n"},
		"--where n<2":             {file[0], "where      n<2\n", "first runs echo 1\n"},
		"-- true {n}x":            {file[0], file[1], "first runs true "},
	} {
		got := h.run("tune f.yaml --dry-run " + flags)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%q: no %q in\n%s", flags, text, got)
			}
		}
	}
	if code, _, _ := h.try("study show f", ""); code != codeUsage {
		t.Error("a dry run left a study on record")
	}
}

// A command line makes the study that a file with the same content makes.
func TestFlagsWithoutFile(t *testing.T) {
	testbed.Outside(t)
	h := newHouse(t)
	out := h.run("tune -p n=1..3 -p m=a,b --where n<3||m=='a' --minimize cpu --subject-to max_rss<=2e9 " +
		"--search grid --seed 5 --stop none --trials 2 --check 0 --study x --json -- true {n} {m}")
	var got struct {
		Objective struct{ Metric string } `json:"objective"`
		Trials    struct{ Total int }     `json:"trials"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Objective.Metric != "cpu" || got.Trials.Total != 2 {
		t.Errorf("got %s, %v", out, err)
	}
	shown := h.run("study show x")
	for _, want := range []string{
		"command    true '{n}' '{m}'\n", "parameters n: int 1..3\n           m: categorical a b\n",
		"where      n<3||m=='a'\n", "objective  minimize cpu\n", "subject to max_rss<=2e9\n",
		"search     grid, early stopping: none, seed 5\n",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
}

// A command in quotes is a line for a shell: the error has the two ways out.
func TestCommandInQuotes(t *testing.T) {
	h := newHouse(t)
	for _, args := range [][]string{
		{"tune", "-p", "n=1..9", "--", "sleep 0.0{n}"}, {"tune", "--", "sleep 0.0{n}"},
	} {
		code, _, errs := h.tryArgs(append([]string{args[0], "--store", "memory"}, args[1:]...), "")
		if code != 2 || !strings.Contains(errs, "without quotes around it, or use --shell") {
			t.Errorf("%q ends with %d: %s", args, code, errs)
		}
	}
}

// Each command that looks at a store or a server looks at the server of the environment, and at a store that is named.
// One that works on a store alone reports that the server is not meant. The table has every subcommand of study.
func TestServerOfTheEnvironment(t *testing.T) {
	h := newHouse(t)
	h.run("tune t.yaml --trials 6 --study s")
	t.Setenv("ASSAY_SERVER", "unix:"+filepath.Join(h.dir, "none.sock"))
	const asked, refused = "none.sock", "has no --server: name the store"
	table := map[string][2]string{
		"ls": {"", asked}, "show": {"s", asked}, "trials": {"s", asked}, "front": {"s", asked}, "export": {"s", asked},
		"explain": {"s", asked}, "noise": {"s", asked}, "apply": {"s", asked}, "output": {"s 1", asked},
		"files": {"s 1", asked}, "add": {"s threads=1", asked}, "pause": {"s", asked}, "resume": {"s", asked},
		"stop": {"s", asked}, "priority": {"s 1", asked}, "watch": {"s", asked},
		"rm": {"s --yes", refused}, "similar": {"s", refused}, "import": {"t.yaml", refused},
		"copy": {"s --to b.db", refused}, "recover": {"spool", refused}, "fsck": {"", refused},
		"builds": {"--json", ""}, // of this machine
	}
	for _, c := range studyCommand(streams{}).Commands() {
		row, is := table[c.Name()]
		if !is {
			t.Errorf("study %s is not in the table", c.Name())
			continue
		}
		line := strings.TrimSpace("study " + c.Name() + " " + row[0])
		if code, out, errs := h.try(line, ""); (code == 0) != (row[1] == "") || !strings.Contains(errs, row[1]) {
			t.Errorf("%s ends with %d: %s%s", line, code, out, errs)
		}
	}
	if code, out, errs := h.try("report s -o r.html", ""); code == 0 || !strings.Contains(errs, asked) {
		t.Errorf("report ends with %d: %s%s", code, out, errs)
	}
	at := filepath.Join(h.dir, "assay", "assay.db")
	if out := h.run("study ls --store " + at); !strings.Contains(out, "s ") {
		t.Errorf("with --store: %s", out)
	}
}
