package workflow

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawWorkflow draws a workflow of up to max tasks; edges go from lower to
// higher tasks.
func drawWorkflow(t *rapid.T, max int) *Workflow {
	n := rapid.IntRange(1, max).Draw(t, "tasks")
	b := Builder{Name: "drawn"}
	for i := range n {
		run := float64(rapid.IntRange(0, 20).Draw(t, "run"))
		if _, err := b.Task(Task{ID: fmt.Sprint(i), Kind: fmt.Sprint(i % 3), Run: run, Machine: -1, In: float64(i)},
			Pos{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i < n; i++ {
		for range rapid.IntRange(0, 3).Draw(t, "preds") {
			b.Edge(fmt.Sprint(rapid.IntRange(0, i-1).Draw(t, "pred")), fmt.Sprint(i), Pos{})
		}
	}
	w, err := b.Build(FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// slowDepth is Eq. 1 as it is printed, by recursion.
func slowDepth(g *Graph, t int) int {
	d := 0
	for _, p := range g.Preds(t) {
		d = max(d, slowDepth(g, int(p))+1)
	}
	return d
}

// slowHeight is Eq. 2 as it is printed.
func slowHeight(g *Graph, t int) int {
	d := 0
	for _, s := range g.Succs(t) {
		d = max(d, slowHeight(g, int(s))+1)
	}
	return d
}

// TestLevelers checks that levels respect dependencies, that TDA and BUA are Eq. 1
// and 2, and that no task is before its TDA or after its BUA level.
func TestLevelers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 14)
		g := w.Graph
		slots := rapid.IntRange(1, 6).Draw(t, "slots")
		early, late := TopDown{}.Level(g, nil, 1), BottomUp{}.Level(g, nil, 1)
		for task := range g.Len() {
			if int(early[task]) != slowDepth(g, task) || g.Depth()-1-int(late[task]) != slowHeight(g, task) {
				t.Fatalf("task %d: levels %d and %d, want %d and %d from the end", task, early[task], late[task],
					slowDepth(g, task), slowHeight(g, task))
			}
		}
		for _, l := range Levelers() {
			level := l.Level(g, w.Runs(), slots)
			for task := range g.Len() {
				if level[task] < early[task] || level[task] > late[task] {
					t.Fatalf("%s: task %d on level %d, outside %d to %d", l.Name, task, level[task], early[task],
						late[task])
				}
				for _, p := range g.Preds(task) {
					if level[p] >= level[task] {
						t.Fatalf("%s: task %d on level %d waits for task %d on level %d", l.Name, task, level[task],
							p, level[p])
					}
				}
			}
		}
	})
}

// TestSlackNotWorse checks the promise of Slack, and the largest gain on small graphs by trying every assignment.
func TestSlackNotWorse(t *testing.T) {
	better, optimal, n := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 8)
		slots := rapid.IntRange(1, 4).Draw(t, "slots")
		cost := func(level []int32) Seconds { return Overhead{}.Makespan(Profile(w, nil, level), slots) }
		tda, bua := cost(TopDown{}.Level(w.Graph, nil, 1)), cost(BottomUp{}.Level(w.Graph, nil, 1))
		got := cost(Slack{}.Level(w.Graph, w.Runs(), slots))
		if got > min(tda, bua)+1e-9 {
			t.Fatalf("slack %v, tda %v, bua %v on %d slots", got, tda, bua, slots)
		}
		best := bestLevels(w, slots)
		if got < best-1e-9 {
			t.Fatalf("slack %v is below the least, %v", got, best)
		}
		n++
		if got < min(tda, bua)-1e-9 {
			better++
		}
		if got <= best+1e-9 {
			optimal++
		}
	})
	// A short run draws too few graphs to be sure of one that slack helps in: see
	// TestSlackHelps.
	if n >= 100 && better == 0 || optimal*100 < n*80 {
		t.Errorf("slack helped in %d and was optimal in %d of %d graphs", better, optimal, n)
	}
}

