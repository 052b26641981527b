package pace

import (
	"testing"
	"time"
)

// A duration is as it is until a test sets a factor.
func TestOf(t *testing.T) {
	if d := Of(time.Minute); d != time.Minute {
		t.Errorf("without a factor a minute is %v", d)
	}
	Set(0.05)
	defer Set(1)
	if d := Of(time.Minute); d != 3*time.Second {
		t.Errorf("by a factor of 0.05 a minute is %v", d)
	}
}
