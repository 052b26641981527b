package testbed

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"
)

// A clock that was set shows another time, and measures as before, in a bubble too.
func TestStepped(t *testing.T) {
	testStepped(t)
	synctest.Test(t, testStepped)
}

func testStepped(t *testing.T) {
	for _, by := range append(Steps(), 0) {
		a := Stepped(time.Now(), 0)
		if shown := a.Round(0).Sub(time.Now().Round(0)); shown.Abs() > time.Minute {
			t.Errorf("it shows %v more", shown)
		}
		b := Stepped(a, by)
		later := Stepped(a.Add(3*time.Second), by+time.Hour)
		if got := b.Sub(a); got != 0 {
			t.Errorf("%v: %v have passed, want 0", by, got)
		}
		if got := later.Sub(b); got != 3*time.Second {
			t.Errorf("%v: %v have passed, want 3 s", by, got)
		}
		if got := b.Round(0).Sub(a.Round(0)); got != by {
			t.Errorf("%v: it shows %v more", by, got)
		}
		text, err := json.Marshal(b)
		var read time.Time
		if err != nil || json.Unmarshal(text, &read) != nil || read.Sub(a) != by {
			t.Errorf("%v: written as %s, %v", by, text, err)
		}
	}
}

func TestSetClock(t *testing.T) {
	var c SetClock
	last := c.Now()
	for range 20 {
		now := c.Now()
		if d := now.Sub(last); d < 0 || d > time.Minute {
			t.Errorf("%v have passed", d)
		}
		if d := now.Round(0).Sub(last.Round(0)); d.Abs() < time.Hour/2 {
			t.Errorf("it was set by %v", d)
		}
		last = now
	}
	if c.Set() != 21 {
		t.Errorf("it was set %d times", c.Set())
	}
	c.Wall = true
	a, b := c.Now(), c.Now()
	if d := b.Sub(a); d.Abs() < time.Hour/2 {
		t.Errorf("the control measures %v", d)
	}
}
