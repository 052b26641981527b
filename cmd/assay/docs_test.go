package main

import (
	"path/filepath"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// TestDocs runs the commands of the documentation; see [testbed.RunPage].
func TestDocs(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	for _, page := range []string{
		"../../README.md", "../../docs/guide.md", "../../docs/tables.md", "../../docs/workflows.md",
		"../../docs/gate.md", "../../docs/compare-files.md", "../../docs/import.md",
		"../../docs/online.md", "../../docs/costmodel.md",
		"../../docs/server-operations.md", "../../docs/ask.md", "../../docs/python.md", "../../docs/slurm.md",
		"../../docs/batch.md", "../../docs/install.md",
		"../../docs/tutorials/cluster.md", "../../docs/tutorials/workflow.md",
		"../../docs/tutorials/python.md", "../../docs/tutorials/ci.md",
		"../../docs/explain/noise.md", "../../docs/explain/censoring.md", "../../docs/explain/pruning.md",
	} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			testbed.RunPage(t, page)
		})
	}
}

// The pages whose studies have a budget of time are run alone, since their number of trials depends on the load of
// the machine.
func TestDocsByTime(t *testing.T) {
	testbed.System(t)
	for _, page := range []string{"../../docs/tutorials/performance.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) { testbed.RunPage(t, page) })
	}
}
