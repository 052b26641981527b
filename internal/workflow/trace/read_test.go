package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/assay-run/assay/internal/testbed"

	"github.com/assay-run/assay/workflow"
)

const wf15 = `{"name":"w","schemaVersion":"1.5","runtimeSystem":{"name":"Pegasus","version":"5.0"},
"workflow":{"specification":{
"tasks":[{"name":"a","id":"a_1","parents":[],"children":["b_2"],"inputFiles":["in"],"outputFiles":["mid"]},
{"name":"b","id":"b_2","parents":["a_1"],"children":[],"inputFiles":["mid"],"outputFiles":[]}],
"files":[{"id":"in","sizeInBytes":10},{"id":"mid","sizeInBytes":32}]},
"execution":{"makespanInSeconds":9.5,"executedAt":"x","tasks":[{"id":"a_1","runtimeInSeconds":1.5,
"machines":["m1"],"coreCount":2},
{"id":"b_2","runtimeInSeconds":4,"command":{"program":"/usr/bin/b","arguments":["\u00e9\n"]},"memoryInBytes":100}],
"machines":[{"nodeName":"m1","cpu":{"coreCount":8,"speedInMHz":2400}}]}}}`

const wf14 = `{"name":"w","schemaVersion":"1.4","wms":{"name":"Pegasus","version":"4.9"},
"workflow":{"makespanInSeconds":9.5,
"tasks":[{"name":"a_ID1","id":"ID1","category":"a","type":"compute","runtimeInSeconds":1.5,"parents":[],
"children":["b_ID2"],"cores":2,"machine":"m1",
"files":[{"link":"input","name":"in","sizeInBytes":10},{"link":"output","name":"mid","sizeInBytes":32}]},
{"name":"b_ID2","id":"ID2","category":"b","runtimeInSeconds":4,"parents":["a_ID1"],"files":[{"link":"input",
"name":"mid","sizeInBytes":32}],"memoryInBytes":100}],
"machines":[{"nodeName":"m1","cpu":{"count":8,"speed":2400}}]}}`

const wf01 = `{"name":"w","schemaVersion":"0.1","workflow":{"makespan":9.5,"jobs":[
{"name":"a","type":"auxiliary","runtime":1.5,"parents":[],"machine":"m1","cores":2,"files":[{"link":"input",
"name":"in","size":10},{"link":"output","name":"mid","size":32}]},
{"name":"b","type":"compute","runtime":4,"parents":["a"],"files":[{"link":"input","name":"mid","size":32}]}],
"machines":[{"nodeName":"m1","memory":1000,"cpu":{"count":8}}]}}`

// read reads sources given as name, content, name, content.
func read(t testing.TB, opt workflow.FillOptions, parts ...string) (*workflow.Workflow, error) {
	t.Helper()
	var src []Source
	for i := 0; i < len(parts); i += 2 {
		src = append(src, Source{parts[i], strings.NewReader(parts[i+1])})
	}
	return Read(opt, src...)
}

func TestReadWfFormat(t *testing.T) {
	for _, tt := range []struct{ name, text, format, system string }{
		{"1.5", wf15, "wfformat-1.5", "Pegasus 5.0"},
		{"1.4", wf14, "wfformat-1.4", "Pegasus 4.9"},
		{"0.1", wf01, "wfformat-0.1", ""},
	} {
		w, err := read(t, workflow.FillOptions{}, "w.json", tt.text)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if w.Format != tt.format || w.System != tt.system || w.Makespan != 9.5 || len(w.Tasks) != 2 {
			t.Errorf("%s: %q by %q, makespan %v, %d tasks", tt.name, w.Format, w.System, w.Makespan, len(w.Tasks))
		}
		a, b := w.Tasks[0], w.Tasks[1]
		if a.Run != 1.5 || a.Cores != 2 || a.In != 10 || a.Out != 32 || w.Machines[a.Machine].Cores != 8 ||
			a.Kind != "a" || a.Auxiliary != (tt.name == "0.1") {
			t.Errorf("%s: first task %+v", tt.name, a)
		}
		if b.Run != 4 || b.In != 32 || b.Kind != "b" || !slices.Equal(w.Graph.Preds(1), []int32{0}) {
			t.Errorf("%s: second task %+v, waits for %v", tt.name, b, w.Graph.Preds(1))
		}
		if w.Cores() != 8 {
			t.Errorf("%s: %d cores, want 8", tt.name, w.Cores())
		}
	}
}

