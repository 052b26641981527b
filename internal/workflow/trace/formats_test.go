package trace

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay/workflow"
)

// TestFormatsRecognised checks that the first bytes distinguish every format from the others.
func TestFormatsRecognised(t *testing.T) {
	for want, head := range map[string]string{
		"json":                `{"name": "w"}`,
		"nextflow trace":      "task_id\thash\tname\tstatus\trealtime\n",
		"snakemake benchmark": "s\th:m:s\tmax_rss\n",
		"dot":                 "digraph snakemake_dag {\n",
		"mermaid":             "flowchart TB\n",
		"kickstart":           "<?xml version=\"1.0\"?>\n<invocation duration=\"1\">",
		"dagman.out":          "** condor_scheduniv_exec.12.0 (CONDOR_DAGMAN) STARTING UP\n",
		"jobstate.log":        "1335477451 a EXECUTE 3.0 local - 1\n",
		"makeflowlog":         "# NODE\t0\tls\n",
		"dag":                 "JOB a a.sub\n",
		"csv":                 "# a comment\nid;run_s\n",
		"yaml":                "name: w\ntasks:\n",
	} {
		got := ""
		for _, f := range formats() {
			if f.is([]byte(head)) {
				got = f.name
				break
			}
		}
		if got != want {
			t.Errorf("%q is taken for %q, want %s", head, got, want)
		}
	}
}