// bestLevels tries every assignment.
func bestLevels(w *Workflow, slots int) Seconds {
	early, late := TopDown{}.Level(w.Graph, nil, 1), BottomUp{}.Level(w.Graph, nil, 1)
	level := slices.Clone(early)
	best := math.Inf(1)
	var try func(i int)
	try = func(i int) {
		if i == len(w.Graph.Order()) {
			best = min(best, Overhead{}.Makespan(Profile(w, nil, level), slots))
			return
		}
		t := w.Graph.Order()[i]
		lo := early[t]
		for _, p := range w.Graph.Preds(int(t)) {
			lo = max(lo, level[p]+1)
		}
		for l := lo; l <= late[t]; l++ {
			level[t] = l
			try(i + 1)
		}
	}
	try(0)
	return best
}

// TestEquation3 checks Eq. 3 at its ends: one slot is the sum, many are the
// longest tasks.
func TestEquation3(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 20)
		levels := Profile(w, nil, TopDown{}.Level(w.Graph, nil, 1))
		longest := 0.0
		for _, l := range levels {
			longest += l.Max
		}
		if got := (Overhead{}).Makespan(levels, 1); !(math.Abs(got-w.Work()) <= 1e-9) {
			t.Fatalf("on one slot %v, want %v", got, w.Work())
		}
		if got := (Overhead{}).Makespan(levels, 1000); !(math.Abs(got-longest) <= 1e-9) {
			t.Fatalf("on 1000 slots %v, want %v", got, longest)
		}
		last := math.Inf(1)
		for n := range 10 {
			got := Overhead{Level: 2, Start: 3, Task: 1, Dispatch: 0.5, Byte: 0.1, Scale: 1.1}.Makespan(levels, n+1)
			if got > last+1e-9 {
				t.Fatalf("more slots take longer: %v after %v", got, last)
			}
			last = got
		}
	})
}

// Eq. 3 shares the work of a level among the slots that its tasks can use, and no more: a level whose longest task is
// not known takes that long.
func TestEquation3TakesTheLesserNumberOfSlots(t *testing.T) {
	for _, tt := range []struct {
		slots int
		want  Seconds
	}{{1, 12}, {2, 6}, {3, 4}, {8, 4}} {
		l := Level{Tasks: 3, Sum: 12}
		if got := (Overhead{}).Makespan([]Level{l}, tt.slots); got != tt.want {
			t.Errorf("the estimate on %d slots is %v, want %v", tt.slots, got, tt.want)
		}
		if got, _ := levelSpan([]Level{l}, tt.slots, make([]Seconds, 1)); got != tt.want {
			t.Errorf("the span on %d slots is %v, want %v", tt.slots, got, tt.want)
		}
		if got := (&assignment{slots: tt.slots}).cost(l.Tasks, l.Sum, l.Max); got != tt.want {
			t.Errorf("the cost on %d slots is %v, want %v", tt.slots, got, tt.want)
		}
	}
}

func TestSiteSlots(t *testing.T) {
	for _, tt := range []struct {
		overhead Overhead
		given    int
		want     int
	}{{Overhead{}, 8, 8}, {Overhead{Share: 0.5}, 8, 4}, {Overhead{Share: 0.01}, 8, 1}, {
		Overhead{SlotCap: 3},
		8,
		3,
	}, {Overhead{Share: 0.5, SlotCap: 3}, 4, 2}} {
		if got := tt.overhead.Slots(tt.given); got != tt.want {
			t.Errorf("%+v: %d of %d slots, want %d", tt.overhead, got, tt.given, tt.want)
		}
	}
}

// TestShortestCycle checks that a shortest of several cycles is named.
func TestShortestCycle(t *testing.T) {
	// A ring of six with a chord that closes a ring of three, and a tail.
	from := []int32{0, 1, 2, 3, 4, 5, 4, 6}
	to := []int32{1, 2, 3, 4, 5, 0, 2, 0}
	_, err := NewGraph(7, from, to)
	var c *CycleError
	if !errors.As(err, &c) || !slices.Equal(c.Tasks, []int{2, 3, 4}) {
		t.Errorf("got %v, want the cycle 2 3 4", err)
	}
}

// TestManyEdges reads ten million dependencies between two levels.
func TestManyEdges(t *testing.T) {
	n := 3163
	if testing.Short() {
		n = 300
	}
	from, to := make([]int32, 0, n*n), make([]int32, 0, n*n)
	for i := range n {
		for j := range n {
			from, to = append(from, int32(i)), append(to, int32(n+j))
		}
	}
	g, err := NewGraph(2*n, from, to)
	if err != nil || g.Edges() != n*n || g.Depth() != 2 {
		t.Fatalf("%v, %v", g, err)
	}
}
