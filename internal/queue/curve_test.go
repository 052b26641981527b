package queue

import (
	"math"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// A curve of any length keeps few points, in order, the first steps and the last ones, each with
// the metrics reported there.
func TestCurve(t *testing.T) {
	for _, n := range []int{1, 2, maxCurve - 1, maxCurve, maxCurve + 1, 10000} {
		var c Curve
		for i := range n {
			m := assay.Measurement{Elapsed: time.Duration(i+1) * time.Second, Metrics: map[string]float64{"x": float64(i + 1)}}
			if i >= n/2 {
				m.Metrics["late"] = 1
			}
			c.add(m)
			c.add(m)                                                                               // a beat that comes twice
			c.add(assay.Measurement{Elapsed: m.Elapsed - 1, Metrics: map[string]float64{"x": -1}}) // one that was overtaken
			c.add(assay.Measurement{Elapsed: m.Elapsed + 1})                                       // one without a metric
		}
		if len(c.At) > maxCurve || n < maxCurve && len(c.At) != n || n > maxCurve && len(c.At) < maxCurve/2-1 {
			t.Fatalf("%d beats: %d points", n, len(c.At))
		}
		for i, at := range c.At {
			if x := c.Metrics["x"][i]; x != at.Seconds() || i > 0 && at <= c.At[i-1] {
				t.Fatalf("%d beats: point %d at %v is %v", n, i, at, x)
			}
			if late := c.Metrics["late"]; len(late) > 0 && math.IsNaN(late[i]) != (int(at.Seconds()) <= n/2) {
				t.Fatalf("%d beats: at %v the late metric is %v", n, at, late[i])
			}
		}
		if last := c.At[len(c.At)-1]; last.Seconds() < float64(n)*0.97 {
			t.Errorf("%d beats: the last point is at %v", n, last)
		}
	}
}
