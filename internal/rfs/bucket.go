package rfs

import (
	"sync"
	"time"
)

// A bucket limits a rate: what is taken from it has to wait until it would have
// been read or written at that rate, one after the other.
type bucket struct {
	rate  float64 // bytes/s
	now   func() time.Time
	sleep func(time.Duration)

	mu   sync.Mutex
	free time.Time // when the storage has done all that was taken
}

func newBucket(rate float64) *bucket {
	return &bucket{rate: rate, now: time.Now, sleep: time.Sleep}
}

// wait returns when n bytes have passed. On a nil bucket, and for no bytes, that
// is at once.
func (b *bucket) wait(n int) {
	if b == nil || n <= 0 {
		return
	}
	b.mu.Lock()
	now := b.now()
	if b.free.Before(now) {
		b.free = now
	}
	b.free = b.free.Add(time.Duration(float64(n) / b.rate * float64(time.Second)))
	wait := b.free.Sub(now)
	b.mu.Unlock()
	b.sleep(wait)
}
