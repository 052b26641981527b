package workflow

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// checkSchedule checks that no task starts before its predecessors end and that
// no slot runs two tasks at once.
func checkSchedule(t *rapid.T, w *Workflow, s *Schedule, slots int, delay Seconds) {
	for task := range w.Tasks {
		for _, p := range w.Graph.Preds(task) {
			if s.Start[task] < s.End[p]+delay-1e-9 {
				t.Fatalf("task %d starts at %v, its predecessor %d ends at %v", task, s.Start[task], p, s.End[p])
			}
		}
		if s.End[task] > s.Makespan+1e-9 || int(s.Slot[task]) >= slots || s.Slot[task] < 0 {
			t.Fatalf("task %d ends at %v of %v in slot %d of %d", task, s.End[task], s.Makespan, s.Slot[task], slots)
		}
	}
	bySlot := make([][]int, slots)
	for task := range w.Tasks {
		bySlot[s.Slot[task]] = append(bySlot[s.Slot[task]], task)
	}
	for _, tasks := range bySlot {
		slices.SortFunc(tasks, func(a, b int) int {
			switch {
			case s.Start[a] != s.Start[b]:
				return int(math.Copysign(1, s.Start[a]-s.Start[b]))
			case s.End[a] != s.End[b]:
				return int(math.Copysign(1, s.End[a]-s.End[b]))
			}
			return 0
		})
		for i := 1; i < len(tasks); i++ {
			if s.Start[tasks[i]] < s.End[tasks[i-1]]-1e-9 {
				t.Fatalf("tasks %d and %d share a slot at once", tasks[i-1], tasks[i])
			}
		}
	}
}

// TestSimulate checks schedules, Graham's bound, and that both simulators agree
// where they do the same.
func TestSimulate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 25)
		slots := rapid.IntRange(1, 5).Draw(t, "slots")
		fast, err := Simulate(w, slots, SimOptions{})
		if err != nil {
			t.Fatal(err)
		}
		checkSchedule(t, w, fast, slots, 0)
		b := Bounds(w, Overhead{}, slots)
		if fast.Makespan < b.Makespan()-1e-9 || fast.Makespan > b.Path*(1-1/float64(slots))+b.Area+1e-9 {
			t.Fatalf("makespan %v, bounds %+v", fast.Makespan, b)
		}
		sim, err := newSimulation(w, slots, SimOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if slow := sim.run(); !(math.Abs(slow.Makespan-fast.Makespan) <= 1e-9) {
			t.Fatalf("simulators disagree: %v and %v", slow.Makespan, fast.Makespan)
		}
		overhead := Overhead{Start: 1, Level: 2, Dispatch: 0.25, Task: 0.5, Byte: 0.1, Scale: 1.5}
		for _, p := range []Policy{FirstReady, LongestPath} {
			s, err := Simulate(w, slots, SimOptions{Overhead: overhead, Policy: p})
			if err != nil {
				t.Fatal(err)
			}
			checkSchedule(t, w, s, slots, overhead.Level)
			if b := Bounds(w, overhead, slots); s.Makespan < b.Makespan()-1e-9 {
				t.Fatalf("makespan %v below the bounds %+v", s.Makespan, b)
			}
		}
	})
}

// TestSimulateFigure1 checks the example of the paper: the critical path, 56, is
// reached on two slots.
func TestSimulateFigure1(t *testing.T) {
	s, err := Simulate(figure1(t), 2, SimOptions{})
	if err != nil || s.Makespan != 56 {
		t.Errorf("makespan %v, %v; want 56", s.Makespan, err)
	}
}

