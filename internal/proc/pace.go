package proc

// This file scales the intervals and limits that the program chooses itself: between the hellos of a worker, until a
// worker without a server ends. Tests of processes set a factor below 1, so that they wait less. Times that a user
// gives are not scaled.

import (
	"math"
	"sync/atomic"
	"time"
)

var factor atomic.Uint64 // bits of a float64; 0 is the factor 1

// SetPace scales every duration of the process. Only tests call it, before anything runs.
func SetPace(f float64) { factor.Store(math.Float64bits(f)) }

// Paced returns a duration scaled by the factor.
func Paced(d time.Duration) time.Duration {
	if bits := factor.Load(); bits != 0 {
		return time.Duration(float64(d) * math.Float64frombits(bits))
	}
	return d
}
