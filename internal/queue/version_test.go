package queue

import (
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// A worker one minor version older or newer is served; one further away, or of another major
// version, is not, and is not known afterwards.
func TestWorkerVersion(t *testing.T) {
	for _, c := range []struct {
		server, worker string
		served         bool
	}{
		{"v1.4.0 go1.26", "v1.4.9 go1.25", true},
		{"v1.4.0", "v1.3.0", true},
		{"v1.4.0", "v1.5.2", true},
		{"v1.4.0", "v1.2.9", false},
		{"v1.4.0", "v1.6.0", false},
		{"v1.4.0", "v2.4.0", false},
		{"v0.1.0", "v1.0.0-rc.1", false},
		{"v1.4.0", "v1.2.1-0.20260102030405-0123456789ab go1.26", false},
		{"v1.4.0", "v0.0.0-20260102030405-0123456789ab+dirty", true},
		{"v1.4.0", "0123456789ab go1.26", true},
		{"(devel) go1.26", "v7.0.0", true},
		{"", "v7.0.0", true},
		{"v7.0.0", "", true},
	} {
		f := New(NewMemory(0), Options{Version: c.server})
		_, err := f.Hello(t.Context(), Worker{ID: "w", Version: c.worker})
		if (err == nil) != c.served || len(f.Workers()) == 1 != c.served {
			t.Errorf("%q at %q: %v, and %d workers", c.worker, c.server, err, len(f.Workers()))
		}
		if err != nil && (assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(), "version v1.4.0") &&
			!strings.Contains(err.Error(), "version v0.1.0")) {
			t.Errorf("%v", err)
		}
	}
}
