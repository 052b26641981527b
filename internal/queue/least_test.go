package queue

import (
	"testing"
	"time"
)

// A run that was ended with its worker is expected to take that long at least; a shorter one that was ended changes
// nothing.
func TestExpectsAtLeast(t *testing.T) {
	m := &member{}
	r := &run{m: m}
	m.atLeast(20 * time.Minute)
	if d := m.expected(r); d != 20*time.Minute {
		t.Errorf("%v", d)
	}
	m.atLeast(time.Minute)
	if d := m.expected(r); d != 20*time.Minute {
		t.Errorf("after a shorter one: %v", d)
	}
	m.learn(4 * time.Minute)
	if d := m.expected(r); d != 18*time.Minute {
		t.Errorf("after one that came to its end: %v", d)
	}
}
