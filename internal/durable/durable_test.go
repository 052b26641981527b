package durable_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/durable"
)

// What is kept of an outcome can be written, and is not too much.
func TestKept(t *testing.T) {
	m := assay.Measurement{Metrics: map[string]float64{"a": 1, "b": math.NaN(), "c": math.Inf(-1)}}
	kept := durable.Storable(m)
	if len(kept.Metrics) != 1 || kept.Missing["b"] != "NaN is no finite number" || kept.Missing["c"] == "" ||
		len(m.Metrics) != 3 {
		t.Errorf("%+v of %+v", kept, m)
	}
	long := []byte("first" + strings.Repeat("x", 1<<20) + "last")
	if s := string(durable.Shorten(long)); len(s) > 70<<10 || !strings.HasPrefix(s, "firstx") ||
		!strings.HasSuffix(s, "xlast") ||
		!strings.Contains(s, "bytes are left out") {
		t.Errorf("%d bytes", len(s))
	}
}

// A file is replaced as a whole, and nothing else is left in the directory.
func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result")
	for _, text := range []string{"first", "second, which is longer"} {
		if err := durable.WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%q, %v", b, err)
		}
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if err := durable.WriteFile(filepath.Join(path, "below"), nil); err == nil {
		t.Error("a file below a file was written")
	}
}
