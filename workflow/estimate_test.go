package workflow

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestOverheadTerms checks each term of a site's overhead by itself, on two levels of
// three and one tasks: 10, 20 and 30 s, then 5 s. Without overhead two slots take
// max(60/2, 30) + 5 = 35 s.
func TestOverheadTerms(t *testing.T) {
	w := tasks(t, "a1:10 a2:20 a3:30 b:5<a1,a2,a3")
	w.Tasks[0].In, w.Tasks[3].Out = 300, 100
	levels := Profile(w, nil, TopDown{}.Level(w.Graph, nil, 1))
	for _, tt := range []struct {
		name     string
		overhead Overhead
		slots    int
		want     Seconds
	}{
		{"none", Overhead{}, 2, 35},
		{"more slots than tasks", Overhead{}, 9, 35},
		{"one slot", Overhead{}, 1, 65},
		{"start, once", Overhead{Start: 100}, 2, 135},
		{"level, once each", Overhead{Level: 25}, 2, 85},
		{"dispatch, one task after the other", Overhead{Dispatch: 2}, 2, 43},
		// In its slot: level 0 has max(63/2, 31), level 1 has 6.
		{"task, in its slot", Overhead{Task: 1}, 2, 37.5},
		{"byte", Overhead{Byte: 0.1}, 2, 75},
		{"scale", Overhead{Scale: 2}, 2, 70},
		{"scale below 1", Overhead{Scale: 0.5}, 1, 32.5},
		// Scale is for run times, not for the delays.
		{"scale with delays", Overhead{Scale: 2, Start: 7, Level: 3, Task: 1}, 1, 7 + 2*3 + 130 + 4},
		{"half of the slots", Overhead{Share: 0.5}, 4, 35},
		{"half of one slot is a slot", Overhead{Share: 0.5}, 1, 65},
		{"at most one slot", Overhead{SlotCap: 1}, 8, 65},
	} {
		if got := tt.overhead.Makespan(levels, tt.slots); !(math.Abs(got-tt.want) <= 1e-12) {
			t.Errorf("%s: %v s on %d slots, want %v", tt.name, got, tt.slots, tt.want)
		}
	}
}

// TestOverheadScaleEverywhere checks that the factor on run times counts in every
// estimate of a workflow, not in the level model alone.
func TestOverheadScaleEverywhere(t *testing.T) {
	w := tasks(t, "a:10 b:20<a c:30<a")
	for _, scale := range []float64{0, 1, 1.5, 3} {
		o := Overhead{Scale: scale}
		factor := max(scale, 0)
		if scale == 0 {
			factor = 1
		}
		s, err := Simulate(w, 2, SimOptions{Overhead: o})
		if err != nil || !(math.Abs(s.Makespan-40*factor) <= 1e-9) {
			t.Errorf("scale %v: simulated %v, %v; want %v", scale, s, err, 40*factor)
		}
		s, err = Simulate(w, 2, SimOptions{Overhead: o, Policy: LongestPath})
		if err != nil || !(math.Abs(s.Makespan-40*factor) <= 1e-9) {
			t.Errorf("scale %v: simulated by longest path %v, %v; want %v", scale, s, err, 40*factor)
		}
		if b := Bounds(w, o, 2); !(math.Abs(b.Path-40*factor) <= 1e-9) || !(math.Abs(b.Area-30*factor) <= 1e-9) {
			t.Errorf("scale %v: bounds %+v, want %v and %v", scale, b, 40*factor, 30*factor)
		}
	}
}

// TestLevelModel checks that the estimator with levels computed once agrees with levels computed
// anew, and refuses a workflow that it cannot estimate.
func TestLevelModel(t *testing.T) {
	w := tasks(t, ladder)
	o := Overhead{Level: 5, Share: 0.5}
	for _, l := range Levelers() {
		m, err := NewLevelModel(w, l.Leveler, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, slots := range []int{1, 2, 3, 8} {
			levels := Profile(w, nil, l.Level(w.Graph, w.Runs(), o.Slots(slots)))
			if got := m.Levels(slots); !slices.Equal(got, levels) {
				t.Errorf("%s on %d slots: levels %v, want %v", l.Name, slots, got, levels)
			}
			got, err := m.Makespan(slots)
			if want := o.Makespan(levels, slots); err != nil || got != want {
				t.Errorf("%s on %d slots: %v, %v; want %v", l.Name, slots, got, err, want)
			}
		}
		for _, slots := range []int{0, -1} {
			if x, err := m.Makespan(slots); err == nil {
				t.Errorf("%s on %d slots: %v", l.Name, slots, x)
			}
		}
	}
	for _, run := range []Seconds{-1e-9, math.Inf(1), math.NaN()} {
		if _, err := NewLevelModel(tasks(t, "a:1").WithRuns([]Seconds{run}), Slack{}, o); err == nil {
			t.Errorf("a run time of %v s is estimated", run)
		}
	}
}

// TestMakespanFallsWithSlots checks that more slots never take longer, and that no
// number of slots beats the bounds.
func TestMakespanFallsWithSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 12)
		o := Overhead{Start: 3, Level: 1, Task: 0.5, Scale: rapid.Float64Range(0.5, 2).Draw(t, "scale")}
		last := math.Inf(1)
		for slots := 1; slots <= 13; slots++ {
			m, err := NewLevelModel(w, TopDown{}, o)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Makespan(slots)
			if err != nil || got > last+1e-9 {
				t.Fatalf("%v s on %d slots, %v on one less (%v)", got, slots, last, err)
			}
			if b := Bounds(w, o, slots).Makespan(); got < b-1e-9 {
				t.Fatalf("%v s on %d slots, below the bound %v", got, slots, b)
			}
			last = got
		}
	})
}

// TestGraham checks that a simulation is between the larger bound and the sum of
// both (Graham 1966).
func TestGraham(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 14)
		slots := rapid.IntRange(1, 6).Draw(t, "slots")
		b := Bounds(w, Overhead{}, slots)
		s, err := Simulate(w, slots, SimOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Makespan < b.Makespan()-1e-9 || s.Makespan > b.Path+b.Area+1e-9 {
			t.Fatalf("%v s on %d slots, bounds %+v", s.Makespan, slots, b)
		}
	})
}
