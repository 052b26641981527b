package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/assay-run/assay/workflow"
)

// A .dag file: commands in any case, jobs that Pegasus adds by itself, and sub-workflows.
func TestDagFile(t *testing.T) {
	text := "# all\njob a a.sub DIR x\nSUBDAG EXTERNAL inner inner.dag\nJOB stage_in_local_1 s.sub\nJOB cleaup_2 c.sub\n" +
		"SCRIPT POST a post.sh\nVARS a x=\"1\"\nparent a stage_in_local_1 child inner cleaup_2\nCATEGORY a big\n"
	w, err := read(t, workflow.FillOptions{Allow: true}, "f", text)
	if err != nil {
		t.Fatal(err)
	}
	wantWaits(t, w, "cleaup_2<a,stage_in_local_1", "inner<a,stage_in_local_1")
	for i, want := range []struct {
		kind      string
		auxiliary bool
	}{{"a", false}, {"inner", false}, {"stage_in", true}, {"cleaup", true}} {
		if task := w.Tasks[i]; task.Kind != want.kind || task.Auxiliary != want.auxiliary {
			t.Errorf("%s is a run of %q, auxiliary %v", task.ID, task.Kind, task.Auxiliary)
		}
	}
	for text, want := range map[string]string{
		"JOB a a.sub\nJOB b\n":                     "f:2:1: JOB without a name and a file",
		"JOB a a.sub\nSUBDAG EXTERNAL b\n":         "f:2:1: SUBDAG without EXTERNAL",
		"JOB a a.sub\nPARENT CHILD a\n":            "f:2:1: PARENT without parents",
		"JOB a a.sub\nPARENT a\n":                  "f:2:1: PARENT without parents",
		"JOB a a.sub\nPARENT a CHILD b\n":          `task "b", which is not defined`,
		"JOB a a.sub\nJOB a b.sub\n":               `duplicate task id "a"`,
		"JOB a a.sub\nPARENT a CHILD a\nJOB b c\n": "wait for each other",
	} {
		wantError(t, text, want)
	}
}

// The log of DAGMan: a run is from EXECUTE to its end. A node that ended without having begun, or before
// it, has no run. Logs without a year suffice.
func TestDagmanEvents(t *testing.T) {
	event := func(when, what, node string) string {
		return fmt.Sprintf("%s Event: ULOG_%s for Condor Node %s (1.0.0)\n", when, what, node)
	}
	for _, tt := range []struct {
		name, log string
		want      workflow.Seconds // NaN if a has no run
	}{
		{"a run", event("04/26 17:00:00", "EXECUTE", "a") + event("04/26 17:00:09", "JOB_TERMINATED", "a"), 9},
		{"with its POST script", event("04/26/12 17:00:00", "EXECUTE", "a") +
			event("04/26/12 17:00:08", "POST_SCRIPT_TERMINATED", "a"), 8},
		{"begun again", event("04/26/12 17:00:00", "EXECUTE", "a") + event("04/26/12 17:00:05", "EXECUTE", "a") +
			event("04/26/12 17:00:09", "JOB_TERMINATED", "a"), 4},
		{"never begun", event("04/26/12 17:00:09", "JOB_TERMINATED", "a"), math.NaN()},
		{"ended before it began", event("04/26/12 17:00:09", "EXECUTE", "a") +
			event("04/26/12 17:00:00", "JOB_TERMINATED", "a"), math.NaN()},
		{"another job", event("04/26/12 17:00:09", "EXECUTE", "b") +
			event("04/26/12 17:00:10", "JOB_TERMINATED", "b"), math.NaN()},
	} {
		w, err := read(t, workflow.FillOptions{Allow: true}, "d.dag", "JOB a a.sub\n", "d.dagman.out", tt.log)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := w.Tasks[0].Run; got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("%s: %v s, want %v", tt.name, got, tt.want)
		}
	}
	wantError(t, event("13/45/12 17:00:00", "EXECUTE", "a"), `f:1:1: "13/45/12 17:00:00" is not a time`)
}

