package workflow

// Bound holds lower bounds of the makespan on a number of slots, for every schedule.
type Bound struct {
	Path Seconds // the critical path: the longest chain of tasks
	Area Seconds // all run times together, divided by the slots
}

// Makespan returns the larger of the bounds.
func (b Bound) Makespan() Seconds { return max(b.Path, b.Area) }

// Bounds returns the lower bounds of w's makespan on a number of slots >= 1 with
// the run times and overhead. Every task uses one slot. A schedule that
// meets the larger bound is optimal; without delays no list schedule on
// identical slots takes more than their sum (Graham 1966). Data transfer is not
// bounded. It costs O(tasks + edges).
func Bounds(w *Workflow, overhead Overhead, slots int) Bound {
	area := 0.0
	n := float64(len(w.Tasks))
	for i := range w.Tasks {
		area += overhead.scale()*w.Tasks[i].Run + overhead.Task
	}
	path := 0.0
	for _, x := range bottomLevels(w, overhead) {
		path = max(path, x)
	}
	return Bound{
		Path: path + overhead.Start + overhead.Dispatch,
		Area: max(area/float64(overhead.Slots(slots)), overhead.Dispatch*n) + overhead.Start,
	}
}

// bottomLevels returns for each task the length of the longest chain of tasks
// from its start to the end of the workflow: the upward rank of HEFT (Topcuoglu
// et al. 2002, Eq. 8) without communication.
func bottomLevels(w *Workflow, overhead Overhead) []Seconds {
	g := w.Graph
	rank := make([]Seconds, g.Len())
	order := g.Order()
	for i := len(order) - 1; i >= 0; i-- {
		t := int(order[i])
		r := 0.0
		for _, s := range g.Succs(t) {
			r = max(r, rank[s])
		}
		rank[t] = r + overhead.scale()*w.Tasks[t].Run + overhead.Task
	}
	return rank
}
