package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
)

// wiringTables returns the tables of docs/searchers.md, by their headings.
func wiringTables() map[string]string {
	var se, st, me strings.Builder
	se.WriteString("| `--search` | what it does | options |\n|---|---|---|\n")
	for _, e := range searchers() {
		fmt.Fprintf(&se, "| `%s` | %s | %s |\n", e.name, e.summary, orNone(e.keys))
	}
	st.WriteString("| `--stop` | what it does | options |\n|---|---|---|\n")
	for _, e := range stoppers() {
		fmt.Fprintf(&st, "| `%s` | %s | %s |\n", e.name, e.summary, orNone(e.keys))
	}
	me.WriteString("| `--methods` | what it is | searcher | stopping rule |\n|---|---|---|---|\n")
	for _, e := range methods() {
		fmt.Fprintf(&me, "| `%s` | %s | %s | %s |\n", e.name, e.summary, withOptions(e.searcher, e.search), withOptions(e.stopper, e.stop))
	}
	return map[string]string{"## Searchers": se.String(), "## Stopping rules": st.String(), "## Methods of assay bench": me.String()}
}

// withOptions writes a name and its options as in a study file.
func withOptions(name string, options map[string]any) string {
	text := "`" + name + "`"
	for _, key := range []string{"learner", "stopped", "penalty", "model", "after", "confidence"} {
		if v, ok := options[key]; ok {
			text += fmt.Sprintf(", %s %v", key, v)
		}
	}
	return text
}

// TestSearchersPage compares docs/searchers.md with the wiring table.
func TestSearchersPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/searchers.md")
	if err != nil {
		t.Fatal(err)
	}
	for heading, table := range wiringTables() {
		_, part, ok := strings.Cut(string(page), "\n"+heading+"\n")
		if !ok {
			t.Errorf("no heading %q", heading)
			continue
		}
		part, _, _ = strings.Cut(part, "\n## ")
		if !strings.Contains(part, "\n"+table) {
			t.Errorf("under %q there should be\n%s", heading, table)
		}
	}
}

// TestMethodsAreMade makes every method on a small space.
func TestMethodsAreMade(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9}, {Name: "c", Kind: assay.Categorical, Levels: []string{"a", "b", "c"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range methods() {
		st := &config.Study{Search: config.Method{Name: e.searcher, Seed: 1, Options: e.search}, Stop: config.Stop{Rule: e.stopper, Options: e.stop}}
		s, err := newSearcher(st, space, nil)
		if err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		stopper, err := newStopper(st, space)
		if err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		if (stopper == nil) != (e.stopper == "none") {
			t.Errorf("%s: stopper %v of rule %s", e.name, stopper, e.stopper)
		}
		// Every trial of a small study, so that each learner is fitted.
		var history []assay.Trial
		for {
			ps, err := s.Ask(1)
			if err != nil {
				break
			}
			tr := assay.Trial{Proposal: ps[0], State: assay.Done, Value: 1 + ps[0].Config[0]*(1+ps[0].Config[1])}
			if stopper != nil {
				running := tr
				running.State, running.Value = assay.Running, tr.Value/2
				if d := stopper.Decide(history, running); d.Stop {
					tr.State, tr.Value, tr.Decision = assay.Censored, running.Value, &d
				}
			}
			if tr.ID == 5 {
				tr.State = assay.Infeasible
			}
			history = append(history, tr)
			if err := s.Tell(tr); err != nil {
				t.Fatalf("%s: %v", e.name, err)
			}
		}
		if len(history) != 27 {
			t.Errorf("%s made %d trials of 27", e.name, len(history))
		}
	}
}

func TestWrongOptions(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		searcher, stopper string
		search, stop      map[string]any
		want              string
	}{
		{"bayes", "none", map[string]any{"learner": "oracle"}, nil, `no learner "oracle"`},
		{"bayes", "none", map[string]any{"stopped": "maybe"}, nil, `"maybe" is neither impute nor drop`},
		{"bayes", "none", map[string]any{"penalty": 0.5}, nil, "search option penalty: 0.5 is not a number from 1.01"},
		{"bayes", "none", map[string]any{"penal": 2.0}, nil, `has no option "penal"`},
		{"random", "predictive", nil, map[string]any{"model": "oracle"}, `stop option model: "oracle" is neither aft nor boost`},
		{"random", "predictive", nil, map[string]any{"confidence": 1.0}, "stop option confidence: 1 is not a number"},
		{"random", "predictive", nil, map[string]any{"after": 1.5}, "stop option after: 1.5 is not a whole number"},
		{"random", "static", nil, map[string]any{"after": 2.0}, `stopping rule static has no option "after"`},
		{"random", "never", nil, nil, `no stopping rule "never"`},
	} {
		st := &config.Study{Search: config.Method{Name: c.searcher, Options: c.search}, Stop: config.Stop{Rule: c.stopper, Options: c.stop}}
		_, err := newSearcher(st, space, nil)
		if err == nil {
			_, err = newStopper(st, space)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
