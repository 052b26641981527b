package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func since(c *SimClock) time.Duration { return c.Now().Sub(time.Unix(0, 0)) }

func TestSimClockAlone(t *testing.T) {
	var c SimClock
	c.Enter()
	for i := range 5 {
		if err := c.Sleep(t.Context(), 0, time.Second); err != nil {
			t.Fatal(err)
		}
		if got, want := since(&c), time.Duration(i+1)*time.Second; got != want {
			t.Errorf("now %v, want %v", got, want)
		}
	}
	if err := c.Sleep(t.Context(), 0, -time.Hour); err != nil || since(&c) != 5*time.Second {
		t.Errorf("after a negative sleep: %v, %v", since(&c), err)
	}
	c.Leave()
	defer func() {
		if recover() == nil {
			t.Error("a second Leave does not panic")
		}
	}()
	c.Leave()
}

// loop runs trials that sleep for the given steps, width at a time, by the rules
// of the type comment, and returns its events.
func loop(ctx context.Context, c *SimClock, width int, trials [][]time.Duration) string {
	var log []string
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, fmt.Sprintf("%v ", since(c))+fmt.Sprintf(format, args...))
	}
	done := make(chan int)
	c.Enter()
	started, ended, running := 0, 0, 0
	for ended < len(trials) {
		for running < width && started < len(trials) {
			n := started
			started++
			running++
			c.Enter()
			go func() {
				for k, d := range trials[n] {
					if c.Sleep(ctx, int64(n), d) != nil {
						break
					}
					say("trial %d step %d", n, k)
				}
				done <- n
			}()
		}
		c.Leave()
		n := <-done
		running--
		ended++
		say("end of %d", n)
	}
	c.Leave()
	return strings.Join(log, "\n")
}

func TestSimClockLoop(t *testing.T) {
	var c SimClock
	s := time.Second
	got := loop(t.Context(), &c, 2, [][]time.Duration{{0, 3 * s}, {0, s, s}, {0, s}, {0, s}})
	want := `0s trial 0 step 0
0s trial 1 step 0
1s trial 1 step 1
2s trial 1 step 2
2s end of 1
2s trial 2 step 0
3s trial 0 step 1
3s end of 0
3s trial 2 step 1
3s end of 2
3s trial 3 step 0
4s trial 3 step 1
4s end of 3`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The same trials happen in the same order every time, whatever the scheduler does.
func TestSimClockDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0, 4).Draw(t,
				"s")) * time.Second
		})
		trials := rapid.SliceOfN(rapid.SliceOfN(step, 1, 5), 1, 12).Draw(t, "trials")
		for i := range trials {
			trials[i] = slices.Insert(trials[i], 0, 0)
		}
		width := rapid.IntRange(1, 5).Draw(t, "width")
		var first string
		for i := range 4 {
			var c SimClock
			got := loop(context.Background(), &c, width, trials)
			if i == 0 {
				first = got
			} else if got != first {
				t.Fatalf("got\n%s\nbefore\n%s", got, first)
			}
		}
	})
}

func TestSimClockCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c SimClock
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		c.Enter() // the test
		c.Enter() // the sleeper
		got := make(chan error)
		go func() { got <- c.Sleep(ctx, 0, time.Hour) }()
		synctest.Wait()
		cancel(stop)
		synctest.Wait()
		c.Leave()
		if err := <-got; err != stop {
			t.Errorf("got %v, want the cause", err)
		}
		if since(&c) != 0 {
			t.Errorf("time passed: %v", since(&c))
		}
		// The place of the sleeper is with the test now: one actor runs.
		if err := c.Sleep(t.Context(), 0, time.Second); err != nil || since(&c) != time.Second {
			t.Errorf("now %v, %v", since(&c), err)
		}
		if err := c.Sleep(ctx, 0, time.Second); err != stop || since(&c) != time.Second {
			t.Errorf("a sleep with a context that is done: %v at %v", err, since(&c))
		}
		c.Leave()
		if len(c.waiting) != 0 || c.running != 0 {
			t.Errorf("%d wait, %d run", len(c.waiting), c.running)
		}
	})
}

// A cancellation from outside ends a loop whose trials all sleep.
func TestSimClockCancelLoop(t *testing.T) {
	for range 50 {
		var c SimClock
		ctx, cancel := context.WithCancel(t.Context())
		steps := slices.Repeat([]time.Duration{time.Second}, 2000)
		go cancel()
		loop(ctx, &c, 3, [][]time.Duration{steps, steps, steps, steps})
		if c.running != 0 || len(c.waiting) != 0 {
			t.Fatalf("%d run, %d wait", c.running, len(c.waiting))
		}
	}
}

func BenchmarkSimClock(b *testing.B) {
	for _, width := range []int{1, 8} {
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			var c SimClock
			var wg sync.WaitGroup
			for range width {
				c.Enter()
			}
			for i := range width {
				wg.Go(func() {
					for range b.N / width {
						c.Sleep(context.Background(), int64(i), time.Second)
					}
					c.Leave()
				})
			}
			wg.Wait()
		})
	}
}
