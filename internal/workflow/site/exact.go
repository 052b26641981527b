package site

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/assay-run/assay/workflow"
)

// Sizes up to which the exact search is tried.
const (
	exactTasks = 12
	exactSites = 8
)

// exactSize reports whether the exact search is tried. The limits are of its cost: a key has a
// bit for each site, and with more tasks the nodes would be used up before a plan is proved
// best.
func (p *problem) exactSize() bool {
	return p.n <= exactTasks && p.np <= exactSites && p.opt.Nodes > 0
}

// exactSearch is a branch and bound, depth first, over which ready task is decided on next and its
// option.
//
// Consider two partial plans that have decided on the same tasks and have the same copies of the files
// that are still read. One dominates if nothing of it is later: ends that others wait for, copies, slots,
// links; and nothing is fuller. Everything that follows is made of maxima and sums of these, so that for
// each completion of the dominated plan, the other has one that is as fast.
type exactSearch struct {
	*problem
	best *state
	out  *Plans
	// vectors by key; none is ever removed, and there are at most as many as nodes that were made
	seen map[string][][]float64
	// scratch of dominated
	key []byte
	// the proof is missing then; best is still a plan
	undue bool // the limit of nodes was reached
}

// exact returns the fastest plan, which is best if none is faster. A best that meets the bound
// is proved without search. Exact is set in out unless the limit of nodes ended the search.
func (p *problem) exact(best *state, out *Plans) *state {
	e := &exactSearch{problem: p, best: best, out: out, seen: map[string][][]float64{}}
	if best == nil || best.makespan > p.bound {
		e.visit(p.first)
	}
	out.Exact = !e.undue
	return e.best
}

// hopeless reports whether no completion is faster than the best plan by more than rounding errors.
//
// bound is the bound of the option, before its state is made: most options end here.
func (e *exactSearch) hopeless(bound workflow.Seconds) bool {
	return e.best != nil && bound >= e.best.makespan*(1-1e-12)
}

// visit looks at a partial plan and, best options first, at all that follow from
// it. It gives up once it has looked at Nodes of them.
//
// The recursion is as deep as there are tasks.
func (e *exactSearch) visit(s *state) {
	if e.out.Nodes++; e.out.Nodes > e.opt.Nodes {
		e.undue = true
		return
	}
	if int(s.depth) == e.n {
		if e.best == nil || s.makespan < e.best.makespan {
			e.best = s
		}
		return
	}
	var all []option
	// Any ready task may be decided on next: the order of decisions is the order on links and
	// slots.
	for t := range e.n {
		if e.waiting(s, t) {
			all = e.options(s, t, all)
		}
	}
	slices.SortStableFunc(all, compareOptions)
	for _, o := range all {
		if e.undue {
			return
		}
		if e.hopeless(o.bound) {
			e.out.Cut++
			continue
		}
		c := e.apply(o)
		if e.dominated(c) {
			e.out.Cut++
			continue
		}
		e.visit(c)
	}
}

// waiting reports whether task t is not decided on yet and all that it waits for are. An end
// of NaN means not decided.
func (e *exactSearch) waiting(s *state, t int) bool {
	if !math.IsNaN(s.end.at(int32(t))) {
		return false
	}
	for _, q := range e.w.Graph.Preds(t) {
		if math.IsNaN(s.end.at(q)) {
			return false
		}
	}
	return true
}

// dominated reports whether a state seen before dominates s, and notes s if not.
//
// The key holds the parts that must be equal: the tasks that are decided on, and at which sites the
// files are that are still read. The vector holds the times and amounts that must be no greater: the
// makespan, ends that others wait for, arrivals of copies, times of slots and links, and used storage.
// Its entries have the same meaning for states of one key.
func (e *exactSearch) dominated(s *state) bool {
	key, v := e.key[:0], []float64{s.makespan}
	live := make([]bool, len(e.size))
	for t := range e.n {
		end := s.end.at(int32(t))
		if math.IsNaN(end) {
			for _, f := range e.inputs[t] {
				live[f] = true
			}
			key = append(key, 0)
			continue
		}
		key = append(key, 1)
		for _, q := range e.w.Graph.Succs(t) {
			if math.IsNaN(s.end.at(q)) {
				v = append(v, end)
				break
			}
		}
	}
	for f, l := range live {
		if !l {
			continue
		}
		var at [exactSites]workflow.Seconds
		mask := uint16(0)
		for k := s.copies.at(int32(f)); k >= 0; k = e.copies[k].next {
			mask |= 1 << e.copies[k].site
			at[e.copies[k].site] = e.copies[k].at
		}
		key = binary.LittleEndian.AppendUint16(key, mask)
		for i := range at {
			if mask&(1<<i) != 0 {
				v = append(v, at[i])
			}
		}
	}
	for i := range s.slots {
		v = append(v, s.slots[i].free...)
	}
	for i := range s.links {
		v = append(v, s.links[i].free)
	}
	v = append(v, s.used...)
	e.key = key
	for _, old := range e.seen[string(key)] {
		if noLater(old, v) {
			return true
		}
	}
	e.seen[string(key)] = append(e.seen[string(key)], v)
	return false
}

// noLater reports whether a[i] <= b[i] for all i.
func noLater(a, b []float64) bool {
	for i := range a {
		if a[i] > b[i] {
			return false
		}
	}
	return true
}
