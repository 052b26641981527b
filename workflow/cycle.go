package workflow

import "slices"

// maxCycleWork bounds the edges that the search for a shortest cycle follows.
// Beyond it the shortest cycle found so far is reported, which is a cycle all
// the same: a graph that large with that long cycles is not read by people.
const maxCycleWork = 1 << 28

// shortestCycle returns a shortest cycle of a graph that has one, by a
// breadth-first search from each task that can lie on one. It starts at the
// cycle's lowest task.
//
// mark[t] is s+1 if t has been reached from s, so that nothing is cleared between searches. A
// search ends where it can find no shorter cycle than best. Cost: tasks of the core times its
// edges, up to maxCycleWork.
func (g *Graph) shortestCycle() []int {
	on := g.core()
	n := g.Len()
	parent, dist, mark := make([]int32, n), make([]int32, n), make([]int32, n)
	var best []int
	work := 0
	for s := range n {
		if !on[s] || work > maxCycleWork && best != nil {
			continue
		}
		if len(best) == 1 {
			break
		}
		queue := []int32{int32(s)}
		dist[s], mark[s] = 0, int32(s)+1
		// Invariant: queue is ordered by dist, the number of edges from s.
	search:
		for i := 0; i < len(queue); i++ {
			t := queue[i]
			if best != nil && int(dist[t])+1 >= len(best) {
				break
			}
			for _, u := range g.Succs(int(t)) {
				work++
				if int(u) == s {
					best = walkBack(parent, s, int(t))
					break search
				}
				if on[u] && mark[u] != int32(s)+1 {
					mark[u], dist[u], parent[u] = int32(s)+1, dist[t]+1, t
					queue = append(queue, u)
				}
			}
		}
	}
	low := slices.Index(best, slices.Min(best))
	return append(best[low:], best[:low]...)
}

// walkBack returns the tasks from s to t along parent.
//
// parent must lead from t to s.
func walkBack(parent []int32, s, t int) []int {
	p := []int{t}
	for t != s {
		t = int(parent[t])
		p = append(p, t)
	}
	slices.Reverse(p)
	return p
}

// core reports for each task whether it is left when tasks without
// predecessors, and then tasks without successors, are taken away for as long
// as there are any. Every cycle is in the core.
//
// It relies on sort, which stopped at the tasks on cycles and behind them: order has the others.
func (g *Graph) core() []bool {
	n := g.Len()
	on := make([]bool, n)
	for t := range n {
		on[t] = true
	}
	for _, t := range g.order {
		on[t] = false
	}
	wait := make([]int32, n)
	var ends []int32
	for t := range n {
		for _, s := range g.Succs(t) {
			if on[s] {
				wait[t]++
			}
		}
		if on[t] && wait[t] == 0 {
			ends = append(ends, int32(t))
		}
	}
	for len(ends) > 0 {
		t := ends[len(ends)-1]
		ends = ends[:len(ends)-1]
		on[t] = false
		for _, p := range g.Preds(int(t)) {
			if wait[p]--; wait[p] == 0 && on[p] {
				ends = append(ends, p)
			}
		}
	}
	return on
}
