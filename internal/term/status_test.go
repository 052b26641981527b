package term

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A clock is set by hand.
type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func newTestStatus(t *testing.T, width int) (*Status, *screen, *clock) {
	scr, clk := newScreen(t, width), &clock{time.Unix(1000, 0)}
	return NewStatusClock(scr, true, func() int { return scr.width }, clk.now), scr, clk
}

func TestStatusIsRedrawnInPlace(t *testing.T) {
	s, scr, clk := newTestStatus(t, 20)
	s.Set("trial 1")
	scr.want("trial 1")
	clk.advance(time.Second)
	s.Set("done")
	scr.want("done")
	s.Print("trial 1: 2 s")
	scr.want("trial 1: 2 s", "done")
	clk.advance(time.Second)
	s.Set("")
	scr.want("trial 1: 2 s")
	s.Set("a status that is too long")
	scr.want("trial 1: 2 s", "a status that is t…")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	scr.want("trial 1: 2 s")
	s.Set("late")
	s.Print("after")
	scr.want("trial 1: 2 s", "after")
}

func TestStatusIsDrawnTenTimesASecond(t *testing.T) {
	var b bytes.Buffer
	clk := &clock{time.Unix(1000, 0)}
	s := NewStatusClock(&b, true, func() int { return 80 }, clk.now)
	drawings := 0
	for i := range 1000 { // 10 s at 100 Hz
		b.Reset()
		s.Set(fmt.Sprint("step ", i))
		if b.Len() > 0 {
			drawings++
		}
		clk.advance(10 * time.Millisecond)
	}
	if drawings != 100 {
		t.Errorf("%d drawings in 10 s, want 100", drawings)
	}
}

// A status that was not drawn in time is not lost: the next Set or Print draws
// the latest one.
func TestStatusCatchesUp(t *testing.T) {
	s, scr, clk := newTestStatus(t, 20)
	s.Set("one")
	s.Set("two")
	scr.want("one")
	s.Print("line")
	scr.want("line", "two")
	s.Set("three")
	scr.want("line", "two")
	clk.advance(redrawEvery)
	s.Set("four")
	scr.want("line", "four")
	s.Set("five")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	scr.want("line")
	s.Print("end")
	scr.want("line", "end")
}

// A clock that is set back does not freeze the line.
func TestStatusSurvivesAClockThatGoesBack(t *testing.T) {
	s, scr, clk := newTestStatus(t, 20)
	s.Set("one")
	clk.advance(-time.Hour)
	s.Set("two")
	scr.want("two")
}

func TestStatusWritesNothingTwice(t *testing.T) {
	var b bytes.Buffer
	clk := &clock{time.Unix(1000, 0)}
	s := NewStatusClock(&b, true, func() int { return 80 }, clk.now)
	s.Set("same")
	n := b.Len()
	clk.advance(time.Second)
	s.Set("same")
	if b.Len() != n {
		t.Errorf("an unchanged status was drawn again: %q", b.String())
	}
}

func TestStatusOnANarrowedTerminal(t *testing.T) {
	s, scr, clk := newTestStatus(t, 30)
	s.Print("first")
	s.Set("0123456789012345678901234")
	scr.resize(10)
	scr.want("first", "0123456789", "0123456789", "01234")
	clk.advance(time.Second)
	s.Set("short")
	scr.want("first", "short")
}

func TestStatusWithoutTerminal(t *testing.T) {
	var b bytes.Buffer
	s := NewStatus(&b, false, nil)
	s.Set("never seen")
	s.Print("one")
	s.Print("two\nthree\n")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "one\ntwo\nthree\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

type broken struct{}

var errBroken = errors.New("broken pipe")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestStatusOnABrokenPipe(t *testing.T) {
	s := NewStatus(broken{}, false, nil)
	s.Print("x")
	if err := s.Close(); err != errBroken {
		t.Errorf("Close: %v, want %v", err, errBroken)
	}
}

func TestStatusIsSafeForConcurrentUse(t *testing.T) {
	scr := newScreen(t, 40)
	s := NewStatus(scr, true, func() int { return 40 })
	var wg sync.WaitGroup
	const writers, each = 8, 50
	for g := range writers {
		wg.Go(func() {
			for i := range each {
				s.Set(fmt.Sprintf("writer %d step %d", g, i))
				s.Print(fmt.Sprintf("line %d.%d", g, i))
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	lines := scr.lines()
	if len(lines) != writers*each {
		t.Fatalf("%d lines, want %d", len(lines), writers*each)
	}
	next := map[int]int{}
	for _, l := range lines {
		var g, i int
		if _, err := fmt.Sscanf(l, "line %d.%d", &g, &i); err != nil || i != next[g] {
			t.Fatalf("line %q, want number %d of writer %d", l, next[g], g)
		}
		next[g]++
	}
}

// Whatever is called, the screen shows the permanent lines in order, wrapped
// as the terminal does, and below at most one line of status.
func TestStatusModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.IntRange(2, 25).Draw(rt, "width")
		s, scr, clk := newTestStatus(t, width)
		var printed []string
		line := rapid.StringMatching(`[a-z日é]([a-z日é ]{0,30}[a-z])?`)
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			switch rapid.IntRange(0, 2).Draw(rt, "what") {
			case 0:
				s.Set(rapid.OneOf(line, rapid.Just("")).Draw(rt, "status"))
			case 1:
				l := line.Draw(rt, "line")
				s.Print(l)
				printed = append(printed, l)
			case 2:
				clk.advance(time.Duration(rapid.IntRange(0, 300).Draw(rt, "ms")) * time.Millisecond)
			}
			want := newScreen(t, width)
			io.WriteString(want, strings.Join(append(printed, s.drawn), "\n"))
			if got, model := scr.lines(), want.lines(); strings.Join(got, "\n") != strings.Join(model, "\n") {
				rt.Fatalf("the screen shows %q, want %q", got, model)
			}
		}
		s.Close()
		want := newScreen(t, width)
		io.WriteString(want, strings.Join(printed, "\n"))
		if got, model := scr.lines(), want.lines(); strings.Join(got, "\n") != strings.Join(model, "\n") {
			rt.Fatalf("at the end the screen shows %q, want %q", got, model)
		}
	})
}
