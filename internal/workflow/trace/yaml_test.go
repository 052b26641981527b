package trace

import (
	"strings"
	"testing"

	"github.com/assay-run/assay/workflow"
)

// A table may have all forms of YAML: comments, quotes, lists in either form, anchors of scalars, null for nothing.
func TestYAMLForms(t *testing.T) {
	w, err := read(t, workflow.FillOptions{}, "f", `--- # a table
name: "two words # no comment"
system: ~
tasks:
- id: a
  run_s: 1 # s
  kind: &k 'x'
- {"id": b, run_s: 2, parents: [a], kind:
    y}
- id: c
  run_s: 3
  parents:
  - a
  - "b"
- id: d
  run_s: 4
  parents:
`)
	if err != nil {
		t.Fatal(err)
	}
	wantWaits(t, w, "b<a", "c<a,b")
	if w.Name != "two words # no comment" || w.System != "" || w.Tasks[0].Kind != "x" || w.Tasks[1].Kind != "y" {
		t.Errorf("%q %q %+v", w.Name, w.System, w.Tasks)
	}
}

// An error has the line and column of its cause.
func TestYAMLPlaces(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"tasks:\n  id: a\n", "f:2:3: tasks: want a list"},
		{"tasks:\n  - a\n", "f:2:5: a task: want names and values"},
		{"tasks:\n  - id: [a]\n", "f:2:9: id is no plain value"},
		{"tasks:\n  - id: &a x\n    kind: *a\n", "f:3:11: kind is no plain value"},
		{"tasks:\n  - id: a\n    parents: [[b]]\n", "f:3:15: a parent is no plain value"},
		{"tasks:\n  - id: a\n    run: 1\n", `f:2:5: unknown member "run" of a task`},
		{"tasks:\n  - id: a\n    run_s: -1\n", `f:2:5: run_s of task "a": "-1" is not a number of at least 0`},
		{"tasks:\n  - id: a\n    run_s: 1\nnames: x\n", `f:4:8: unknown member "names" of a workflow`},
		{"name: w\nmakespan_s: soon\ntasks:\n", `f:2:13: makespan_s: "soon" is not a number`},
		{"name: w\ntasks:\n---\nname: x\n", "f:3:1: a second document"},
		{"tasks:\n  - id: \"a\n", "f:2:9: while scanning a quoted scalar: found unexpected end of stream"},
		{"tasks:\n\t- id: a\n", "f:2:1: a tab in the indentation"},
		{"tasks:\n  - {id: a\n", "f:2:5: while parsing a flow mapping: did not find expected ',' or '}'"},
		{"name: " + strings.Repeat("x", maxYAML), "f:1:1: a table of more than 16 MiB"},
	} {
		_, err := read(t, workflow.FillOptions{}, "f", c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %s", c.text, err, c.want)
		}
	}
}
