package descriptors

import (
	"strconv"
	"strings"
	"testing"
)

func TestLacking(t *testing.T) {
	for _, n := range []uint64{Least, 1024, 1<<64 - 1} {
		if s := lacking(n); s != "" {
			t.Errorf("%d: %s", n, s)
		}
	}
	for _, n := range []uint64{0, 8, 10, Least - 1} {
		if s := lacking(n); !strings.Contains(s, "may have "+strconv.FormatUint(n, 10)+" open files") {
			t.Errorf("%d: %q", n, s)
		}
	}
}
