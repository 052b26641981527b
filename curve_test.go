package assay

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

func TestCurveIsBounded(t *testing.T) {
	var c Curve
	for i := 1; i <= 10_000; i++ {
		c.Add(i, time.Duration(i)*time.Second, float64(-i))
		if n := len(c.Step); n > MaxCurve || n != len(c.At) || n != len(c.Value) {
			t.Fatalf("%d points after %d reports", n, i)
		}
		if c.Step[0] != 1 || c.Last() != i || c.Value[len(c.Value)-1] != float64(-i) {
			t.Fatalf("after %d reports from %d to %d", i, c.Step[0], c.Last())
		}
	}
	if len(c.Step) < MaxCurve/3 {
		t.Errorf("only %d points are left", len(c.Step))
	}
	gap := 0
	for i := 1; i < len(c.Step); i++ {
		if c.Step[i] <= c.Step[i-1] {
			t.Fatalf("steps %v", c.Step)
		}
		gap = max(gap, c.Step[i]-c.Step[i-1])
	}
	if gap > 10_000/(MaxCurve/4) {
		t.Errorf("the largest gap is %d: %v", gap, c.Step)
	}
}

func TestCurveUpto(t *testing.T) {
	var c Curve
	for i, v := range []float64{5, 4, 3} {
		c.Add(2*i+1, time.Second, v)
	}
	c.Add(5, time.Minute, 9) // said before
	for step, want := range map[int][]float64{0: {}, 1: {5}, 2: {5}, 3: {5, 4}, 9: {5, 4, 3}} {
		if got := c.Upto(step); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v, want %v", step, got, want)
		}
	}
	var none *Curve
	if none.Last() != 0 || none.Upto(3) != nil || none.Clone() != nil {
		t.Error("a curve that is not there has points")
	}
	other := c.Clone()
	c.Add(7, time.Second, 2)
	if other.Last() != 5 {
		t.Error("a clone changes")
	}
	b, err := json.Marshal(Measurement{Curve: &c})
	var m Measurement
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil || !slices.Equal(m.Curve.Value, c.Value) || !slices.Equal(m.Curve.Step, c.Step) {
		t.Errorf("%s: %v", b, err)
	}
}
