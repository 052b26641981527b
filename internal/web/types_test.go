package web_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// A checker of types finds nothing wrong with any module, by the types in their comments.
func TestTypes(t *testing.T) {
	t.Parallel()
	testbed.System(t) // of make lint too
	node, err := exec.LookPath("node")
	tsc := testbed.Installed("typescript", "node_modules", "typescript", "bin", "tsc")
	if _, missing := os.Stat(tsc); err != nil || missing != nil {
		testbed.Lacks(t, "typescript")
	}
	if out, err := exec.CommandContext(t.Context(), node, tsc, "-p", "tsconfig.json").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
