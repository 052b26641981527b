package trace

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/workflow"
)

// wantError checks that a source named f is refused in words that hold want.
func wantError(t *testing.T, text, want string) {
	t.Helper()
	_, err := read(t, workflow.FillOptions{Allow: true}, "f", text)
	var in *workflow.InputError
	if !errors.As(err, &in) || !strings.Contains(err.Error(), want) {
		t.Errorf("%.200q: got %v\nwant %s", text, err, want)
	}
}

// Members may come in any order: an execution before its specification equals one after it.
func TestExecutionBeforeSpecification(t *testing.T) {
	spec := `"specification":{"tasks":[{"id":"a","name":"a","outputFiles":["f"]},` +
		`{"id":"b","name":"b","parents":["a"],"inputFiles":["f"]}],"files":[{"id":"f","sizeInBytes":7}]}`
	exec := `"execution":{"makespanInSeconds":9,"machines":[{"nodeName":"m","cpu":{"coreCount":4}}],"tasks":[` +
		`{"id":"b","runtimeInSeconds":2,"machines":["m"],"command":{"program":"/bin/sort"}},` +
		`{"id":"a","runtimeInSeconds":1}]}`
	var got []*workflow.Workflow
	for _, text := range []string{
		`{"schemaVersion":"1.5","workflow":{` + spec + "," + exec + "}}",
		`{"workflow":{` + exec + "," + spec + `},"schemaVersion":"1.5"}`,
	} {
		w, err := read(t, workflow.FillOptions{}, "f", text)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, w)
	}
	for _, w := range got {
		wantWaits(t, w, "b<a")
		b := w.Tasks[1]
		if b.Run != 2 || b.Kind != "sort" || b.In != 7 || w.Machines[b.Machine].Cores != 4 || w.Makespan != 9 {
			t.Errorf("%+v of a makespan of %v", b, w.Makespan)
		}
	}
	other := strings.Replace(spec, `"id":"b"`, `"id":"c"`, 1)
	wantError(t, `{"workflow":{`+exec+","+other+"}}", `task "b" of the execution`)
	wantError(t, `{"workflow":{`+exec+"}}", "workflow.execution without workflow.specification")
}

// The kind of a task is its category, else its program, else its name without a numbering. A script in
// place of a program does not count.
func TestKindOfATask(t *testing.T) {
	for _, tt := range []struct{ name, members, want string }{
		{"category", `"category":"map","command":{"program":"/bin/x"}`, "map"},
		{"program", `"command":{"program":"/usr/bin/sort","arguments":["-n"]}`, "sort"},
		{"script", `"command":{"program":"set -e; sort -n"}`, "name"},
		{"no program", `"command":{"arguments":[]}`, "name"},
		{"name", `"type":"compute"`, "name"},
	} {
		text := `{"workflow":{"tasks":[{"name":"name_ID007","runtime":1,` + tt.members + `}]}}`
		w, err := read(t, workflow.FillOptions{}, "f", text)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if w.Tasks[0].Kind != tt.want || w.Tasks[0].Auxiliary {
			t.Errorf("%s: a run of %q (auxiliary %v), want %q", tt.name, w.Tasks[0].Kind, w.Tasks[0].Auxiliary, tt.want)
		}
	}
}

// The older members mean other units: memory is kilobytes, memoryInBytes bytes.
func TestUnitsOfMembers(t *testing.T) {
	text := `{"workflow":{"machines":[{"nodeName":"m","memory":16,"cpu":{"count":4,"speed":2400}},` +
		`{"nodeName":"n","memoryInBytes":16,"cpu":{"coreCount":2,"speedInMHz":"fast"}},{"memory":1}],` +
		`"tasks":[{"name":"a","runtime":1,"memory":3,"bytesRead":5,"bytesWritten":6,"machine":"m","cores":2},` +
		`{"name":"b","runtime":1,"memoryInBytes":3,"readBytes":5,"writtenBytes":6,"machines":["n","m"],"machine":null}]}}`
	w, err := read(t, workflow.FillOptions{}, "f", text)
	if err != nil {
		t.Fatal(err)
	}
	a, b := w.Tasks[0], w.Tasks[1]
	if a.Memory != 3000 || b.Memory != 3 || a.Cores != 2 {
		t.Errorf("memory of %v and %v B, %v cores", a.Memory, b.Memory, a.Cores)
	}
	if a.Read != 5 || b.Read != 5 || a.Written != 6 || b.Written != 6 {
		t.Errorf("tasks %+v and %+v", a, b)
	}
	m, n := w.Machines[a.Machine], w.Machines[b.Machine]
	if m.Name != "m" || m.Memory != 16000 || m.Cores != 4 || m.MHz != 2400 {
		t.Errorf("machine %+v", m)
	}
	if n.Name != "n" || n.Memory != 16 || n.Cores != 2 || n.MHz != 0 {
		t.Errorf("machine %+v", n)
	}
	if len(w.Machines) != 2 {
		t.Errorf("%d machines, want 2: one has no name", len(w.Machines))
	}
}

