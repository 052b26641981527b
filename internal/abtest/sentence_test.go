package abtest

import "testing"

// A difference of more than three times as much is a factor.
func TestSentence(t *testing.T) {
	of := func(verdict string, change, low, high float64) Result {
		return Result{
			A: Side{Name: "A"}, B: Side{Name: "B"}, Metric: "elapsed", Verdict: verdict, Change: &change,
			CI: [2]*float64{&low, &high},
		}
	}
	for _, c := range []struct {
		r    Result
		want string
	}{
		{of("more", 0.31, 0.28, 0.35), "B takes 31 % [28, 35] more time than A"},
		{of("more", 24.3, 20.6, 32.1), "B takes 25.3 times [21.6, 33.1] as much time as A"},
		{of("less", -0.96, -0.97, -0.95), "B takes 96 % [95, 97] less time than A"},
	} {
		if got := c.r.sentence(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
