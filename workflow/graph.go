package workflow

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// csr holds n lists of small numbers in two slices (compressed sparse rows):
// list i is item[start[i]:start[i+1]]. The zero value holds empty lists only.
//
// Lists are of tasks or files. Millions of short slices would cost a header each and time in
// garbage collection.
type csr struct {
	start []int32 // one more than lists
	item  []int32 // of all lists, in order
}

// row returns list i. It ends where its capacity does, so that appending to it
// copies and does not write into the next list.
func (c csr) row(i int) []int32 {
	if c.start == nil {
		return nil
	}
	return c.item[c.start[i]:c.start[i+1]:c.start[i+1]]
}

// newCSR returns n lists with item[k] in list row[k], each in the order of k.
//
// Rows are from 0 to n-1. Neither slice is retained.
func newCSR(n int, row, item []int32) csr {
	c := csr{start: make([]int32, n+1), item: make([]int32, len(item))}
	for _, r := range row {
		c.start[r+1]++
	}
	for i := range n {
		c.start[i+1] += c.start[i]
	}
	next := slices.Clone(c.start[:n])
	for k, r := range row {
		c.item[next[r]] = item[k]
		next[r]++
	}
	return c
}

// compact removes repeated items from each list, keeping first occurrences.
// An item is less than n.
//
// It works in place: c must not be used afterwards, and the result shares its memory.
func (c csr) compact(n int) csr {
	seen := make([]int32, n) // seen[x] == i+1 if x is in list i
	kept := int32(0)
	lo := int32(0)
	for i := range len(c.start) - 1 {
		hi := c.start[i+1]
		for _, x := range c.item[lo:hi] {
			if seen[x] != int32(i)+1 {
				seen[x] = int32(i) + 1
				c.item[kept] = x
				kept++
			}
		}
		lo, c.start[i+1] = hi, kept
	}
	c.item = c.item[:kept]
	return c
}

// transpose returns the lists of the opposite edges, over the same n nodes.
//
// Each list of the result ascends.
func (c csr) transpose() csr {
	n := len(c.start) - 1
	t := csr{start: make([]int32, n+1), item: make([]int32, len(c.item))}
	for _, x := range c.item {
		t.start[x+1]++
	}
	for i := range n {
		t.start[i+1] += t.start[i]
	}
	next := slices.Clone(t.start[:n])
	for i := range n {
		for _, x := range c.item[c.start[i]:c.start[i+1]] {
			t.item[next[x]] = int32(i)
			next[x]++
		}
	}
	return t
}

// A Graph is a directed acyclic graph over the tasks 0 to Len()-1. It is
// immutable and safe for concurrent use.
type Graph struct {
	preds, succs csr     // of each task
	order        []int32 // topological
	depth        []int32 // Eq. 1
	levels       int     // the greatest depth
}

// A CycleError is returned by [NewGraph] for a graph with a cycle.
type CycleError struct {
	// Tasks is a shortest cycle, in the direction of its edges, starting at its
	// lowest task; the edge from the last to the first closes it.
	Tasks []int
}

// Error names the tasks of the cycle by their numbers; a Builder names them by
// their IDs.
func (e *CycleError) Error() string {
	s := make([]string, len(e.Tasks)+1)
	for i, t := range e.Tasks {
		s[i] = fmt.Sprint(t)
	}
	s[len(e.Tasks)] = s[0]
	return "cycle " + strings.Join(s, " -> ")
}

// MaxEdges is the largest number of dependencies of a workflow. Ten million between two levels of tasks
// are read and estimated in about a second; far beyond that the input is a mistake, and a barrier task
// between the levels expresses the same with as many edges as tasks.
const MaxEdges = 1 << 28

// NewGraph returns the graph of n tasks in which task to[k] waits for task
// from[k]. Repeated edges count once. It returns a [*CycleError] if there is a
// cycle, which includes a task that waits for itself. Tasks outside 0 to n-1
// and slices of different lengths panic. It costs O(n + edges) time and space.
func NewGraph(n int, from, to []int32) (*Graph, error) {
	if len(from) != len(to) {
		panic("workflow: slice length mismatch")
	}
	if len(from) > MaxEdges {
		return nil, errors.New("" + tooManyEdges(len(from)))
	}
	succs := newCSR(n, from, to).compact(n)
	g := &Graph{succs: succs, preds: succs.transpose(), order: make([]int32, 0, n), depth: make([]int32, n)}
	if !g.sort() {
		return nil, &CycleError{g.shortestCycle()}
	}
	return g, nil
}

// tooManyEdges returns advice for a workflow with too many dependencies.
func tooManyEdges(n int) string {
	return fmt.Sprintf("%d dependencies, more than %d: put a barrier task between the levels", n, MaxEdges)
}

// sort fills order, depth and levels (Kahn's algorithm). It reports whether
// the graph has no cycle.
//
// If there is a cycle, order has the tasks that no cycle leads to; shortestCycle relies on that.
func (g *Graph) sort() bool {
	n := g.Len()
	wait := make([]int32, n)
	for t := range n {
		if wait[t] = int32(len(g.Preds(t))); wait[t] == 0 {
			g.order = append(g.order, int32(t))
		}
	}
	// Invariant: order holds the tasks whose predecessors are all in
	// order[:i], or are tasks of order[i:] that have been seen before them;
	// depth of a task in order is final.
	for i := 0; i < len(g.order); i++ {
		t := g.order[i]
		d := g.depth[t] + 1
		g.levels = max(g.levels, int(d))
		for _, s := range g.Succs(int(t)) {
			g.depth[s] = max(g.depth[s], d)
			if wait[s]--; wait[s] == 0 {
				g.order = append(g.order, s)
			}
		}
	}
	return len(g.order) == n
}

// Len returns the number of tasks.
func (g *Graph) Len() int { return len(g.depth) }

// Edges returns the number of dependencies.
func (g *Graph) Edges() int { return len(g.succs.item) }

// Depth returns the number of levels: the number of tasks on a longest path.
func (g *Graph) Depth() int { return g.levels }

// Preds returns the tasks that task t waits for. The slice must not be changed.
func (g *Graph) Preds(t int) []int32 { return g.preds.row(t) }

// Succs returns the tasks that wait for task t. The slice must not be changed.
func (g *Graph) Succs(t int) []int32 { return g.succs.row(t) }

// Order returns the tasks such that each comes after those it waits for: by
// level, and within a level as the last predecessor was reached. The slice must
// not be changed.
func (g *Graph) Order() []int32 { return g.order }
