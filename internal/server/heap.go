package server

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// By default Go lets a heap double between two collections. A server may hold the trials of many studies, most of which
// do not change, and allocates slowly. So its heap grows by headroom, or by leastGrowth of itself if that is more;
// never by more than the default.
const (
	headroom    = 16 << 20
	leastGrowth = 16 // per cent
)

// growth returns the allowed growth, in per cent, of a heap with the given live bytes.
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

// keepHeap keeps the heap small until stop is called. It does nothing if the environment sets GOGC.
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

// wait arranges a call of look after the next collection, by the finalizer of an unreachable value.
func (k *keeper) wait() {
	runtime.SetFinalizer(&struct{ k *keeper }{k}, func(*struct{ k *keeper }) { k.look() })
}

// look is called by the finalizer goroutine only.
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
