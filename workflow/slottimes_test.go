package workflow

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// onCores is two tasks of a kind that takes longer on more cores, and one that does not.
func onCores(t *testing.T, cores int, shared, alone Seconds) *Workflow {
	t.Helper()
	w := tasks(t, fmt.Sprintf("a:%v b:%v c:%v<a,b", shared, shared, alone))
	w.Tasks[0].Kind, w.Tasks[1].Kind, w.Tasks[2].Kind = "shared", "shared", "alone"
	if cores > 0 {
		w.Machines = []Machine{{Cores: cores}}
	}
	return w
}

// TestFitSlotTimes checks that a power of a half is found from 1 to 64 cores, drawn to 0
// by the ridge, and used from the cores of the record on.
func TestFitSlotTimes(t *testing.T) {
	m, err := FitSlotTimes(onCores(t, 1, 10, 7), onCores(t, 8, 10*math.Sqrt(8), 7),
		onCores(t, 64, 80, 7), onCores(t, 0, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	xx := 2 * math.Log(8) * math.Log(8)
	if p := m.Power("shared"); !(math.Abs(p-0.5*xx/(xx+slotRidge)) <= 1e-12) || p < 0.48 {
		t.Errorf("power %v, want a little less than a half", p)
	}
	if m.Power("alone") != 0 || m.Power("unknown") != 0 {
		t.Errorf("powers %v and %v, want 0", m.Power("alone"), m.Power("unknown"))
	}
	w := onCores(t, 16, 40, 7)
	got := m.At(w, 4).Runs()
	if want := 40 * math.Pow(0.25, m.Power("shared")); !(math.Abs(got[0]-want) <= 1e-12) || got[2] != 7 {
		t.Errorf("on 4 slots %v, want %v and 7", got, want)
	}
	var none *SlotTimes
	if m.At(w, 16) != w || none.At(w, 3) != w || m.At(onCores(t, 0, 1, 1), 3).Runs()[0] != 1 {
		t.Error("run times change where nothing says that they do")
	}
	steep, err := FitSlotTimes(onCores(t, 1, 1, 1e6), onCores(t, 64, 1e6, 1))
	if err != nil || steep.Power("shared") != 1 || steep.Power("alone") != -1 {
		t.Errorf("powers %v and %v, want the bounds (%v)", steep.Power("shared"), steep.Power("alone"), err)
	}
	_, err = FitSlotTimes(onCores(t, 4, 1, 1), onCores(t, 4, 2, 2), onCores(t, 0, 1, 1))
	if !errors.Is(err, ErrSameSlots) {
		t.Errorf("one number of cores: %v", err)
	}
}

// TestPlanSlotTimes checks that every row of a plan has the run times of its slots: here
// more slots cost as much time as they save, so that one is enough.
func TestPlanSlotTimes(t *testing.T) {
	m := &SlotTimes{power: map[string]float64{"shared": 1}}
	w := onCores(t, 2, 20, 5)
	for _, part := range []float64{0, 1e-9} {
		opts := PlanOptions{Slots: []int{1, 2, 4}, Simulate: true, SlotTimes: m, Vary: VaryOptions{Error: part}}
		p, err := MakePlan(w, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Estimates {
			if want := map[int]float64{1: 25, 2: 25, 4: 45}[e.Slots]; !(math.Abs(e.Makespan-want) <= 1e-6) {
				t.Errorf("%s on %d slots %v s, want %v", e.Method, e.Slots, e.Makespan, want)
			}
		}
		if p.Bounds[2] != (Bound{Path: 45, Area: 85.0 / 4}) || p.Choice.Slots != 1 {
			t.Errorf("bounds %v, %d slots", p.Bounds, p.Choice.Slots)
		}
		if b := p.Choice.Bound; part == 0 && (math.IsNaN(b) || b < 0 || b > 1e-9) {
			t.Errorf("at most %v is saved, want nothing: two slots need 25 s", b)
		}
	}
}
