package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// Slept returns how long this machine has been suspended since it was started.
func Slept() time.Duration {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil {
		return 0
	}
	return max(0, time.Duration(boot.Nano()-mono.Nano()))
}
