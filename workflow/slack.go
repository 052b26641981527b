package workflow

import "math"

// Slack puts tasks that fit several levels where they cost least on the given
// number of slots: the level assignment that Pietri et al. name as future work
// (§VI; "one could use as many levels as tasks in the longest path", §IV.A).
//
// It starts from [TopDown] and from [BottomUp] and moves one task at a time to
// the level, among those between its predecessors and successors, where
// Eq. 3 summed over the levels is least, until no move helps or it has gone
// over the tasks eight times. The result is never worse than either of the two.
// It costs O(tasks · slack) a pass, where slack is the levels a task can move.
type Slack struct{}

// slackPasses bounds the passes over the tasks: each helps less than the one
// before, and on the public executions three are enough.
const slackPasses = 8

// Level implements [Leveler].
func (Slack) Level(g *Graph, run []Seconds, slots int) []int32 {
	slots = max(slots, 1)
	a := newAssignment(g, run, slots, TopDown{}.Level(g, run, slots))
	b := newAssignment(g, run, slots, BottomUp{}.Level(g, run, slots))
	if b.total() < a.total() {
		a, b = b, a
	}
	a.improve()
	if b.improve(); b.total() < a.total() {
		return b.level
	}
	return a.level
}

// assignment is a level for each task, and the cost of the levels.
//
// Invariant: each task is after its predecessors and before its successors, and at has the sums of
// level. level is changed in place.
type assignment struct {
	g     *Graph      // of the tasks
	run   []Seconds   // time of each task
	slots int         // that the levels run on
	level []int32     // of each task
	at    []levelCost // by level
}

// levelCost is one level. longest is a heap with the longest task on top, in
// which tasks that have moved away stay until they reach the top.
type levelCost struct {
	tasks   int       // how many
	sum     Seconds   // of their run times
	longest []running // end is minus the run time
}

// newAssignment returns the assignment of the given levels, which it retains.
func newAssignment(g *Graph, run []Seconds, slots int, level []int32) *assignment {
	a := &assignment{g: g, run: run, slots: slots, level: level, at: make([]levelCost, g.Depth())}
	for t, l := range level {
		a.at[l].tasks++
		a.at[l].sum += run[t]
	}
	for l := range a.at {
		a.at[l].longest = make([]running, 0, a.at[l].tasks)
	}
	for t, l := range level {
		a.at[l].longest = pushRunning(a.at[l].longest, running{end: -run[t], task: int32(t)})
	}
	return a
}

// cost is Eq. 3 for a level with n tasks, 0 for one without.
func (a *assignment) cost(n int, sum, longest Seconds) Seconds {
	if n == 0 {
		return 0
	}
	return equation3(n, sum, longest, a.slots)
}

// top returns the longest task of level l other than task not.
//
// It returns 0 for a level without another task. Entries of tasks that have moved away are dropped when
// they reach the top. A task that moved away and back may have two entries, which does no harm.
func (a *assignment) top(l int32, not int32) Seconds {
	h := a.at[l].longest
	for len(h) > 0 && a.level[h[0].task] != l {
		h = popRunning(h)
	}
	a.at[l].longest = h
	if len(h) == 0 {
		return 0
	}
	if h[0].task != not {
		return -h[0].end
	}
	// The longest but one: take the task off, look, and put it back.
	h = popRunning(h)
	for len(h) > 0 && (a.level[h[0].task] != l || h[0].task == not) {
		h = popRunning(h)
	}
	x := 0.0
	if len(h) > 0 {
		x = -h[0].end
	}
	a.at[l].longest = pushRunning(h, running{end: -a.run[not], task: not})
	return x
}

// total is the result of Algorithm 1 for the levels, without delays.
func (a *assignment) total() Seconds {
	sum := 0.0
	for l := range a.at {
		sum += a.cost(a.at[l].tasks, a.at[l].sum, a.top(int32(l), noSlot))
	}
	return sum
}

// improve moves tasks until no single move helps, or for slackPasses passes over all of them.
// Each move lowers the total, so that it ends at a local minimum.
func (a *assignment) improve() {
	order := a.g.Order()
	for pass := range slackPasses {
		moved := false
		for i := range order {
			t := order[i]
			if pass%2 == 0 { // from the end, so that chains make room for each other
				t = order[len(order)-1-i]
			}
			moved = a.move(t) || moved
		}
		if !moved {
			return
		}
	}
}

// window returns the first and the last level that task t can have now: after its predecessors
// and before its successors. Its own level is always among them.
func (a *assignment) window(t int32) (lo, hi int32) {
	hi = int32(a.g.Depth()) - 1
	for _, p := range a.g.Preds(int(t)) {
		lo = max(lo, a.level[p]+1)
	}
	for _, s := range a.g.Succs(int(t)) {
		hi = min(hi, a.level[s]-1)
	}
	return lo, hi
}

// move puts task t where the levels together cost least, and reports whether
// that is less than before.
//
// The gain must be more than a relative 1e-12, which rounding alone can give: otherwise two moves
// could undo each other for ever. The old entry in the heap of the level that t leaves stays there.
func (a *assignment) move(t int32) bool {
	lo, hi := a.window(t)
	if lo == hi {
		return false
	}
	from, r := a.level[t], a.run[t]
	here := &a.at[from]
	without := a.cost(here.tasks-1, here.sum-r, a.top(from, t))
	with := a.cost(here.tasks, here.sum, max(a.top(from, t), r))
	best, gain := from, 1e-12*math.Abs(with)
	for l := lo; l <= hi; l++ {
		if l == from {
			continue
		}
		c := &a.at[l]
		longest := a.top(l, noSlot)
		rise := a.cost(c.tasks+1, c.sum+r, max(longest, r)) - a.cost(c.tasks, c.sum, longest)
		if g := with - without - rise; g > gain {
			best, gain = l, g
		}
	}
	if best == from {
		return false
	}
	here.tasks--
	here.sum -= r
	a.level[t] = best
	a.at[best].tasks++
	a.at[best].sum += r
	a.at[best].longest = pushRunning(a.at[best].longest, running{end: -r, task: t})
	return true
}
