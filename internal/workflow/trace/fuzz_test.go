package trace

import (
	"errors"
	"strings"
	"testing"

	"github.com/assay-run/assay/workflow"
)

// FuzzRead checks that no input makes a reader panic, that an error is an InputError, and that a
// workflow that is read can be estimated.
func FuzzRead(f *testing.F) {
	head := "s\th:m:s\tmax_rss\n1.5\t0:00:01\t10.0\n"
	for _, s := range []string{
		wf15, wf14, wf01, dagFile, trace, head,
		"id,run_s,parents\na,1,\nb,2,a\n", "tasks:\n  - {id: a, run_s: 1, parents: [\"b\"]}\n  - id: b\n    run_s: 2\n",
		"digraph snakemake_dag {\n 0[label = \"a\\nx: 1\"];\n 1 -> 0\n}\n", "flowchart TB\n a([P]) \n a --> b\n",
		"# NODE\t0\tbwa index\n# PARENTS\t1\t0\n1400000001000000 0 1 77\n", "1335477450 a EXECUTE 1.0 local - 1\n",
		"<invocation duration=\"1\" hostname=\"h\">", "- invocation: True\n  duration: 3.5\n",
		"04/26/12 17:57:40 Event: ULOG_EXECUTE for Condor Node a (1.0)\n04/26/12 17:57:42 Event: " +
			"ULOG_JOB_TERMINATED for Condor Node a (1.0)\n",
		"{\"tasks\":[{\"id\":\"a\",\"run_s\":1}]}", "\x1f\x8b",
	} {
		f.Add(s, "")
		f.Add(s, dagFile)
		f.Add(s, trace)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		src := []Source{{"a", strings.NewReader(a)}}
		if b != "" {
			src = append(src, Source{"b", strings.NewReader(b)})
		}
		w, err := Read(workflow.FillOptions{Fill: true}, src...)
		if err != nil {
			var in *workflow.InputError
			if !errors.As(err, &in) || in.Msg == "" {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
		for _, l := range workflow.Levelers() {
			m, err := workflow.NewLevelModel(w, l.Leveler, workflow.Overhead{})
			if err != nil {
				t.Fatal(err)
			}
			if x, err := m.Makespan(2); err != nil || !(x >= 0) {
				t.Fatalf("makespan %v, %v", x, err)
			}
		}
	})
}