// Dependencies are the union of parents and children, by id or by name. The files imply them only if there are none.
func TestDependenciesOfBothSides(t *testing.T) {
	tasks := func(a, b string) string {
		return `{"workflow":{"tasks":[{"name":"first","id":"1","runtime":1,` + a + `},` +
			`{"name":"second","id":"2","runtime":1,` + b + `},` +
			`{"name":"third","id":"3","runtime":1,"files":[{"link":"input","name":"f"}]}]}}`
	}
	for _, tt := range []struct {
		name, a, b string
		want       []string
	}{
		{"by id", `"children":["2"]`, `"children":[]`, []string{"2<1"}},
		{"by name", `"children":["second"]`, `"parents":["first"]`, []string{"2<1"}},
		{"both sides", `"children":["2"]`, `"parents":["1"],"children":["3"]`, []string{"2<1", "3<2"}},
		{
			"files, where nothing else is said", `"files":[{"link":"output","name":"f","size":3}]`,
			`"files":[{"link":"INPUT","name":"f"}]`,
			[]string{"2<1", "3<1"},
		},
		{
			"files count for nothing beside", `"children":["2"],"files":[{"link":"output","name":"f"}]`,
			`"parents":[]`,
			[]string{"2<1"},
		},
	} {
		w, err := read(t, workflow.FillOptions{}, "f", tasks(tt.a, tt.b))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := waits(w); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A file of the same name in another folder is another file.
func TestFilesHavePaths(t *testing.T) {
	text := `{"workflow":{"tasks":[{"name":"a","runtime":1,"files":[{"link":"output","path":"x/","name":"f","size":3}]},` +
		`{"name":"b","runtime":1,"files":[{"link":"input","path":"y/","name":"f","size":5}]}]}}`
	w, err := read(t, workflow.FillOptions{}, "f", text)
	if err != nil {
		t.Fatal(err)
	}
	if w.Graph.Edges() != 0 || w.Tasks[0].Out != 3 || w.Tasks[1].In != 5 {
		t.Errorf("%d dependencies, %v B written, %v B read", w.Graph.Edges(), w.Tasks[0].Out, w.Tasks[1].In)
	}
}

// Impossible values are reported with their places. Null and unknown members are no mistakes.
func TestValuesOfWfFormat(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"makespan", `{"workflow":{"makespan":-1,"tasks":[]}}`, "f:1:25: makespan is -1 s"},
		{"memory", `{"workflow":{"tasks":[{"name":"a","memory":-5}]}}`, "f:1:44: memory is -5"},
		{"size", `{"workflow":{"tasks":[{"name":"a","files":[{"size":-2}]}]}}`, "f:1:52: size is -2"},
		{"cores", `{"workflow":{"machines":[{"cpu":{"count":-2}}]}}`, "f:1:42: core count is -2"},
		{"infinite", `{"workflow":{"tasks":[{"name":"a","runtime":1e999}]}}`, "is not a number"},
		{"wrong kind", `{"workflow":{"tasks":{}}}`, "f:1:22: found '{' where an array belongs"},
		{"name", `{"workflow":{"tasks":[{"name":["a"]}]}}`, "f:1:31: found '[' where a string belongs"},
		{"both", `{"tasks":[],"workflow":{"tasks":[]}}`, "is this WfFormat or a plain table?"},
		{"neither", `{"name":"w"}`, "neither a workflow nor tasks"},
		{"older as newer", `{"schemaVersion":"1.4","workflow":{"specification":{"tasks":[]}}}`, "schema version is 1.4"},
		{
			"twice in the execution", strings.Replace(wf15, `"id":"b_2","run`, `"id":"a_1","run`, 1),
			`duplicate task id "a_1" in the execution`,
		},
		{
			"twice in the execution without run times",
			`{"workflow":{"specification":{"tasks":[{"id":"a"}]},"execution":{"tasks":[{"id":"a","coreCount":2},{"id":"a"}]}}}`,
			`f:1:100: duplicate task id "a" in the execution`,
		},
		{
			"twice in the execution, before the specification",
			`{"workflow":{"execution":{"tasks":[{"id":"a"},{"id":"a"}]},"specification":{"tasks":[{"id":"a"}]}}}`,
			`f:1:47: duplicate task id "a" in the execution`,
		},
		{
			"no id in the execution", strings.Replace(wf15, `{"id":"b_2","run`, `{"run`, 1),
			"a task of the execution has no id",
		},
	} {
		_, err := read(t, workflow.FillOptions{}, "f", tt.text)
		var in *workflow.InputError
		if !errors.As(err, &in) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v\nwant %s", tt.name, err, tt.want)
		}
	}
	text := `{"name":null,"schemaVersion":1.4,"new":[{"x":NaN}],"workflow":{"other":-Infinity,"makespan":0,` +
		`"tasks":[{"name":"a","runtime":1,"cores":null,"priority":[1]}]}}`
	w, err := read(t, workflow.FillOptions{}, "f", text)
	if err != nil || w.Format != "wfformat-1.4" || !math.IsNaN(w.Makespan) || w.Tasks[0].Cores != 0 {
		t.Errorf("%+v, %v", w, err)
	}
}

