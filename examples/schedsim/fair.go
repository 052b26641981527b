package main

import (
	"cmp"
	"math"
	"slices"
)

// usage counts the processor seconds of each queue, old ones less than new ones:
// with p(s) processors in use at the time s, and the rate λ = ln 2 / half-life,
//
//	U(t) = ∫₋∞ᵗ p(s)·exp(-λ(t-s)) ds
type usage struct {
	rate  float64 // λ; 0 if nothing is forgotten
	at    int64
	used  []float64 // U of each queue at the time at
	busy  []int     // processors in use
	queue []int     // for order
}

func newUsage(queues int, halfLife float64) usage {
	u := usage{used: make([]float64, queues), busy: make([]int, queues), queue: make([]int, queues)}
	if halfLife > 0 {
		u.rate = math.Ln2 / halfLife
	}
	return u
}

// advance brings U to the time now.
func (u *usage) advance(now int64) {
	dt := float64(now - u.at)
	u.at = now
	keep, gain := 1.0, dt
	if u.rate > 0 {
		keep = math.Exp(-u.rate * dt)
		gain = -math.Expm1(-u.rate*dt) / u.rate
	}
	for q, procs := range u.busy {
		u.used[q] = u.used[q]*keep + float64(procs)*gain
	}
}

// order returns the queues by usage, least first; of equals the first. It is
// valid until the next call.
func (u *usage) order() []int {
	for q := range u.queue {
		u.queue[q] = q
	}
	slices.SortStableFunc(u.queue, func(a, b int) int { return cmp.Compare(u.used[a], u.used[b]) })
	return u.queue
}
