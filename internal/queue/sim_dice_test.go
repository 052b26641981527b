package queue

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// dice are a source of chance of one part of the simulation: what another part draws before or after has
// no effect on what this one draws. That, and that no two parts do something at the same nanosecond, is what
// makes a seed repeat: testing/synctest runs what is due at one instant in an order that it draws anew
// each time, and so does the scheduler of Go with goroutines that can run.
type dice struct {
	mu  sync.Mutex
	rng *rand.Rand
}

// diceOf returns those of a part of the world. A name stands for one part.
func (w *world) diceOf(part string, of ...any) *dice {
	h := fnv.New64a()
	fmt.Fprint(h, part, of)
	return &dice{rng: rand.New(rand.NewPCG(w.seed, h.Sum64()))}
}

func (d *dice) intn(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(n)
}

func (d *dice) chance(p float64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.Float64() < p
}

func (d *dice) between(a, b time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return a + time.Duration(d.rng.Int64N(int64(b-a)+1))
}

// moment is a time that nobody notices, and that nobody else waits for.
func (d *dice) moment() time.Duration { return d.between(1, 20*time.Millisecond) }

// part waits for a moment: what was woken together with others goes on alone.
func (d *dice) part(ctx context.Context) bool { return sleep(ctx, d.moment()) }