// TestTableFlaws checks that each wrong cell is reported with its line.
func TestTableFlaws(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"run time", "id,run_s\na,fast\n", `f:2:1: run_s of task "a": "fast" is not a number of at least 0`},
		{"negative", "id,run_s\na,-1\n", `f:2:1: run_s of task "a": "-1" is not a number`},
		{"unknown column", "id,run_s,colour\na,1,red\n", `f:1:1: unknown column "colour"`},
		{"auxiliary", "id,run_s,auxiliary\na,1,perhaps\n", `auxiliary of task "a": "perhaps" is neither true nor false`},
		{"twice", "id,run_s\na,1\na,2\n", `f:3:1: duplicate task id "a", first on line 2`},
		{"no such parent", "id,run_s,parents\na,1,z\n", `f:2:1: a dependency names task "z"`},
		{"cells", "id,run_s\na,1,2\n", "f:2:"},
		{"makespan", "# makespan_s: soon\nid,run_s\na,1\n", `f:1:1: makespan_s: "soon" is not a number`},
		{"cores", "# cores: 1.5\nid,run_s\na,1\n", `f:1:1: cores: "1.5" is not a whole number`},
		{"titles only", "id,run_s\n", "f: no tasks"},
	} {
		_, err := read(t, workflow.FillOptions{}, "f", tt.text)
		var in *workflow.InputError
		if !errors.As(err, &in) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

// TestTableForms checks that separators, empty cells, comments and a byte order mark
// change nothing.
func TestTableForms(t *testing.T) {
	for name, text := range map[string]string{
		"commas":     "id,run_s,parents,memory_B\na,1,,5\nb,2,a,\n",
		"semicolons": "id;run_s;parents;memory_B\na;1;;5\nb;2;a;\n",
		"tabs":       "id\trun_s\tparents\tmemory_B\na\t1\t\t5\nb\t2\ta\t\n",
		"marked":     "\ufeffid,run_s,parents,memory_B\r\na,1,,5\r\nb,2,a,\r\n",
		"comments":   "# anything\n# name: w\nid,run_s,parents,memory_B\na,1,,5\nb,2,a,\n",
		"order":      "memory_B,parents,run_s,id\n,a,2,b\n5,,1,a\n",
	} {
		w, err := read(t, workflow.FillOptions{}, "f", text)
		if err != nil || len(w.Tasks) != 2 || w.Work() != 3 || w.Graph.Edges() != 1 {
			t.Errorf("%s: %+v, %v", name, w, err)
			continue
		}
		for _, task := range w.Tasks {
			if want := map[string]float64{"a": 5}[task.ID]; task.Memory != want {
				t.Errorf("%s: task %s has %v B, want %v", name, task.ID, task.Memory, want)
			}
		}
	}
}

// TestKindOfName checks the rest of a task's name without its numbering.
func TestKindOfName(t *testing.T) {
	for name, want := range map[string]string{
		"mProject_ID0000012": "mProject", "align_3": "align", "FASTQC (sample1)": "FASTQC", "a-1-2": "a", "7": "7",
		"x.12": "x", "plain": "plain", "v2": "v2", "_3": "_3", "map_ID": "map_ID", "": "",
	} {
		if got := kindOfName(name); got != want {
			t.Errorf("%q is a run of %q, want %q", name, got, want)
		}
	}
}

// TestNextflowUnits checks amounts as people read them and as raw numbers.
func TestNextflowUnits(t *testing.T) {
	for text, want := range map[string]workflow.Seconds{
		"1h 2m 3.5s": 3723.5, "120ms": 0.12, "1500": 1.5, "2d": 172800, "0ms": 0,
	} {
		if got, err := nextflowDuration(text); err != nil || !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("%q takes %v s, %v; want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"soon", "1x", "h"} {
		if got, err := nextflowDuration(bad); err == nil {
			t.Errorf("%q takes %v s", bad, got)
		}
	}
	for text, want := range map[string]workflow.Bytes{"1 KB": 1024, "1.5 GB": 1.5 * (1 << 30), "77": 77, "-": 0, "": 0} {
		if got := nextflowBytes(text); got != want {
			t.Errorf("%q is %v B, want %v", text, got, want)
		}
	}
	if !math.IsNaN(nextflowTime("never")) {
		t.Error("never is a time")
	}
	d := nextflowTime("2023-03-21 15:54:39.250") - nextflowTime("2023-03-21 15:54:38.000")
	if !(math.Abs(d-1.25) <= 1e-6) {
		t.Errorf("%v s apart, want 1.25", d)
	}
}

// TestLastRunCounts checks that the last of several runs of a task counts, and that records of
// tasks which the graph lacks are reported.
func TestLastRunCounts(t *testing.T) {
	dag := "JOB a a.sub\nJOB b b.sub\nPARENT a CHILD b\n"
	log := "100000000 a EXECUTE 1 local - 1\n100000009 a JOB_FAILURE 1 local - 1\n" +
		"100000020 a EXECUTE 1 local - 2\n100000022 a JOB_SUCCESS 0 local - 2\n" +
		"100000030 b EXECUTE 2 local - 3\n100000035 b JOB_SUCCESS 0 local - 3\n" +
		"100000040 ghost EXECUTE 3 local - 4\n100000041 ghost JOB_SUCCESS 0 local - 4\n"
	w, err := read(t, workflow.FillOptions{}, "d.dag", dag, "jobstate.log", log)
	if err != nil {
		t.Fatal(err)
	}
	if w.Tasks[0].Run != 2 || w.Tasks[1].Run != 5 {
		t.Errorf("run times %v, want 2 and 5", w.Runs())
	}
	if len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], "records are of tasks that the DAG does not have") {
		t.Errorf("warnings %q", w.Warnings)
	}
}

// TestRecordsAlone checks records without a graph: tasks that wait for nothing.
func TestRecordsAlone(t *testing.T) {
	w, err := read(t, workflow.FillOptions{}, "jobstate.log",
		"100000000 a EXECUTE 1 local - 1\n100000009 a JOB_SUCCESS 0 local - 1\n")
	if err != nil || len(w.Tasks) != 1 || w.Tasks[0].Run != 9 || w.Graph.Edges() != 0 {
		t.Fatalf("%+v, %v", w, err)
	}
	if len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], "all are taken to be independent") {
		t.Errorf("warnings %q", w.Warnings)
	}
}

// TestNoSources checks that reading nothing is a mistake of the caller.
func TestNoSources(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_, _ = Read(workflow.FillOptions{})
}