// A clustered job has several invocations, one after the other: its run time is their sum. Tags may be
// written over several lines.
func TestKickstartOfAClusteredJob(t *testing.T) {
	xml := "<invocation\n  duration=\"2.5\"\n  transformation=\"ns::align:2.0\" hostname=\"h\">\n</invocation>\n" +
		"<invocation duration=\"1.5\"/>\n"
	yaml := "- invocation: True\n  duration: 2.5\n  transformation: \"ns::align:2.0\"\n  hostname: h\n" +
		"- invocation: True\n  duration: 1.5\n"
	for name, text := range map[string]string{"xml": xml, "yaml": yaml} {
		w, err := read(t, workflow.FillOptions{}, "dir/merge_1.out.000", text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		task := w.Tasks[0]
		if len(w.Tasks) != 1 || task.ID != "merge_1" || task.Run != 4 || task.Kind != "align" {
			t.Errorf("%s: %+v", name, w.Tasks)
		}
		if got := w.Machines[task.Machine].Name; got != "h" {
			t.Errorf("%s: it ran on %q, want h", name, got)
		}
	}
	for text, want := range map[string]string{
		"<invocation duration=\"1\"":                         "f:1:1: the invocation is cut short",
		"<invocation hostname=\"h\">":                        `kickstart record with duration ""`,
		"\n<invocation duration=\"-1\">":                     `f:2:1: kickstart record with duration "-1"`,
		"- invocation: True\n  duration: long\n":             `kickstart record with duration "long"`,
		"- invocation: True\n  duration: 1\n- invocation: 1": `f:3:1: kickstart record with duration ""`,
	} {
		wantError(t, text, want)
	}
}

// TestClusteredJobEnds checks that a clustered job lasts until its last invocation ended: 2 s, a pause of
// 3 s, 4 s, and 1 s whose start is not recorded, for a makespan of 10 s and 7 s of run time.
func TestClusteredJobEnds(t *testing.T) {
	at := func(second, duration string) string {
		return `<invocation start="2016-04-01T10:00:` + second + `Z" duration="` + duration + `"/>` + "\n"
	}
	w, err := read(t, workflow.FillOptions{}, "j.out", at("00", "2")+at("05", "4")+`<invocation duration="1"/>`+"\n")
	if err != nil || w.Makespan != 10 || w.Tasks[0].Run != 7 {
		t.Errorf("makespan %v of a job with run times of %v s, %v; want 10 and 7", w.Makespan, w.Tasks[0].Run, err)
	}
}

// The transaction log of Makeflow: a task whose end is recorded without its beginning has no run time.
func TestMakeflowLog(t *testing.T) {
	head := "# NODE\t0\t/usr/bin/blast -q\n# NODE\t1\n# CATEGORY\t1\tjoin\n# PARENTS\t1\t0\n"
	log := head + "1000000 0 1 7\n3500000 0 2 7\n9000000 1 2 8\n# SYMLINK x\n"
	w, err := read(t, workflow.FillOptions{Allow: true}, "f", log)
	if err != nil {
		t.Fatal(err)
	}
	wantWaits(t, w, "1<0")
	if a, b := w.Tasks[0], w.Tasks[1]; a.Run != 2.5 || a.Kind != "blast" || !math.IsNaN(b.Run) || b.Kind != "join" {
		t.Errorf("%+v", w.Tasks)
	}
	wantError(t, head+"soon 0 1 7\n", `f:5:1: "soon" is not a time in microseconds`)
}

// Tasks of Nextflow wait for tasks of the same tag, and for all tasks if there is no such tag. A process
// that the graph lacks is reported.
func TestNextflowTags(t *testing.T) {
	titles := "task_id\tprocess\ttag\tstatus\trealtime\tcpus\thostname\tstart\n"
	row := func(id int, process, tag string) string {
		return fmt.Sprintf("%d\t%s\t%s\tCOMPLETED\t1000\t2\th%d\t2023-03-21 15:54:00.000\n", id, process, tag, id)
	}
	dot := "digraph g {\na [label=\"A\"];\nb [label=\"B\"];\nc [label=\"C\"];\nm [label=\"\"];\n" +
		"a -> m\nm -> b\nb -> c\nb -> b\n}\n"
	trace := titles + row(1, "A", "x") + row(2, "A", "y") + row(3, "B", "x") + row(4, "B", "z") +
		row(5, "C", "-") + row(6, "D", "-")
	w, err := read(t, workflow.FillOptions{}, "t", trace, "g", dot)
	if err != nil {
		t.Fatal(err)
	}
	wantWaits(t, w, "B (x) #3<A (x) #1", "B (z) #4<A (x) #1,A (y) #2", "C () #5<B (x) #3,B (z) #4")
	if len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], `process "D" is not in the graph`) {
		t.Errorf("warnings %q", w.Warnings)
	}
	task := w.Tasks[0]
	if task.Run != 1 || task.Cores != 2 || w.Machines[task.Machine].Name != "h1" || math.IsNaN(task.Start) {
		t.Errorf("%+v", task)
	}
	wantError(t, titles+"1\tA\n", "f:2:1: 2 columns under 8 titles")
}