// The plain table as JSON takes the members of a table, and no others.
func TestPlainJSON(t *testing.T) {
	w, err := read(t, workflow.FillOptions{}, "f", `{"system":"by hand","cores":4,"makespan_s":3,"tasks":[`+
		`{"id":"a","run_s":1,"machine":"m","start_s":0.5,"auxiliary":true},{"id":"b","run_s":"2","parents":["a"]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	a := w.Tasks[0]
	if w.System != "by hand" || w.Makespan != 3 || !a.Auxiliary || a.Start != 0.5 || w.Machines[a.Machine].Name != "m" {
		t.Errorf("%+v of %+v", a, w)
	}
	wantWaits(t, w, "b<a")
	for text, want := range map[string]string{
		`{"tasks":[{"id":"a","colour":"red"}]}`:            `unknown member "colour" of a task`,
		`{"tasks":[{"id":"a","run_s":-1}]}`:                `run_s of task "a"`,
		`{"tasks":[{"id":"a","run_s":1,"parents":"b"}]}`:   "where an array belongs",
		`{"tasks":[{"id":"a","run_s":1}],"makespan_s":-3}`: "makespan_s",
	} {
		wantError(t, text, want)
	}
}

// Anything that a table in YAML does not need is an error with its line, and nothing is read wrongly.
func TestYAMLRefusesTheRest(t *testing.T) {
	head := "tasks:\n  - id: a\n"
	for _, tt := range []struct{ name, text, want string }{
		{"tab", "tasks:\n\t- id: a\n", "f:2:1: a tab in the indentation"},
		{"alias", head + "    run_s: *x\n", "f:3:12: unknown anchor 'x' referenced"},
		{"mapping", head + "    run_s: {x: 1}\n", "is no plain value"},
		{"list", head + "    run_s: [1]\n", "is no plain value"},
		{"no colon", head + "    run_s 1\n", "f:3:5: while scanning a simple key: could not find expected ':'"},
		{"no space", head + "    run_s:1\n", "f:3:5: while scanning a simple key: could not find expected ':'"},
		{"open quote", head + "    kind: \"x\n", "f:3:11: while scanning a quoted scalar: found unexpected end of stream"},
		{"open brace", "tasks:\n  - {id: a,\n", "did not find expected node content"},
		{"unknown member", "name: w\ncolour: red\n", `f:2:9: unknown member "colour" of a workflow`},
		{"tasks with a value", "name: w\ntasks: 3\n", "f:2:8: tasks: want a list"},
		{"member of nothing", "name: w\ntasks:\n    run_s: 1\n", "f:3:5: tasks: want a list"},
		{"unknown column", head + "    colour: red\n", `unknown member "colour" of a task`},
		{"open list", head + "    parents: [b\n", "f:3:14: while parsing a flow sequence: did not find expected ',' or ']'"},
	} {
		_, err := read(t, workflow.FillOptions{}, "f", tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v\nwant %s", tt.name, err, tt.want)
		}
	}
	text := "---\n# head\nname: \"a # b\" # c\ntasks: # list\n- {id: 'x, y', run_s: 1, parents: []}\n" +
		"- id: z\n  run_s: 2\n\n  parents: [\"x, y\"]\n"
	w, err := read(t, workflow.FillOptions{}, "f", text)
	if err != nil {
		t.Fatal(err)
	}
	wantWaits(t, w, "z<x, y")
	if w.Name != "a # b" {
		t.Errorf("name %q", w.Name)
	}
}

// A value that is not recorded stays unknown.
func TestUnknownStaysUnknown(t *testing.T) {
	w, err := read(t, workflow.FillOptions{Allow: true}, "f", "id,run_s\na,\nb,1\n")
	if err != nil {
		t.Fatal(err)
	}
	a := w.Tasks[0]
	if !math.IsNaN(a.Run) || !math.IsNaN(a.Start) || a.Machine != -1 || a.Memory != 0 || a.Cores != 0 {
		t.Errorf("%+v", a)
	}
}
