package meterfs

import (
	"testing"
	"time"
)

// The runtime wakes its poller from the thread that alone ends, whenever there are
// timers: it needs its own descriptors there. Without them the process ends, and has no standard error for the reason.
func TestAloneLeavesTheRuntimeItsDescriptors(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	for range 8 {
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Microsecond):
				}
			}
		}()
	}
	for range 1000 {
		if err := alone(func() error { time.Sleep(10 * time.Microsecond); return nil }); err != nil {
			t.Fatal(err)
		}
	}
}
