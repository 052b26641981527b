package result

import (
	"testing"
)

func TestGainText(t *testing.T) {
	bounds := func(lo, hi float64) [2]*float64 { return [2]*float64{&lo, &hi} }
	for _, c := range []struct {
		g    Gain
		want string
	}{
		{Gain{Change: -0.351, CI95: bounds(-0.456, -0.205), Verdict: "less"}, "35.1 % [20.5, 45.6]"},
		{Gain{Change: 12.345, CI95: bounds(10, 15432), Verdict: "more"}, "1230 % [1000, 1540000]"},
		{Gain{Change: 0.03, CI95: bounds(-0.9, 6.23), Verdict: "~"}, "+3 % [-90, +620]"},
		{Gain{Change: -0.0921, Verdict: "~"}, "-9.2 %"},
		{Gain{Change: 0, CI95: bounds(0, 0), Verdict: "~"}, "+0 % [+0, +0]"},
	} {
		if got := c.g.Text(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
