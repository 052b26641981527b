package ledger_test

import (
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// The kept part of an outcome can be written, and is not too much.
func TestKept(t *testing.T) {
	m := assay.Measurement{Metrics: map[string]float64{"a": 1, "b": math.NaN(), "c": math.Inf(-1)}}
	kept := ledger.Storable(m)
	if len(kept.Metrics) != 1 || kept.Missing["b"] != "NaN is no finite number" || kept.Missing["c"] == "" ||
		len(m.Metrics) != 3 {
		t.Errorf("%+v of %+v", kept, m)
	}
	long := []byte("first" + strings.Repeat("x", 1<<20) + "last")
	if s := string(ledger.Shorten(long)); len(s) > 70<<10 || !strings.HasPrefix(s, "firstx") ||
		!strings.HasSuffix(s, "xlast") ||
		!strings.Contains(s, "bytes are left out") {
		t.Errorf("%d bytes", len(s))
	}
}
