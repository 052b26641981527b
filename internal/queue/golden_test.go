package queue

import (
	"fmt"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// The courses of simulations are as before: run IDs, leases, and the bytes, order and times of all events.
func TestCourses(t *testing.T) {
	var b strings.Builder
	for seed := range uint64(40) {
		fmt.Fprintf(&b, "%d %x\n", seed, course(t, seed))
	}
	testbed.Current(t, "testdata/courses.txt", b.String(), "go test ./internal/queue -run TestCourses")
}
