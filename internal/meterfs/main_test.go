package meterfs_test

import (
	"syscall"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

func TestMain(m *testing.M) {
	syscall.Umask(0) // as a process that has a server should
	testbed.MainOutside(m)
}
