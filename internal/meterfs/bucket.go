package meterfs

import (
	"math"
	"sync"
	"time"
)

// A bucket limits a rate, which may change: an amount taken from it has to wait until it would have been
// read or written at the rates that were in force, one after the other.
type bucket struct {
	varies bool // set may be called

	mu    sync.Mutex
	rate  float64   // bytes/s
	taken float64   // bytes since the beginning
	done  float64   // of them, those that had passed
	as    time.Time // of done
}

// lookAgain is after how long a wait looks whether the rate has grown.
const lookAgain = 5 * time.Millisecond

// pass brings done up to now. The lock is held.
func (b *bucket) pass() {
	now := time.Now()
	b.done = min(b.taken, b.done+b.rate*now.Sub(b.as).Seconds())
	b.as = now
}

// set changes the rate from now on, also for waiting requests.
func (b *bucket) set(rate float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pass()
	b.rate = rate
}

// wait returns when n bytes have passed. On a nil bucket, and for no bytes, that
// is at once.
func (b *bucket) wait(n int) {
	if b == nil || n <= 0 {
		return
	}
	b.mu.Lock()
	b.pass()
	b.taken += float64(n)
	mine := b.taken
	for {
		left := (mine - b.done) / b.rate
		b.mu.Unlock()
		if left <= 1e-9 {
			return
		}
		pause := time.Duration(math.Ceil(left * float64(time.Second)))
		if b.varies {
			pause = min(pause, lookAgain)
		}
		time.Sleep(pause)
		b.mu.Lock()
		b.pass()
	}
}
