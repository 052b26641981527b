package server

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// Between two collections Go lets a heap grow to twice of what it holds. A server may hold the trials of
// many studies, of which most stay as they are, and allocates little a second. So its heap grows by
// headroom, or by leastGrowth of itself if that is more; never by more than Go would let it.
const (
	headroom    = 16 << 20
	leastGrowth = 16 // per cent
)

// growth returns by how many per cent a heap may grow that holds so many bytes.
func growth(live uint64) int {
	if live == 0 {
		return 100
	}
	return int(min(max(headroom*100/live, leastGrowth), 100))
}

// A keeper sets how much the heap may grow, after each collection.
type keeper struct {
	over    atomic.Bool
	percent int // the last that was set
	live    []metrics.Sample
}

// keepHeap keeps the heap small until stop is called. It does nothing where the environment says how much
// the heap may grow.
func keepHeap() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	k := &keeper{percent: 100, live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	k.wait()
	return func() {
		if k.over.CompareAndSwap(false, true) {
			debug.SetGCPercent(100)
		}
	}
}

// wait has look called after the next collection: that is when a value which nobody has is found.
func (k *keeper) wait() {
	runtime.SetFinalizer(&struct{ k *keeper }{k}, func(*struct{ k *keeper }) { k.look() })
}

// look is called by one goroutine, that of finalizers.
func (k *keeper) look() {
	if k.over.Load() {
		return
	}
	metrics.Read(k.live)
	if p := growth(k.live[0].Value.Uint64()); p != k.percent {
		k.percent = p
		debug.SetGCPercent(p)
	}
	k.wait()
}
