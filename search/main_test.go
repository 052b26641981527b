package search

import (
	"runtime/debug"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
)

// TestMain collects garbage less often, which takes a third of the processor time of these tests.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	testbed.Main(m)
}

// light restricts the conformance of a costly variant of a searcher to spaces of at most four parameters. make system
// tries it in all spaces. A variant that names its spaces keeps them.
func light(o assaytest.SearcherOptions) assaytest.SearcherOptions {
	if !testbed.IsSystem() && o.Supports == nil {
		o.Supports = func(s *assay.Space) bool { return len(s.Params) <= 4 }
	}
	return o
}
