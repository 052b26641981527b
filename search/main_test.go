package search

import (
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }

// light restricts the conformance of a costly variant of a searcher to spaces of at most four parameters. make system
// tries it in all spaces. A variant that names its spaces keeps them.
func light(o assaytest.SearcherOptions) assaytest.SearcherOptions {
	if !testbed.IsSystem() && o.Supports == nil {
		o.Supports = func(s *assay.Space) bool { return len(s.Params) <= 4 }
	}
	return o
}
