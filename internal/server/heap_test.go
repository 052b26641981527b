package server

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// A small heap may double, as Go has it; a great one grows by a sixth, and one between by the headroom.
func TestGrowth(t *testing.T) {
	for _, tt := range []struct {
		live uint64
		want int
	}{{0, 100}, {1 << 20, 100}, {16 << 20, 100}, {32 << 20, 50}, {64 << 20, 25}, {4 << 30, 16}} {
		if got := growth(tt.live); got != tt.want {
			t.Errorf("a heap of %d MB may grow by %d %%, want %d", tt.live>>20, got, tt.want)
		}
	}
}

// The live bytes of a heap decide how far it may grow, after each collection, until that is stopped.
func TestKeepHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	now := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	defer debug.SetGCPercent(now())
	stop := keepHeap()
	held := make([]byte, 160<<20)
	for began := time.Now(); now() > 40 && time.Since(began) < 30*time.Second; {
		runtime.GC()
	}
	if p := now(); p > 40 {
		t.Errorf("with %d MB the heap may grow by %d %%", len(held)>>20, p)
	}
	runtime.KeepAlive(held)
	for began := time.Now(); now() < 100 && time.Since(began) < 30*time.Second; { // nothing holds it any more
		runtime.GC()
	}
	if p := now(); p != 100 {
		t.Errorf("a heap that is small again may grow by %d %%", p)
	}
	stop()
	debug.SetGCPercent(77)
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if p := now(); p != 77 {
		t.Errorf("it is still set, to %d", p)
	}
}