// pair returns two independent tasks of 10 s and 100 B to read.
func pair(t *testing.T, cores, memory float64) *Workflow {
	t.Helper()
	b := Builder{}
	for _, id := range []string{"a", "b"} {
		if _, err := b.Task(Task{ID: id, Run: 10, In: 100, Cores: cores, Memory: memory, Machine: -1},
			Pos{}); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.Build(FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestSimulateSite checks each delay on two tasks, by hand.
func TestSimulateSite(t *testing.T) {
	for _, tt := range []struct {
		name  string
		slots int
		opt   SimOptions
		want  Seconds
	}{
		{"nothing", 2, SimOptions{}, 10},
		{"level", 2, SimOptions{Overhead: Overhead{Level: 3}}, 13},
		{"dispatch", 2, SimOptions{Overhead: Overhead{Dispatch: 4}}, 14},
		{"task", 1, SimOptions{Overhead: Overhead{Task: 1}}, 22},
		{"shared storage", 2, SimOptions{Overhead: Overhead{Byte: 0.1}}, 30}, // 200 B at 10 B/s, then 10 s at once
		{"storage, one slot", 1, SimOptions{Overhead: Overhead{Byte: 0.1}}, 40},
		{"start", 2, SimOptions{Overhead: Overhead{Start: 7}}, 17},
		{"cores", 0, SimOptions{Machines: []MachineGroup{{Count: 1, Cores: 3}}}, 20},
		{"cores fit", 0, SimOptions{Machines: []MachineGroup{{Count: 1, Cores: 4}}}, 10},
		{"memory", 0, SimOptions{Machines: []MachineGroup{{Count: 1, Cores: 8, Memory: 1500}}}, 20},
		{"speed", 0, SimOptions{Machines: []MachineGroup{{Count: 1, Cores: 2, Speed: 2}, {Count: 1, Cores: 2}}}, 10},
		{"fast first", 0, SimOptions{Machines: []MachineGroup{
			{Count: 1, Cores: 2},
			{Count: 2, Cores: 2, Speed: 5},
		}}, 2},
		{"start-up", 0, SimOptions{Machines: []MachineGroup{{Count: 1, Cores: 4, StartUp: 90}}}, 100},
	} {
		s, err := Simulate(pair(t, 2, 1000), tt.slots, tt.opt)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if !(math.Abs(s.Makespan-tt.want) <= 1e-6) {
			t.Errorf("%s: makespan %v, want %v", tt.name, s.Makespan, tt.want)
		}
	}
	_, err := Simulate(pair(t, 2, 1000), 0, SimOptions{Machines: []MachineGroup{{Count: 9, Cores: 2, Memory: 999}}})
	var in *InfeasibleError
	if !errors.As(err, &in) {
		t.Errorf("a task that fits no machine: %v", err)
	}
	if _, err := Simulate(pair(t, 1, 0), 0, SimOptions{}); err == nil {
		t.Error("no slots: no error")
	}
}

// TestLongestPath checks that priorities help where the order of readiness is
// bad: a long chain behind many short tasks.
func TestLongestPath(t *testing.T) {
	b := Builder{}
	for i := range 8 {
		if _, err := b.Task(Task{ID: string(rune('a' + i)), Run: 5, Machine: -1}, Pos{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := 4; i < 7; i++ {
		b.Edge(string(rune('a'+i)), string(rune('a'+i+1)), Pos{})
	}
	w, err := b.Build(FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := Simulate(w, 2, SimOptions{})
	path, _ := Simulate(w, 2, SimOptions{Policy: LongestPath})
	if first.Makespan != 30 || path.Makespan != 20 {
		t.Errorf("makespans %v and %v, want 30 and 20", first.Makespan, path.Makespan)
	}
}

// TestSharedStorageEnds checks that rounding errors in the rest of transfers do not stop time.
func TestSharedStorageEnds(t *testing.T) {
	w := layered(t, 20000, 500)
	for i := range w.Tasks {
		w.Tasks[i].In, w.Tasks[i].Out = 1e6+float64(i), 1e5
	}
	overhead := Overhead{Byte: 1e-9}
	s, err := Simulate(w, 64, SimOptions{Overhead: overhead})
	if err != nil {
		t.Fatal(err)
	}
	if b := Bounds(w, overhead, 64); s.Makespan < b.Makespan() || s.Makespan > b.Path+b.Area+20000*1.1e-3 {
		t.Errorf("makespan %v, bounds %+v", s.Makespan, b)
	}
}