// TestReadStream checks that neither gzip nor one byte at a time changes the result.
func TestReadStream(t *testing.T) {
	var z bytes.Buffer
	g := gzip.NewWriter(&z)
	if _, err := g.Write([]byte(wf15)); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	want, err := read(t, workflow.FillOptions{}, "w", wf15)
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]Source{
		"gzip":     {"w", &z},
		"bytewise": {"w", iotest.OneByteReader(strings.NewReader(wf15))},
	} {
		got, err := Read(workflow.FillOptions{}, src)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(got.Tasks) != 2 || got.Tasks[1].In != want.Tasks[1].In || got.Makespan != want.Makespan {
			t.Errorf("%s: got %+v, want %+v", name, got.Tasks, want.Tasks)
		}
	}
}

// TestBadInput checks that each mistake is reported once, with its place.
func TestBadInput(t *testing.T) {
	task := func(id, more string) string {
		return `{"name":"` + id + `","id":"` + id + `","runtimeInSeconds":1,"parents":[]` + more + "}"
	}
	flat := func(tasks ...string) string {
		return "{\"schemaVersion\":\"1.4\",\"workflow\":{\"tasks\":[\n" + strings.Join(tasks, ",\n") + "\n]}}"
	}
	for _, tt := range []struct{ name, text, want string }{
		{"cycle", flat(task("a", `,"children":["b"]`), task("b", `,"children":["c","a"]`),
			task("c", `,"children":["a"]`)), `f:2:1: tasks wait for each other: "a" -> "b" -> "a"`},
		{"self", flat(task("a", `,"children":["a"]`)), `f:2:1: tasks wait for each other: "a" -> "a"`},
		{
			"dangling", flat(task("a", `,"children":["zz"]`)),
			`f:2:68: a dependency names task "zz", which is not defined`,
		},
		{"duplicate", flat(task("a", ""), task("a", "")), `f:3:1: duplicate task id "a", first on line 2`},
		{"negative", flat(`{"id":"a","runtimeInSeconds":-1}`), `f:2:30: run time is -1 s`},
		{"NaN", flat(`{"id":"a","runtimeInSeconds":NaN}`), `f:2:30: a number is NaN`},
		{"infinite", flat(`{"id":"a","runtimeInSeconds":-Infinity}`), `f:2:30: a number is -Infinity`},
		{"missing", flat(task("a", ""), `{"id":"b"}`), `f:3:1: task "b" has no run time (1 of 2 tasks have none`},
		{"none", flat(), `f: no tasks`},
		{"empty", "", `f: the input is empty: no tasks`},
		{"truncated", wf15[:303], `f:4:80: the input ends where the end of a string belongs: it is cut short`},
		{"truncated object", `{"workflow":{"tasks":[`, `f:1:23: the input ends where`},
		{
			"mixed", `{"schemaVersion":"1.5","workflow":{"tasks":[],"specification":{"tasks":[]}}}`,
			`f:1:44: schema version 1.5 mixes`,
		},
		{
			"wrong version", `{"schemaVersion":"1.5","workflow":{"tasks":[]}}`,
			`f:1:1: schema version is 1.5, but the workflow is written as in 1.4`,
		},
		{
			"no execution", `{"schemaVersion":"1.5","workflow":{"specification":{"tasks":[` +
				`{"id":"a","name":"a","parents":[],"children":[]}]}}}`, `f: no run times`,
		},
		{
			"stray execution", strings.Replace(wf15, `"id":"b_2","run`, `"id":"b_3","run`, 1),
			`f:8:1: task "b_3" of the execution is not in the specification`,
		},
		{"no id", flat(`{"runtimeInSeconds":1}`), `f:2:1: a task has neither id nor name`},
		{"garbage behind", flat(task("a", "")) + "x", `f:3:4: found 'x' after the end`},
		{"unknown", "hello world", `f:1:1: unknown format: not`},
		{"bad gzip", "\x1f\x8bxx", `f: gzip:`},
		{"deep", strings.Repeat(`{"a":`, 20_000), `exceeded max depth`},
		{"control", "{\"na\nme\":1}", `f:1:5: invalid character '\n' in string`},
		{"csv column", "id,run\na,1\n", `f:1:1: unknown column "run"`},
		{"csv number", "id,run_s\na,-1\n", `f:2:1: run_s of task "a": "-1" is not a number of at least 0`},
		{"csv fields", "id,run_s\na,1,2\n", `f:2:`},
		{"yaml indent", "tasks:\n  - id: a\n      run_s: 1\n", `f:3:12: mapping values are not allowed`},
		{"yaml list", "tasks:\n  - {id: a, run_s: 1, parents: b}\n", `f:2:32: parents: want a list`},
		{"dag", "JOB a a.sub\nPARENT a CHILD\n", `f:2:1: PARENT without`},
		{"trace", "task_id\tname\trealtime\n1\ta\tsoon\n", `f:2:1: realtime of "a #1": "soon" is not a duration`},
		{"bench", "s\th:m:s\tmax_rss\n-1\t0\t0\n", `f:2:1: run time is "-1"`},
		{"kickstart", "<invocation duration=\"x\">", `f:1:1: kickstart record with duration "x"`},
	} {
		_, err := read(t, workflow.FillOptions{}, "f", tt.text)
		var in *workflow.InputError
		if !errors.As(err, &in) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

func TestFill(t *testing.T) {
	text := "id,kind,run_s\na1,a,1\na2,a,3\na3,a,\nb1,b,10\nc1,c,\n"
	w, err := read(t, workflow.FillOptions{Fill: true}, "f", text)
	if err != nil {
		t.Fatal(err)
	}
	if w.Filled != 2 || w.Tasks[2].Run != 2 || w.Tasks[4].Run != 3 {
		t.Errorf("filled %d: %v", w.Filled, w.Runs())
	}
	w, err = read(t, workflow.FillOptions{Allow: true}, "f", text)
	if err != nil || !math.IsNaN(w.Tasks[2].Run) {
		t.Errorf("allowed: %v, %v", w, err)
	}
	if err := w.Check(); err == nil || !strings.Contains(err.Error(), `"a3"`) {
		t.Errorf("Check() = %v, want the first task without a run time", err)
	}
}

// TestReadData reads every execution of the evaluation data, and compares it with the table beside it.
func TestReadData(t *testing.T) {
	n := 0
	eachRecorded(t, testbed.Data(t, "workflows"), func(path string, w *workflow.Workflow) {
		if n++; !(w.Makespan > 0) || w.Graph.Edges() == 0 || w.Work() <= 0 {
			t.Errorf("%s: makespan %v, %d edges, work %v", path, w.Makespan, w.Graph.Edges(), w.Work())
		}
	})
	if n == 0 {
		t.Error("no file")
	}
}

// eachRecorded reads every execution below dir; path is relative to that.
func eachRecorded(t testing.TB, dir string, f func(path string, w *workflow.Workflow)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json.gz") {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		w, err := Read(workflow.FillOptions{}, Source{path, in})
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f(filepath.ToSlash(rel), w)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A row that does not end is refused before it is in memory, in a table that is packed and in one that is not.
func TestLongRow(t *testing.T) {
	defer func(was int64) { maxRow = was }(maxRow)
	maxRow = 1 << 20
	for _, last := range []string{"", "t,k,2,\n"} {
		r := &counted{Reader: io.MultiReader(strings.NewReader("id,kind,run_s,parents\n"+last),
			io.LimitReader(spaces{}, 64<<20))}
		_, err := Read(workflow.FillOptions{}, Source{"long.csv", r})
		if err == nil || !strings.Contains(err.Error(), "a row of more than 1048576 bytes") || r.n > 2<<20 {
			t.Errorf("%d bytes were read: %v", r.n, err)
		}
	}
	var rows strings.Builder // each short, and together more
	for i := range 200_000 {
		fmt.Fprintf(&rows, "t%d,k,2,\n", i)
	}
	if _, err := Read(workflow.FillOptions{},
		Source{"long.csv", strings.NewReader("id,kind,run_s,parents\n" + rows.String())}); err != nil {
		t.Error(err)
	}
}

// spaces is a text without an end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// A bomb is refused long before it has unpacked; a log that packs well is not.
func TestGzipBomb(t *testing.T) {
	defer func(was int64) { freeGain = was }(freeGain)
	freeGain = 1 << 20
	pack := func(head string, line func(i int) string, size int) *bytes.Buffer {
		var z bytes.Buffer
		g := gzip.NewWriter(&z)
		io.WriteString(g, head)
		for n, i := 0, 0; n < size; i++ {
			k, _ := io.WriteString(g, line(i))
			n += k
		}
		g.Close()
		return &z
	}
	for _, head := range []string{"id,kind,run_s,parents\n", "{", "tasks:\n"} {
		bomb := pack(head, func(int) string { return strings.Repeat(" ", 1<<16) }, 8<<20)
		r := &counted{Reader: bomb}
		_, err := Read(workflow.FillOptions{}, Source{"bomb.gz", r})
		var in *workflow.InputError
		if !errors.As(err, &in) || !strings.Contains(err.Error(), "unpacks to more than 100 times") {
			t.Errorf("%q: %v", head, err)
		}
	}
	log := pack("id,kind,run_s,parents\n", func(i int) string { return fmt.Sprintf("t%d,k,%d,\n", i, i%97) }, 2<<20)
	if _, err := Read(workflow.FillOptions{}, Source{"log.gz", log}); err != nil {
		t.Errorf("a log: %v", err)
	}
}
