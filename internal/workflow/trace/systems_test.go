package trace

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/workflow"
)

// waits returns "task<pred,pred" for each task that waits, sorted.
func waits(w *workflow.Workflow) []string {
	var out []string
	for t := range w.Tasks {
		var p []string
		for _, q := range w.Graph.Preds(t) {
			p = append(p, w.Tasks[q].ID)
		}
		slices.Sort(p)
		if p != nil {
			out = append(out, w.Tasks[t].ID+"<"+strings.Join(p, ","))
		}
	}
	slices.Sort(out)
	return out
}

func wantWaits(t *testing.T, w *workflow.Workflow, want ...string) {
	t.Helper()
	if got := waits(w); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func wantRun(t *testing.T, w *workflow.Workflow, id string, want workflow.Seconds) {
	t.Helper()
	for i := range w.Tasks {
		if w.Tasks[i].ID == id {
			if !(math.Abs(w.Tasks[i].Run-want) <= 1e-9) {
				t.Errorf("%s ran %v s, want %v", id, w.Tasks[i].Run, want)
			}
			return
		}
	}
	t.Errorf("no task %q", id)
}

const dagFile = `# a diamond
JOB create_dir_w create.sub
JOB map_1 map.sub
JOB map_2 map.sub
FINAL reduce reduce.sub
RETRY map_1 3
PARENT create_dir_w CHILD map_1 map_2
PARENT map_1 map_2 CHILD reduce
`

func TestReadDagman(t *testing.T) {
	out := `04/26/12 17:57:21 ** condor_scheduniv_exec (CONDOR_DAGMAN) STARTING UP
04/26/12 17:57:31 Event: ULOG_SUBMIT for Condor Node create_dir_w (1.0)
04/26/12 17:57:40 Event: ULOG_EXECUTE for Condor Node create_dir_w (1.0)
04/26/12 17:57:42 Event: ULOG_JOB_TERMINATED for Condor Node create_dir_w (1.0)
04/26/12 17:58:00 Event: ULOG_EXECUTE for Condor Node map_1 (2.0)
04/26/12 17:58:01 Event: ULOG_EXECUTE for HTCondor Node map_2 (3.0.0) {04/26/12 17:58:00}
04/26/12 17:58:10 Event: ULOG_JOB_TERMINATED for Condor Node map_1 (2.0)
04/26/12 17:58:21 Event: ULOG_JOB_TERMINATED for HTCondor Node map_2 (3.0.0) {04/26/12 17:58:20}
04/26/12 17:58:30 Event: ULOG_EXECUTE for Condor Node reduce (4.0)
04/26/12 17:58:35 Event: ULOG_JOB_TERMINATED for Condor Node reduce (4.0)
`
	w, err := read(t, workflow.FillOptions{}, "w.dagman.out", out, "w.dag", dagFile)
	if err != nil {
		t.Fatal(err)
	}
	wantWaits(t, w, "map_1<create_dir_w", "map_2<create_dir_w", "reduce<map_1,map_2")
	wantRun(t, w, "map_2", 20)
	wantRun(t, w, "create_dir_w", 2)
	if w.Makespan != 55 || !w.Tasks[0].Auxiliary || w.Tasks[1].Kind != "map" || w.Format != "dagman" {
		t.Errorf("makespan %v, %+v", w.Makespan, w.Tasks)
	}
}

func TestReadJobstateAndKickstart(t *testing.T) {
	log := `1335477441 INTERNAL *** DAGMAN_STARTED 1.0 ***
1335477450 create_dir_w EXECUTE 1.0 local - 1
1335477452 create_dir_w JOB_TERMINATED 1.0 local - 1
1335477460 map_1 EXECUTE 2.0 condorpool - 2
1335477465 map_1 JOB_FAILURE 2.0 condorpool - 2
1335477470 map_1 EXECUTE 2.1 condorpool - 3
1335477490 map_1 JOB_TERMINATED 2.1 condorpool - 3
1335477490 map_1 JOB_SUCCESS 0 condorpool - 3
`
	xml := `<?xml version="1.0"?>
<invocation xmlns="http://pegasus.isi.edu/schema/invocation"
  version="2.2" start="2012-04-26T17:58:00.5-04:00" duration="7.25"
  transformation="ns::map:1.0" derivation="ID2" hostname="h1">
<mainjob start="2012-04-26T17:58:00.5-04:00" duration="7.1"/>
</invocation>
<invocation duration="0.75" transformation="ns::map:1.0" hostname="h1">
</invocation>
`
	yaml := `- invocation: True
  version: 3.0
  start: 2020-04-26T17:58:00Z
  duration: 3.5
  transformation: "reduce"
  hostname: "h2"
  mainjob:
    duration: 3.4
`
	w, err := read(t, workflow.FillOptions{}, "w.dag", dagFile, "jobstate.log", log, "run/map_2.out.000", xml,
		"run/reduce.out.001", yaml)
	if err != nil {
		t.Fatal(err)
	}
	wantRun(t, w, "map_1", 20)
	wantRun(t, w, "map_2", 8)
	wantRun(t, w, "reduce", 3.5)
	if i := w.Tasks[2].Machine; w.Machines[i].Name != "h1" || w.Tasks[2].Kind != "map" {
		t.Errorf("%+v on %v", w.Tasks[2], w.Machines)
	}
}

const trace = "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration" +
	"\trealtime\t%cpu\tpeak_rss\trchar\twchar\tcomplete\n" +
	"1\ta\t1\tPREP\tCOMPLETED\t0\t2023-03-21 15:54:00.000\t2s\t1s\t90%\t1.5 MB\t2 KB\t1 KB\t2023-03-21 15:54:02.000\n" +
	"2\tb\t2\tNF:ALIGN (s1)\tCOMPLETED\t0\t2023-03-21 15:54:02.000\t1m 5s\t1m 2.5s\t90%\t1 " +
	"GB\t-\t-\t2023-03-21 15:55:07.000\n" +
	"3\tc\t3\tNF:ALIGN (s2)\tFAILED\t1\t2023-03-21 15:54:02.000\t5s\t4s\t90%\t-\t-\t-\t-\n" +
	"4\td\t4\tNF:ALIGN (s2)\tCOMPLETED\t0\t2023-03-21 15:54:08.000\t30s\t29s\t90%\t-\t-\t-\t2023-03-21 15:54:38.000\n" +
	"5\te\t5\tNF:COUNT (s1)\tCACHED\t0\t2023-03-21 15:55:07.000\t900ms\t850ms\t90%\t-\t-\t-\t2023-03-21 " +
	"15:55:08.000\n" +
	"6\tf\t6\tNF:COUNT (s2)\tCOMPLETED\t0\t2023-03-21 15:54:38.000\t2s\t1s\t90%\t-\t-\t-\t2023-03-21 15:54:40.000\n" +
	"7\tg\t7\tNF:REPORT\tCOMPLETED\t0\t2023-03-21 15:55:08.000\t4s\t3s\t90%\t-\t-\t-\t2023-03-21 15:55:12.000\n"

func TestReadNextflow(t *testing.T) {
	dot := `digraph "flow" {
v0 [shape=point,label="",fixedsize=true,width=0.1,xlabel="Channel.fromPath"];
v1 [label="PREP"];
v0 -> v1 [label="in"];
v2 [shape=circle,label="",xlabel="combine"];
v3 [label="NF:ALIGN"];
v1 -> v2;
v2 -> v3;
v4 [label="NF:COUNT"];
v3 -> v4 [label="bam"];
v5 [label="NF:REPORT"];
v4 -> v5;
}
`
	mermaid := `flowchart TB
    subgraph NF
    v3([ALIGN])
    v4([COUNT])
    v5([REPORT])
    end
    v0["Channel.fromPath"]
    v1([PREP])
    v2(( ))
    v0 --> v1
    v1 --> v2
    v2 --> v3
    v3 -->|bam| v4
    v4 --> v5
`
	for name, dag := range map[string]string{"dot": dot, "mermaid": mermaid} {
		w, err := read(t, workflow.FillOptions{}, "dag", dag, "trace.txt", trace)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantWaits(t, w, "NF:ALIGN (s1) #2<PREP #1", "NF:ALIGN (s2) #4<PREP #1", "NF:COUNT (s1) #5<NF:ALIGN (s1) #2",
			"NF:COUNT (s2) #6<NF:ALIGN (s2) #4", "NF:REPORT #7<NF:COUNT (s1) #5,NF:COUNT (s2) #6")
		wantRun(t, w, "NF:ALIGN (s1) #2", 62.5)
		wantRun(t, w, "NF:COUNT (s1) #5", 0.85)
		if w.Makespan != 72 || w.Tasks[1].Memory != 1<<30 || len(w.Warnings) != 0 {
			t.Errorf("%s: makespan %v, %+v, %v", name, w.Makespan, w.Tasks[1], w.Warnings)
		}
	}
	w, err := read(t, workflow.FillOptions{}, "trace.txt", trace)
	if err != nil || len(w.Tasks) != 6 || len(w.Warnings) != 1 {
		t.Errorf("trace alone: %v, %v", w, err)
	}
}

// TestNextflowLabelOfTwo checks that a label that fits two processes of one length means the first in
// the alphabet, each time.
func TestNextflowLabelOfTwo(t *testing.T) {
	dag := "flowchart TB\n    v0([PREP])\n    v1([SORT])\n    v0 --> v1\n"
	trace := "task_id\tname\tstatus\trealtime\n1\tPREP\tCOMPLETED\t1s\n2\tB:SORT\tCOMPLETED\t1s\n" +
		"3\tA:SORT\tCOMPLETED\t1s\n"
	for range 20 {
		w, err := read(t, workflow.FillOptions{}, "dag", dag, "trace.txt", trace)
		if err != nil {
			t.Fatal(err)
		}
		wantWaits(t, w, "A:SORT #3<PREP #1")
		if len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], `"B:SORT"`) {
			t.Fatalf("warnings %q", w.Warnings)
		}
	}
}