// A benchmark belongs to the task whose rule and wildcards are words of its name, the shortest such name
// first. A benchmark of no task is reported.
func TestBenchmarksFindTheirTasks(t *testing.T) {
	dag := "digraph snakemake_dag {\n0[label = \"all\"];\n1[label = \"map\\nsample: 1\"];\n" +
		"2[label = \"map\\nsample: 11\"];\n3[label = \"map\\nsample: 1\"];\n1 -> 0\n2 -> 0\n3 -> 0\n}\n"
	bench := func(s string) string { return "s\th:m:s\tmax_rss\n" + s + "\t0\t-\n" }
	w, err := read(t, workflow.FillOptions{Allow: true}, "dag", dag,
		"b/map_11.tsv", bench("11"), "b/map_1.tsv", bench("1"), "b/again/map_1.tsv", bench("3"), "b/remap_1.tsv", bench("99"))
	if err != nil {
		t.Fatal(err)
	}
	wantRun(t, w, "map sample: 1", 1)
	wantRun(t, w, "map sample: 11", 11)
	wantRun(t, w, "map sample: 1 #3", 3)
	wantRun(t, w, "all", 0)
	if len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], "b/remap_1.tsv is the benchmark of no task") {
		t.Errorf("warnings %q", w.Warnings)
	}
	for _, tt := range []struct {
		s, word string
		want    bool
	}{
		{"map.A", "A", true},
		{"mapA", "A", false},
		{"Ax/A", "A", true},
		{"a_b", "a", true},
		{"x", "", false},
		{"", "x", false},
		{"11_1", "1", true},
	} {
		if got := hasWord(tt.s, tt.word); got != tt.want {
			t.Errorf("%q holds %q: %v, want %v", tt.s, tt.word, got, tt.want)
		}
	}
	wantError(t, "s\th:m:s\tmax_rss\n", "a benchmark without a run")
}

// Two graphs in one workflow are an error that names the first.
func TestSecondGraph(t *testing.T) {
	dot := "digraph g {\na -> b\n}\n"
	if _, err := read(t, workflow.FillOptions{}, "one", dot, "two", "flowchart TB\na --> b\n"); err == nil ||
		!strings.Contains(err.Error(), "two: a second graph; the first is one") {
		t.Errorf("got %v", err)
	}
}

// Labels of drawn nodes: escapes are resolved, nodes without one are called by their id.
func TestDrawnLabels(t *testing.T) {
	dot := "strict digraph \"g\" {\nnode [shape=box];\n\"a\" [label = \"say \\\"hi\\\"\"];\na -> b -> c;\n}\n"
	w, err := read(t, workflow.FillOptions{Allow: true}, "g", dot)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, task := range w.Tasks {
		names = append(names, task.ID)
	}
	if got := strings.Join(names, "|"); got != `say "hi"|b|c` {
		t.Errorf("tasks %s", got)
	}
	wantWaits(t, w, `b<say "hi"`, "c<b")
	w, err = read(t, workflow.FillOptions{Allow: true}, "g", "flowchart TB\na --> b -->|x| c\n")
	if err != nil {
		t.Fatal(err)
	}
	wantWaits(t, w, "b<a", "c<b")
}

