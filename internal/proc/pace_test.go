package proc

import (
	"testing"
	"time"
)

// A duration is as it is until a test sets a factor.
func TestOf(t *testing.T) {
	if d := Paced(time.Minute); d != time.Minute {
		t.Errorf("without a factor a minute is %v", d)
	}
	SetPace(0.05)
	defer SetPace(1)
	if d := Paced(time.Minute); d != 3*time.Second {
		t.Errorf("by a factor of 0.05 a minute is %v", d)
	}
}