func TestReadSnakemake(t *testing.T) {
	dag := "digraph snakemake_dag {\n    graph[bgcolor=white, margin=0];\n    node[shape=box];\n" +
		"\t0[label = \"all\", color = \"0.5 0.6 0.85\", style=\"rounded\"];\n" +
		"\t1[label = \"join\", color = \"0.3\"];\n" +
		"\t2[label = \"map\\nsample: A\", color = \"0.1\"];\n" +
		"\t3[label = \"map\\nsample: B\", color = \"0.1\"];\n" +
		"\t1 -> 0\n\t2 -> 1\n\t3 -> 1\n}\n"
	head := "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
	w, err := read(t, workflow.FillOptions{}, "dag.dot", dag,
		"bench/map.A.tsv", head+"1.5\t0:00:01\t10.0\t20\t5\t6\t1.0\t2.0\t0\t0\n",
		"bench/map.B.tsv", head+"2.0\t0:00:02\t-\t-\t-\t-\t-\t-\t0\t0\n4.0\t0:00:04\t-\t-\t-\t-\t-\t-\t0\t0\n",
		"bench/join.tsv", head+"0.5\t0:00:00\t-\t-\t-\t-\t-\t-\t0\t0\n")
	if err != nil {
		t.Fatal(err)
	}
	wantWaits(t, w, "all<join", "join<map sample: A,map sample: B")
	wantRun(t, w, "map sample: A", 1.5)
	wantRun(t, w, "map sample: B", 3)
	wantRun(t, w, "all", 0)
	if w.Format != "snakemake" || w.Tasks[2].Kind != "map" || w.Tasks[2].Memory != 10<<20 {
		t.Errorf("%s, %+v", w.Format, w.Tasks[2])
	}
	if _, err := read(t, workflow.FillOptions{}, "dag.dot", dag[:len(dag)-2], "x.tsv",
		head+"1\t0\t0\t0\t0\t0\t0\t0\t0\t0\n"); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("a graph cut short: %v", err)
	}
}

