package queue

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// A machine that is slower than its class by a half shows so, in studies whose runs are of any length, and
// is not compared with machines of another class.
func TestRatios(t *testing.T) {
	f := New(NewMemory(0), Options{})
	machine := func(id, class string) *worker {
		w := &worker{Worker: Worker{ID: id, MachineClass: class}}
		f.workers[id] = w
		return w
	}
	same := []*worker{machine("a", "x"), machine("b", "x"), machine("c", "x")}
	slow, other, few := machine("slow", "x"), machine("other", "y"), machine("few", "x")
	for s, long := range []float64{1, 300} {
		m := &member{}
		f.studies[fmt.Sprint(s)] = m
		for i := range 3 * mostPaced {
			d := time.Duration(long * (1 + float64(i%7)/10) * float64(time.Second))
			m.pace(same[i%3], d)
			if i%3 == 0 {
				m.pace(slow, d*3/2)
				m.pace(other, d*9)
			}
		}
		m.pace(few, time.Hour)
		m.pace(nil, time.Hour) // it was forgotten
		m.pace(slow, 0)
		if len(m.paces) != mostPaced {
			t.Errorf("%d runs are kept", len(m.paces))
		}
	}
	got := ratios(f.studies)
	if !(math.Abs(got["slow"]-1.5) <= 0.25) {
		t.Errorf("slow: %v", got["slow"])
	}
	for _, w := range same {
		if r := got[w.ID]; !(math.Abs(r-1) <= 0.15) {
			t.Errorf("%s: %v", w.ID, r)
		}
	}
	for _, id := range []string{"other", "few"} {
		if r, ok := got[id]; ok {
			t.Errorf("%s: %v, with nobody to be compared with, or with too few runs", id, r)
		}
	}
}
