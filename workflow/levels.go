package workflow

// A Leveler assigns the tasks of a workflow to levels, so that tasks of one
// level do not depend on each other (Pietri et al., WORKS 2014, §IV.A).
//
// Level returns the level of each task, for run times run (one per task) and a
// number of slots >= 1. Levels are numbered from 0 in the order in which they
// run: every task has a higher level than those it waits for. A Leveler changes
// neither argument and is safe for concurrent use.
type Leveler interface {
	Level(g *Graph, run []Seconds, slots int) []int32
}

// A FixedLeveler is a Leveler whose levels depend on neither run times nor
// slots, so that they need computing once only.
type FixedLeveler interface {
	Leveler
	Fixed()
}

// TopDown gives a task the level after the last of its predecessors (Eq. 1):
// as early as possible. It costs O(tasks).
type TopDown struct{}

// Level implements [Leveler].
func (TopDown) Level(g *Graph, _ []Seconds, _ int) []int32 {
	return append([]int32(nil), g.depth...)
}

// Fixed implements [FixedLeveler].
func (TopDown) Fixed() {}

// BottomUp gives a task the level before the first of its successors (Eq. 2):
// as late as possible. Eq. 2 counts from the exit tasks; level l of the paper
// is level Depth()-1-l here. It costs O(tasks + edges).
type BottomUp struct{}

// Level implements [Leveler].
func (BottomUp) Level(g *Graph, _ []Seconds, _ int) []int32 {
	last := int32(g.Depth()) - 1
	level := make([]int32, g.Len())
	for i := len(g.order) - 1; i >= 0; i-- {
		t := g.order[i]
		l := last
		for _, s := range g.Succs(int(t)) {
			l = min(l, level[s]-1)
		}
		level[t] = l
	}
	return level
}

// Fixed implements [FixedLeveler].
func (BottomUp) Fixed() {}

// A Level holds the properties of the tasks of one level that Algorithm 1 needs.
type Level struct {
	Tasks int     // maxSlots: how many slots it can use
	Sum   Seconds // runtime_l: its run time on one slot
	Max   Seconds // minRuntime_l: its longest task
	Bytes Bytes   // bytes its tasks read and write
}

// Profile returns the levels of w's tasks with run times run (nil for the run times in w): the columns
// of the tables in Fig. 1b and 1c. level is from a [Leveler]. It costs O(tasks). Profile panics if the
// length of a slice is not the number of tasks.
func Profile(w *Workflow, run []Seconds, level []int32) []Level {
	if len(level) != len(w.Tasks) || run != nil && len(run) != len(w.Tasks) {
		panic("workflow: slice length mismatch")
	}
	levels := make([]Level, w.Graph.Depth())
	for i, n := range level {
		t := &w.Tasks[i]
		r := t.Run
		if run != nil {
			r = run[i]
		}
		l := &levels[n]
		l.Tasks++
		l.Sum += r
		l.Max = max(l.Max, r)
		l.Bytes += t.In + t.Out
	}
	return levels
}