func TestReadMakeflow(t *testing.T) {
	log := "# STARTED\t1400000000000000\n# NODE\t0\tbwa index ref\n# CATEGORY\t0\tdefault\n# NODE\t1\tbwa mem " +
		"a\n# CATEGORY\t1\tmem\n# PARENTS\t1\t0\n" +
		"1400000001000000 0 1 77 1 1 0 0 2\n1400000003500000 0 2 77 1 0 1 0 2\n1400000004000000 1 1 78 0 1 1 0 " +
		"2\n1400000009000000 1 2 78 0 0 2 0 2\n# COMPLETED\t1400000009100000\n"
	w, err := read(t, workflow.FillOptions{}, "x.makeflowlog", log)
	if err != nil {
		t.Fatal(err)
	}
	wantWaits(t, w, "1<0")
	wantRun(t, w, "0", 2.5)
	wantRun(t, w, "1", 5)
	if w.Tasks[0].Kind != "bwa" || w.Tasks[1].Kind != "mem" || w.Makespan != 8 {
		t.Errorf("%+v, makespan %v", w.Tasks, w.Makespan)
	}
}

// TestReadPlain reads one workflow in the three plain forms.
func TestReadPlain(t *testing.T) {
	csv := "# name: p\n# makespan_s: 7\n# cores: 2\nid,kind,run_s,parents,in_B\na,x,1.5,,\nb,y,2,a,30\nc 3,y,3,a b,\n"
	json := `{"name":"p","makespan_s":7,"cores":2,"tasks":[{"id":"a","kind":"x","run_s":1.5},
		{"id":"b","kind":"y","run_s":2,"parents":["a"],"in_B":30},
		{"id":"c 3","kind":"y","run_s":3,"parents":["a","b"],"auxiliary":false}]}`
	yaml := "name: p # comment\nmakespan_s: 7\ncores: 2\ntasks:\n  - id: a\n    kind: x\n    run_s: 1.5\n  - " +
		"{id: b, kind: y, run_s: 2, parents: [a], in_B: 30}\n  - id: \"c 3\"\n    kind: 'y'\n    run_s: 3\n    " +
		"parents: [a, \"b\"]\n"
	for name, text := range map[string]string{
		"csv": csv, "json": json, "yaml": yaml,
		"tsv": strings.ReplaceAll(csv, ",", "\t"),
	} {
		w, err := read(t, workflow.FillOptions{}, "p", text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantWaits(t, w, "b<a", "c 3<a,b")
		wantRun(t, w, "c 3", 3)
		if w.Name != "p" || w.Makespan != 7 || w.Cores() != 2 || w.Tasks[1].In != 30 || w.Tasks[2].Kind != "y" {
			t.Errorf("%s: %q, makespan %v on %d cores, %+v", name, w.Name, w.Makespan, w.Cores(), w.Tasks)
		}
	}
}
