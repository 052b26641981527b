package workbench_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

// mountSmall mounts a file system of one megabyte on dir.
func mountSmall(t testing.TB, dir string) {
	t.Helper()
	if err := unix.Mount("assay-test", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
}
