package trace

import (
	"testing"

	"github.com/assay-run/assay/workflow"
)

func TestLabel(t *testing.T) {
	machines := func(names ...string) *workflow.Workflow {
		w := &workflow.Workflow{System: "Pegasus 4.9"}
		for _, n := range names {
			w.Machines = append(w.Machines, workflow.Machine{Name: n})
		}
		return w
	}
	for _, tt := range []struct {
		file                     string
		w                        *workflow.Workflow
		app, overhead, configure string
		grid                     bool
	}{
		{
			"pegasus/montage/montage-chameleon-2mass-01d-001.json.gz",
			machines("compute-3", "compute-12",
				"cc-worker-1"), "montage", "Pegasus/compute", "pegasus/montage/montage-chameleon-2mass-01d", false,
		},
		{
			"pegasus2016/epigenomics_x-hep-run002.json.gz", machines("vm-1.uc.edu"), "epigenomics", "Pegasus/vm",
			"pegasus2016/epigenomics_x-hep", false,
		},
		{"a-b.json", machines("a", "b", "c", "d", "e", "f", "g", "h", "i"), "a", "Pegasus/grid", "a-b", true},
		{"x.json", machines(), "x", "Pegasus/", "x", false},
	} {
		r := Label(tt.w, tt.file)
		if r.App != tt.app || r.Site != tt.overhead || r.Config != tt.configure || r.Grid != tt.grid {
			t.Errorf("%s: %q, %q, %q, %v", tt.file, r.App, r.Site, r.Config, r.Grid)
		}
	}
}
