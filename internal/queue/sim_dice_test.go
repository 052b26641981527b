package queue

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// dice are a source of chance of one part of the simulation: the draws of another part before or after have
// no effect on its draws. A seed repeats because of that, and because no two parts act at the same
// nanosecond: testing/synctest runs all that is due at one instant in an order that it draws anew
// each time, and so does the scheduler of Go with goroutines that can run.
type dice struct {
	mu  sync.Mutex
	rng *rand.Rand
}

// diceOf returns the dice of a part of the world. A name stands for one part.
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

// moment is a time that has no effect, and that no other part waits for.
func (d *dice) moment() time.Duration { return d.between(1, 20*time.Millisecond) }

// part waits for a moment: a part that was woken together with others goes on alone.
func (d *dice) part(ctx context.Context) bool { return sleep(ctx, d.moment()) }
