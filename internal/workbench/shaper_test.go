package workbench

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestShaperByHand(t *testing.T) {
	// 8 bit/s: a byte takes a second; the delay is 5 s, and 3 bytes may wait.
	const second = 1e9
	s := shaper{rate: 8, delay: 5 * second, queue: 3}
	for _, step := range []struct {
		now, n int
		due    int64 // s, or -1 if lost
	}{
		{0, 2, 7}, {0, 1, 8}, {0, 4, 12}, {0, 1, -1}, {3, 1, -1}, {4, 1, 13}, {20, 2, 27},
	} {
		due, ok := s.take(int64(step.now)*second, step.n)
		if ok != (step.due >= 0) || ok && due != step.due*second {
			t.Errorf("%d bytes at %d s: %d, %v, want %d s", step.n, step.now, due, ok, step.due)
		}
	}
}

// Packets stay in order, none arrives before its own time on the link and the
// delay, and over any busy stretch the link is never faster than its rate.
func TestShaperInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := shaper{
			rate:  rapid.Float64Range(64e3, 1e9).Draw(t, "rate"),
			delay: rapid.Int64Range(0, 1e9).Draw(t, "delay"),
			queue: float64(rapid.IntRange(0, 1<<20).Draw(t, "queue")),
		}
		now, last, sent := int64(0), int64(math.MinInt64), 0.0
		start := int64(-1)
		for range rapid.IntRange(1, 50).Draw(t, "packets") {
			now += rapid.Int64Range(0, 1e7).Draw(t, "gap")
			n := rapid.IntRange(1, 65000).Draw(t, "n")
			due, ok := s.take(now, n)
			if !ok {
				if s.queue == 1<<20 && float64(n) < s.queue && last < now+s.delay {
					t.Fatal("lost on an idle link")
				}
				continue
			}
			alone := float64(now) + float64(n)*8e9/s.rate + float64(s.delay)
			if float64(due) < alone-1 || due < last {
				t.Fatalf("due %d, alone %g, the one before %d", due, alone, last)
			}
			last = due
			if start < 0 {
				start = now
			}
			sent += float64(n)
			if busy := float64(due-s.delay-start) / 1e9; sent*8 > s.rate*busy*(1+1e-9)+1 {
				t.Fatalf("%g bytes in %g s at %g bit/s", sent, busy, s.rate)
			}
		}
	})
}

// A change holds from then on: packets that have left the link arrive as before, the packet being sent goes on
// with its remaining bytes, the rest follows, and nothing overtakes.
func TestShaperChange(t *testing.T) {
	const second = 1e9
	// 8 bit/s: a byte takes a second; the delay is 5 s.
	line := func() (s shaper, packets []packet) {
		s = shaper{rate: 8, delay: 5 * second, queue: 100}
		for range 3 {
			due, _ := s.take(0, 4)
			packets = append(packets, packet{due, s.free, make([]byte, 4)})
		}
		return s, packets // they leave at 4, 8, 12 s
	}
	for _, c := range []struct {
		rate       float64
		delay, now int64
		want       [3]int64
		next       int64 // when a further packet of 4 bytes arrives
	}{
		{8, 5, 6, [3]int64{9, 13, 17}, 21},  // the same
		{16, 5, 6, [3]int64{9, 12, 14}, 16}, // 2 bytes are left of the second at 6 s
		{4, 5, 6, [3]int64{9, 15, 23}, 31},
		{8, 0, 6, [3]int64{9, 9, 12}, 16}, // the second would be there at 8, before the first
		{0, 1, 6, [3]int64{9, 9, 9}, 9},   // at once, behind the first
	} {
		s, packets := line()
		s.change(c.now*second, c.rate, c.delay*second, packets)
		last := int64(0)
		for i, want := range c.want {
			if last = packets[i].due; last != want*second {
				t.Errorf("%+v: packet %d arrives at %g s, want %d", c, i, float64(last)/second, want)
			}
		}
		if due, ok := s.take(c.now*second, 4); !ok || max(due, last) != c.next*second {
			t.Errorf("%+v: the next arrives at %g s, want %d", c, float64(due)/second, c.next)
		}
	}
}
