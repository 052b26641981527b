package assay_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

func traceOf(every time.Duration, points ...float64) assay.Trace {
	t := assay.Trace{Every: every}
	for i := 0; i < len(points); i += 2 {
		t.Points = append(t.Points, assay.TracePoint{
			At: time.Duration(points[i] * float64(time.Second)), Level: points[i+1],
		})
	}
	return t
}

func TestTraceLevel(t *testing.T) {
	once, again := traceOf(0, 0, 100, 20, 1, 25, 60), traceOf(30*time.Second, 0, 100, 20, 1, 25, 60)
	for _, c := range []struct {
		trace            assay.Trace
		at, level, until float64
	}{
		{once, -3, 100, 20},
		{once, 0, 100, 20},
		{once, 19.999, 100, 20},
		{once, 20, 1, 25},
		{once, 25, 60, -1},
		{once, 1e6, 60, -1},
		{again, 25, 60, 30},
		{again, 30, 100, 50},
		{again, 51, 1, 55},
		{again, 3025, 60, 3030},
	} {
		level, until := c.trace.Level(time.Duration(c.at * float64(time.Second)))
		want := time.Duration(c.until * float64(time.Second))
		if c.until < 0 {
			want = -1
		}
		if level != c.level || until != want {
			t.Errorf("at %g s: %g until %v, want %g until %v", c.at, level, until, c.level, want)
		}
	}
}

// The mean is weighted by time: of one round, or up to the last point.
func TestTraceMean(t *testing.T) {
	for _, c := range []struct {
		trace assay.Trace
		want  float64
	}{
		{traceOf(0, 0, 7), 7},
		{traceOf(0, 0, 100, 20, 1, 25, 60), (20*100 + 5*1) / 25.0},
		{traceOf(30*time.Second, 0, 100, 20, 1, 25, 60), (20*100 + 5*1 + 5*60) / 30.0},
	} {
		if got := c.trace.Mean(); !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("mean %g, want %g", got, c.want)
		}
	}
	again := traceOf(30*time.Second, 0, 100, 20, 1, 25, 60)
	if got, want := again.Over(40*time.Second), (20*100+5+5*60+10*100)/40.0; !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("over 40 s %g, want %g", got, want)
	}
	if lo, hi := again.Bounds(); lo != 1 || hi != 100 {
		t.Errorf("from %g to %g", lo, hi)
	}
}

func TestTraceCheck(t *testing.T) {
	for _, c := range []struct {
		trace assay.Trace
		point int
		want  string
	}{
		{traceOf(0), -1, "without a level"},
		{traceOf(0, 1, 5), 0, "second 1, not at second 0"},
		{traceOf(0, 0, 5, 2, 6, 2, 7), 2, "second 2 does not come after second 2"},
		{traceOf(0, 0, 5, 2, math.NaN()), 1, "not finite"},
		{traceOf(2*time.Second, 0, 5, 2, 6), -1, "before its last level"},
	} {
		point, err := c.trace.Check()
		if err == nil || point != c.point || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %d, %v, want %d, %q", c.trace, point, err, c.point, c.want)
		}
	}
	if _, err := traceOf(3*time.Second, 0, 5, 2, 6).Check(); err != nil {
		t.Error(err)
	}
}
