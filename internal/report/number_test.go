package report

import (
	"math"
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var inf, nan = math.Inf(1), math.NaN()

func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		s    float64
		want string
	}{
		{0, "0 s"},
		{1.2345, "1.23 s"},
		{0.045, "45 ms"},
		{0.0004561, "456 µs"},
		{1e-9, "1 ns"},
		{2.5e-10, "0.25 ns"},
		{0.9996, "1 s"},
		{59.94, "59.9 s"},
		{59.95, "1 min"},
		{59.97, "1 min"},
		{60, "1 min"},
		{61.4, "1 min 1 s"},
		{133, "2 min 13 s"},
		{3569, "59 min 29 s"},
		{3599.4, "1 h"},
		{7980, "2 h 13 min"},
		{86399, "1 d"},
		{92400, "1 d 2 h"},
		{1e7, "115 d 18 h"},
		{-1.5, "−1.5 s"},
		{-133, "−2 min 13 s"},
		{nan, "n/a s"},
		{inf, "∞ s"},
	} {
		if got := Seconds(c.s); got != c.want {
			t.Errorf("Seconds(%v) = %q, want %q", c.s, got, c.want)
		}
	}
	if got := Duration(1500 * time.Millisecond); got != "1.5 s" {
		t.Errorf("Duration = %q", got)
	}
}

func TestNumberAndSI(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0, "study", "studies"), "0 studies"},
		{Count(1, "study", "studies"), "1 study"},
		{Count(12, "study", "studies"), "12 studies"},
		{Number(0, 3), "0"},
		{Number(1.2345, 3), "1.23"},
		{Number(12345, 3), "12300"},
		{Number(0.00045, 3), "0.00045"},
		{Number(1.5e12, 3), "1.5e12"},
		{Number(-2e-7, 3), "−2e−7"},
		{Number(0.99999, 3), "1"},
		{Number(100, 3), "100"},
		{Number(999999999.9, 3), "1e9"},
		{Number(math.MaxFloat64, 3), "1.8e308"},
		{Number(nan, 3), "n/a"},
		{Number(-inf, 3), "−∞"},
		{Bytes(512), "512 B"},
		{Bytes(1234567), "1.23 MB"},
		{Bytes(999999), "1 MB"},
		{Bytes(0.5), "0.5 B"},
		{Bytes(0), "0 B"},
		{SI(0.045, "J"), "45 mJ"},
		{SI(2.5e9, "B/s"), "2.5 GB/s"},
		{SI(-1200, "W"), "−1.2 kW"},
		{SI(3, ""), "3"},
		{SI(90, "s"), "1 min 30 s"},
		{SI(1234, "%"), "1230 %"},
		{SI(1e22, "J"), "10000 EJ"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// Every time is written with at most three digits a part, and reading it back is
// within half of its last unit.
func TestSecondsReadsBack(t *testing.T) {
	part := regexp.MustCompile(`^(?:[0-9.]+ (?:d|h|min|s|ms|µs|ns) ?)+$`)
	rapid.Check(t, func(t *rapid.T) {
		s := math.Exp(rapid.Float64Range(math.Log(1e-8), math.Log(1e7)).Draw(t, "log s"))
		text := Seconds(s)
		if !part.MatchString(text) {
			t.Fatalf("Seconds(%v) = %q", s, text)
		}
		back, unit := 0.0, 0.0
		for _, m := range regexp.MustCompile(`([0-9.]+) (\S+)`).FindAllStringSubmatch(text, -1) {
			for _, sc := range times {
				if sc.name == m[2] {
					back += atof(t, m[1]) * sc.size
					unit = sc.size
				}
			}
		}
		tol := 0.5*unit + 1e-9
		if s < 59.9 {
			tol = 0.0051 * s
		} else if unit > 1 {
			tol = max(tol, 0.5*unit)
			// A part that is 0 is left out, so that the last unit shown may
			// be one greater than the one that was rounded to.
		}
		if !(math.Abs(back-s) <= tol+1e-12) {
			t.Fatalf("Seconds(%v) = %q, which is %v", s, text, back)
		}
	})
}

func TestMeasured(t *testing.T) {
	for _, c := range []struct {
		value, low, high float64
		unit, want       string
	}{
		{1.2345, 1.19, 1.28, "s", "1.23 s ± 0.05"},
		{1.2345, 1.223, 1.247, "s", "1.234 s ± 0.013"},
		{1.23, 1.2, 1.31, "s", "1.23 s [1.20, 1.31]"},
		{0.0451, 0.044, 0.0462, "s", "45.1 ms ± 1.1"},
		{7980, 7900, 8060, "s", "2.217 h ± 0.022"},
		{1.5e6, 1.2e6, 1.8e6, "B", "1.5 MB ± 0.3"},
		{1234, 1000, 1500, "", "1234 ± 266"},
		{5, 5, 5, "s", "5 s"},
		{5, -inf, inf, "s", "5 s ± ∞"},
		{5, nan, nan, "s", "5 s ± ∞"},
		{nan, 1, 2, "s", "n/a s"},
		{-3, -3.5, -2.5, "J", "−3.0 J ± 0.5"},
	} {
		if got := Measured(c.value, c.low, c.high, c.unit); got != c.want {
			t.Errorf("Measured(%v, %v, %v, %q) = %q, want %q", c.value, c.low, c.high, c.unit, got, c.want)
		}
	}
}
