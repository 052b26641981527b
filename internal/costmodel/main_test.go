package costmodel

import (
	"runtime/debug"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// TestMain collects garbage less often, which takes a third of the processor time of these tests.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	testbed.Main(m)
}
