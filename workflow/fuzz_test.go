package workflow

import (
	"errors"
	"strings"
	"testing"
)

// FuzzRead checks that no input makes a reader panic, that what is wrong is an
// InputError, and that what is read can be estimated.
func FuzzRead(f *testing.F) {
	head := "s\th:m:s\tmax_rss\n1.5\t0:00:01\t10.0\n"
	for _, s := range []string{
		wf15, wf14, wf01, dagFile, trace, head,
		"id,run_s,parents\na,1,\nb,2,a\n", "tasks:\n  - {id: a, run_s: 1, parents: [\"b\"]}\n  - id: b\n    run_s: 2\n",
		"digraph snakemake_dag {\n 0[label = \"a\\nx: 1\"];\n 1 -> 0\n}\n", "flowchart TB\n a([P]) \n a --> b\n",
		"# NODE\t0\tbwa index\n# PARENTS\t1\t0\n1400000001000000 0 1 77\n", "1335477450 a EXECUTE 1.0 local - 1\n",
		"<invocation duration=\"1\" hostname=\"h\">", "- invocation: True\n  duration: 3.5\n",
		"04/26/12 17:57:40 Event: ULOG_EXECUTE for Condor Node a (1.0)\n04/26/12 17:57:42 Event: ULOG_JOB_TERMINATED for Condor Node a (1.0)\n",
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
		w, err := Read(FillOptions{Fill: true}, src...)
		if err != nil {
			var in *InputError
			if !errors.As(err, &in) || in.Msg == "" {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
		for _, l := range Levelers() {
			m, err := NewLevelModel(w, l.Leveler, Site{})
			if err != nil {
				t.Fatal(err)
			}
			if x, err := m.Makespan(2); err != nil || !(x >= 0) {
				t.Fatalf("makespan %v, %v", x, err)
			}
		}
	})
}

// FuzzReadCalibration checks that what is read predicts without panic.
func FuzzReadCalibration(f *testing.F) {
	f.Add(`{"assay":"calibration","version":1,"executions":1,"configs":1,"node_cores":8,"cv_error":0,"sigma":0.3,"models":[{"weight":1,"compute":{"share":0.5},"terms":[{"term":"scale","value":1},{"term":"start_s","value":20}]}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ReadCalibration("c", strings.NewReader(s))
		if err != nil {
			return
		}
		if p, err := c.Predict(figure1(t), TopDown{}, 3); err != nil || p.Makespan != p.Makespan {
			t.Fatalf("%v, %v", p, err)
		}
	})
}

// FuzzParsePrice checks that prices that are read cost something defined.
func FuzzParsePrice(f *testing.F) {
	f.Add("0.34/node-hour,slots=8,start=90,unit=60,min=60,spot=0.05,save=600")
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := ParsePrice(s); err == nil && !(p.Cost(3, 100) >= 0) {
			t.Fatalf("%q: cost %v", s, p.Cost(3, 100))
		}
	})
}
