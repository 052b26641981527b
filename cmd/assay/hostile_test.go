package main

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// hostile is a value that would move a cursor, begin a line, end an element of a page and
// be a formula in a spreadsheet.
const hostile = "=1+1\x1b[2J\r\nbest  0 s\u009b2J\u202e\x7f</script><script>alert(1)</script>"

// onRecordHostile puts a study on record of which every text that a user chooses is hostile,
// under the name that it returns, in the store of the house.
func onRecordHostile(h *house) (study string) {
	h.t.Helper()
	study = "s\x1b]0;x\a</script><script>alert(2)</script>"
	def := &spec.Study{
		Version: spec.Version, Command: []string{"prog\x1b[31m", "{v}", "{n}"}, Env: map[string]string{"E\x1b": "\x1b"},
		Params: []spec.Param{
			{Name: "v", Type: "categorical", Values: []string{hostile, "plain"}},
			{Name: "n", Type: "int", Min: 1, Max: 64},
		},
		Metrics:   []spec.Metric{{Name: "m", Source: "stdout:/\x1b([0-9]+)/", Unit: "\x1b[1mB</script>"}},
		Objective: spec.Objective{Metric: "m"}, SubjectTo: []string{"elapsed <= 100"},
	}
	stored, err := json.Marshal(def)
	if err != nil {
		h.t.Fatal(err)
	}
	store, err := setup.OpenStore(h.t.Context(), "")
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	if err := store.Create(ctx, study, stored); err != nil {
		h.t.Fatal(err)
	}
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	var events []assay.Event
	trial := func(id int64, state assay.State, config assay.Config, value float64) *assay.Trial {
		t := &assay.Trial{
			Proposal: assay.Proposal{ID: id, Config: config}, State: state, Value: value, Reason: hostile,
			Started: at, Ended: at.Add(time.Second),
		}
		t.Measurement = assay.Measurement{Elapsed: time.Second, Metrics: map[string]float64{"m": value, "x\x1b": 1}}
		return t
	}
	for i := range 24 {
		id := int64(i + 1)
		state, value := assay.Done, 10+float64(i%7)
		if i%5 == 4 {
			state, value = assay.Failed, math.Inf(1)
		}
		c := assay.Config{float64(i % 2), float64(i + 1)}
		t := trial(id, state, c, value)
		if state == assay.Failed {
			t.Measurement.Metrics = nil
		}
		events = append(events, assay.Event{At: at, Asked: &t.Proposal},
			assay.Event{At: at, Spent: time.Duration(id) * time.Second, Told: t})
	}
	for range 3 {
		events = append(events, assay.Event{At: at, Checked: trial(1, assay.Done, assay.Config{0, 1}, 10)})
	}
	events = append(events, assay.Event{At: at, Spent: time.Minute, Ended: &assay.End{By: "trials"}})
	if _, err := store.Append(ctx, study, 0, events...); err != nil {
		h.t.Fatal(err)
	}
	return study
}

// No command writes a control character that came from a name, a value or a message.
func TestNothingHostileReachesTheTerminal(t *testing.T) {
	testbed.Outside(t)
	h := newHouse(t)
	name := onRecordHostile(h)
	for _, args := range [][]string{
		{"study", "ls"},
		{"study", "ls", "--json"},
		{"study", "show", name},
		{"study", "show", name, "--json"},
		{"study", "trials", name},
		{"study", "trials", name, "--json"},
		{"study", "export", name},
		{"study", "export", name, "--format", "jsonl"},
		{"study", "export", name, "--format", "optuna"},
		{"study", "explain", name},
		{"study", "explain", name, "--json"},
		{"study", "explain", name, "--svg", filepath.Join(h.dir, "x.svg")},
		{"study", "noise", name},
		{"study", "noise", name, "--json"},
		{"study", "similar", name},
		{"study", "fsck"},
		{"study", "output", name, "1"},
		{"study", "show", hostile},
		{"study", "output", name, hostile},
		{hostile},
		{"study", hostile},
		{"tune", hostile},
		{"tune", "--study", name, "-p", "v=1..2", "--", "true"},
		{"tune", "-p", hostile, "--", "true"},
		{"tune", "-p", "v=1..2", "--where", hostile, "--", "true"},
		{"tune", "--dry-run", "-p", "v=a" + hostile + ",b", "--subject-to", "elapsed <= 9", "--", "true", "{v}"},
		{"tune", "--store", "memory", "-p", "v=a" + hostile + ",b", "--", "true", "{v}"},
		{"tune", "--store", "memory", "-p", "v=a" + hostile + ",b", "--json", "--", "true", "{v}"},
		{"tune", "--store", "memory", "-p", "v=a" + hostile + ",b", "--", "false", "{v}"},
		{"compare", "-n", "2", "--", "true", hostile, "--", "true", hostile},
		{"plan", hostile},
		{"learn", hostile},
		{"predict", hostile},
		{"bench", hostile, "--trials", "1"},
		{"study", "rm", name},
	} {
		_, out, errs := h.tryArgs(args, "")
		if args[0] == "study" && strings.Contains(out, "\nbest  0 s") { // a command for a shell may have lines
			t.Errorf("assay %q: a value began a line:\n%s", args, out)
		}
		for i, line := range strings.Split(out+errs, "\n") {
			if j := strings.IndexFunc(line, obeyed); j >= 0 {
				t.Errorf("assay %q: line %d has %q of %q", args, i+1, line[j:min(len(line), j+4)], line)
			}
		}
	}
}

// obeyed reports whether a terminal obeys r rather than showing it.
func obeyed(r rune) bool {
	return r < 0x20 && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e
}
