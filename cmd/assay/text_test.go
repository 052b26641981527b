package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// The text that commands print for people has its required parts, and no colours of a terminal.
func TestText(t *testing.T) {
	testbed.Outside(t)
	h := newHouse(t)
	for _, step := range []struct {
		line  string
		wants []string
	}{
		{"tune t.yaml --trials 12 --study s", []string{
			"best       threads=8 codec=a\n", "elapsed    1 s (trial ", " in simulated time",
		}},
		{"tune e.yaml --trials 6 --repeat 3 --study r --search random", []string{"on record as study r\n"}},
		{"study ls", []string{"study  trials", "\ns ", "simulated"}},
		{"study show s", []string{"replays    ", "progress   "}},
		{"study trials s", []string{"id  state", "threads=8 codec=a"}},
		{"study export s", []string{"threads,codec"}},
		{"study export s --format jsonl", []string{`"state":"done"`}},
		{"study similar s --all", []string{"study  correlation", "r "}},
		{"study explain s --svg x.svg", []string{"12 of them exact", "±"}},
		{"study import m.yaml --study imported", []string{"imported: 25: 25 done\n"}},
		{"study rm imported", []string{"removed imported\n"}},
		{"study fsck", []string{" trials checked: ok\n"}},
		{"learn m.yaml --trials 12 --study lm --model lm.json", []string{
			"model      ", "runs       ", "of 25 assignments", "error %    against the time",
		}},
		{"study show lm", []string{"error %    against the time"}},
		{"learn --from r --model r.json", []string{"ended by   the number of trials; on record as study r\n"}},
		{"predict lm.json", []string{"attributes cpu: ordinal 1 2 3 4 5\n", "           rtt: ordinal 0 1 2 3 4\n"}},
		{"predict lm.json --at cpu=2,rtt=1", []string{"at         cpu=2 rtt=1\ntime       ", " for 95 % of runs\n"}},
		{"predict lm.json --at cpu=2,rtt=1 --at cpu=1,rtt=1", []string{"at           ", "cpu=1 rtt=1"}},
		{"tune m.yaml --trials 20 --search random --study m2", nil},
		{"predict lm.json --against m2", []string{"trial  at ", "(MAPE)", "within it"}},
		{"learn m.yaml --dry-run", []string{"search     nimo, early stopping: none"}},
		{"profile --data t.csv", []string{"bytes      ", "files      1 in 0 directories", "size       least"}},
		{"bench t.yaml --methods rs --budget-x 3 --seeds 2", []string{"3 × median", "1 study, 2 seeds"}},
		{"bench t.yaml --methods rs --budget 10s --seeds 2 --limit power@50,100", []string{"/power@50 ", "/power@100 "}},
		{"plan w.json --slots 1,2 --price 0.04/h --svg p.svg", []string{"2", "no overhead is assumed"}},
		{"plan w.json --simulate --machines 2x2 --error 0.1 --deadline 1h", []string{"w"}},
		{"workflow show w.json --svg g.svg", []string{"w"}},
		{"compare -n 2 -- true -- true", []string{
			"A          true\n", "verdict    ~ no difference is shown", "2 pairs of runs",
		}},
		{"version", []string{"assay "}},
		{"doctor", []string{"workbench: cpu"}},
		{"help tune", []string{"--subject-to"}},
	} {
		got := h.run(step.line)
		for _, want := range step.wants {
			if !strings.Contains(got, want) {
				t.Errorf("assay %s: no %q in\n%s", step.line, want, got)
			}
		}
		if strings.Contains(got, "\x1b") {
			t.Errorf("assay %s: colours in a file", step.line)
		}
	}
	for _, file := range []string{"x.svg", "p.svg", "g.svg"} {
		if b, err := os.ReadFile(h.path(file)); err != nil || !strings.Contains(string(b), "<svg") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A study that is run again goes on: it prints the budget spent, and runs nothing twice.
func TestResume(t *testing.T) {
	h := newHouse(t)
	h.run("tune t.yaml --trials 4 --study s")
	code, out, errs := h.try("tune t.yaml --trials 8 --study s --json", "")
	if code != 0 || !strings.Contains(errs, "resuming study s: ") || !strings.Contains(errs, "4 trials on record, ") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	var o struct {
		Trials struct{ Total int } `json:"trials"`
	}
	if err := json.Unmarshal([]byte(out), &o); err != nil || o.Trials.Total != 8 {
		t.Errorf("got %s, %v", out, err)
	}
	if n := strings.Count(h.run("study trials s --json"), "\n"); n != 8 {
		t.Errorf("%d trials on record", n)
	}
	if code, _, errs := h.try("tune m.yaml --trials 4 --study s", ""); code != codeUsage || !strings.Contains(errs, "s") {
		t.Errorf("a name that is taken: exit code %d\n%s", code, errs)
	}
}

// A study in a store in memory leaves nothing behind.
func TestStoreInMemory(t *testing.T) {
	h := newHouse(t)
	h.run("tune t.yaml --trials 4 --store memory --study s")
	if got := h.run("study ls"); !strings.HasPrefix(got, "no studies yet") {
		t.Errorf("got %s", got)
	}
}

// serve runs a program, and prints its exit and the outcome of its session.
func TestServeProgram(t *testing.T) {
	testbed.Outside(t)
	h := newHouse(t)
	for line, want := range map[string]struct {
		code int
		out  string
		errs string
	}{
		"serve --online c.yaml --store memory -- true": {
			0, "best       none: no iteration was reported\n", "serving study ",
		},
		"serve --online c.yaml --store memory --json -- true": {0, `"found":false`, "ASSAY_ONLINE=unix:"},
		"serve --online c.yaml --store memory -- false": {
			codeFailure, "on record  as study ", "the program ended with exit status 1",
		},
		"serve --online c.yaml --store memory --mode same --listen 127.0.0.1:0 --token-file token.txt -- env": {
			0, "steps      0 in ", "ASSAY_TOKEN_FILE=",
		},
	} {
		code, out, errs := h.try(line+" ", "")
		if code != want.code || !strings.Contains(out, want.out) || !strings.Contains(errs, want.errs) {
			t.Errorf("assay %s: exit code %d\n%s%s", line, code, out, errs)
		}
	}
}

// A command line that is printed to be typed again has no password of a database.
func TestMaskStores(t *testing.T) {
	got := strings.Join(maskStores([]string{
		"tune", "--store", "postgres://me:S3cret@host/db", "--store=postgresql://me:S3cret@host/db?x=y", "--password=theirs",
	}), " ")
	want := "tune --store postgres://me:***@host/db --store=postgresql://me:***@host/db?x=y --password=theirs"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
