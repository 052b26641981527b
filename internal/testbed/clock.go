package testbed

import (
	"sync"
	"time"
	"unsafe"
)

// Stepped returns the value that time.Now would have returned instead of t if the machine's clock had
// been set forward by by before (back, if it is negative): the time shown differs by that, and the time
// that passes between two readings is unchanged. by is of whole seconds.
//
// Only the kernel can set the clock of a Go program, so this reaches into the value: bit 63 of its first
// word marks a reading of the monotonic clock, which is the second word; below it are 33 bits with the
// seconds that are shown, since 1885, and 30 with the nanoseconds. In a bubble of testing/synctest
// time.Now reads no monotonic clock; Stepped adds one.
func Stepped(t time.Time, by time.Duration) time.Time {
	const monotonic, second = 1 << 63, 1 << 30
	if by%time.Second != 0 {
		panic("testbed: a step is of whole seconds")
	}
	words := (*[2]uint64)(unsafe.Pointer(&t)) //nolint:gosec // there is no other way to such a value
	if words[0]&monotonic == 0 {
		since := t.Unix() - time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		words[0] = monotonic | uint64(since)*second | uint64(t.Nanosecond()) //nolint:gosec // positive
		words[1] = uint64(t.UnixNano())                                      //nolint:gosec // positive
	}
	words[0] += uint64(int64(by/time.Second) * second) //nolint:gosec // a negative step wraps around
	return t
}

// Steps are how a clock is set in tests, one after the other: by an hour and by a year, forward and back.
func Steps() []time.Duration {
	const hour, year = time.Hour, 365 * 24 * time.Hour
	return []time.Duration{hour, -2 * hour, hour, year, -2 * year, year}
}

// A SetClock is the machine's clock, set again and again: after every few readings it takes the next of
// [Steps]. With Wall it is the view of a program that knows only the clock's time, as control: its
// durations are wrong. It is safe for concurrent use.
type SetClock struct {
	Every int // readings
	Wall  bool

	mu    sync.Mutex
	reads int
	by    time.Duration
	set   int
}

// Now implements assay.Clock.
func (c *SetClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reads++; c.reads%max(c.Every, 1) == 0 {
		steps := Steps()
		c.by += steps[c.set%len(steps)]
		c.set++
	}
	t := Stepped(time.Now(), c.by)
	if c.Wall {
		t = t.Round(0)
	}
	return t
}

// Set returns how often the clock was set.
func (c *SetClock) Set() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.set
}