// The cause of a failed reading is part of the error, wherever it happens.
func TestReadersThatFail(t *testing.T) {
	fire := errors.New("disk on fire")
	for name, head := range map[string]string{
		"nothing": "", "json": `{"name":"w",`, "csv": "id,run_s\na,1\n", "dag": "JOB a a.sub\n", "yaml": "tasks:\n",
		"nextflow": "task_id\tname\trealtime\n",
	} {
		// A reader gives the first bytes, so that the format is known, and then fails.
		r := io.MultiReader(strings.NewReader(head), iotest.ErrReader(fire))
		_, err := Read(workflow.FillOptions{Allow: true}, Source{"f", r})
		var in *workflow.InputError
		if !errors.As(err, &in) || !strings.Contains(err.Error(), fire.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := "JOB a a.sub\n#" + strings.Repeat("x", 17<<20)
	if _, err := read(t, workflow.FillOptions{}, "f", long); err == nil || !strings.Contains(err.Error(), "f:2: reading") {
		t.Errorf("a line of 17 MiB: %v", err)
	}
	lines := 0
	err := eachLine("f", bufio.NewReader(strings.NewReader("\ufeffa\r\nb")), func(n int32, line string) error {
		lines++
		if want := []string{"a", "b"}[n-1]; strings.TrimRight(line, "\r") != want {
			t.Errorf("line %d is %q, want %q", n, line, want)
		}
		return nil
	})
	if err != nil || lines != 2 {
		t.Errorf("%d lines, %v", lines, err)
	}
}

// value draws any JSON value.
func value(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.String().Draw(t, "text")
	case 1:
		return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
	case 2:
		return rapid.Bool().Draw(t, "truth")
	case 3:
		return nil
	case 4:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			out = append(out, value(t, depth-1))
		}
		return out
	}
	out := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		out[rapid.String().Draw(t, "name")] = value(t, depth-1)
	}
	return out
}

// Skipped JSON is skipped as a whole, and its objects have the members that encoding/json finds, however the
// input is cut and indented.
func TestScanAnyValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := value(t, 3)
		text, err := json.MarshalIndent(want, "", rapid.SampledFrom([]string{"", " ", "        ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		var r io.Reader = strings.NewReader(string(text))
		if rapid.Bool().Draw(t, "bytewise") {
			r = iotest.OneByteReader(r)
		}
		s := newJSONScanner(r, "f")
		if members, ok := want.(map[string]any); ok {
			err = s.object(func(key []byte) error {
				if _, ok := members[string(key)]; !ok {
					return fmt.Errorf("a member %q", key)
				}
				delete(members, string(key))
				return s.skip()
			})
			if len(members) > 0 {
				t.Fatalf("%s: members %v were not seen", text, members)
			}
		} else {
			err = s.skip()
		}
		if err := errors.Join(err, s.finish()); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	})
}

// Places stay right when the window moves, and a string longer than the window is read whole.
func TestScanBeyondTheWindow(t *testing.T) {
	long := strings.Repeat("x", 3<<19)
	s := scanner("[\"" + long + "\",\n" + strings.Repeat(" ", 1<<20) + "\n  7, oops]")
	n := 0
	err := s.array(func() error {
		n++
		if n == 1 {
			text, err := s.str()
			if len(text) != len(long) {
				t.Errorf("a string of %d bytes, want %d", len(text), len(long))
			}
			return err
		}
		_, err := s.number()
		return err
	})
	var in *workflow.InputError
	if !errors.As(err, &in) || in.Pos != lineCol(3, 6) {
		t.Errorf("got %v, want an error at 3:6", err)
	}
}
