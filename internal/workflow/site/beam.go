package site

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay/workflow"
)

// This file has the searches that take each task once: beam search in a fixed order, and the plans
// that put all tasks at one site. They need no proof; exact.go has the search with one.

// beam decides on the tasks in an order and keeps, after each, the few partial
// plans that promise most: those with the least bound and, of equals, the least
// sum over the tasks of end + tail, then the least data moved. It returns nil
// if none gets to the end.
//
// A greedy list scheduler is a beam of width 1. The wider beam keeps a plan that stages early
// and gains later. Cost: tasks times width times the square of the sites.
func (p *problem) beam(order []int32) *state {
	width := p.width()
	level := []*state{p.first}
	var options []option
	for _, t := range order {
		options = options[:0]
		for _, s := range level {
			options = p.options(s, int(t), options)
		}
		if len(options) == 0 {
			return nil
		}
		before := level
		level = nil
		for _, o := range leastOptions(options, width) {
			level = append(level, p.apply(o))
		}
		// p.first is kept whole: other searches and replays begin with it.
		for _, s := range before {
			if s != p.first {
				s.forget()
			}
		}
	}
	return leastState(level)
}

// leastOptions returns the first n of all in order, without options that have the outcome of an earlier
// one: equal sites would fill the beam with equal plans. It reorders all. Cost: a binary search and at
// most n moves for each option, in place of a sort of all.
func leastOptions(all []option, n int) []option {
	// Invariant: all[:k], k <= n, are the first of those seen so far, in order.
	k := 0
	for _, o := range all {
		if k == n && compareOptions(o, all[k-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(all[:k], o, compareOptions)
		if at < k && sameOutcome(&all[at], &o) || at > 0 && sameOutcome(&all[at-1], &o) {
			continue
		}
		k = min(k+1, n)
		copy(all[at+1:k], all[at:k-1])
		all[at] = o
	}
	return all[:k]
}

// forget drops the fields that only children need. Later steps read only the decisions of a plan's
// ancestors, so that the memory of a search does not grow with its depth.
func (s *state) forget() { s.end, s.copies, s.slots, s.links, s.used = nil, nil, nil, nil, nil }

// compareOptions orders options from good to bad: by the bound, then by the work that remains, then by
// bytes moved. The rest makes the order total, so that equal inputs give equal plans.
func compareOptions(a, b option) int {
	return cmp.Or(cmp.Compare(a.bound, b.bound), cmp.Compare(a.sum, b.sum), cmp.Compare(a.moved, b.moved),
		cmp.Compare(a.parent.gen, b.parent.gen), cmp.Compare(a.compute, b.compute), cmp.Compare(a.storage, b.storage))
}

// sameOutcome reports whether b is no other plan than a by all that is compared.
// Two sites of a kind make as many equal plans as there are tasks.
func sameOutcome(a, b *option) bool {
	return a.bound == b.bound && a.sum == b.sum && a.moved == b.moved && a.makespan == b.makespan
}

// beamWork is how many options a beam search may look at: about a second of one processor.
const beamWork = 2e6

// width returns the width of the beam: the width in the options, or 8, or as many as beamWork allows and
// at least 1.
func (p *problem) width() int {
	if p.opt.Beam > 0 {
		return p.opt.Beam
	}
	perState := float64(p.n) * float64(p.np*p.np)
	return int(min(8, max(1, beamWork/perState)))
}

// pure returns the plans that keep to one site each: all tasks compute at c and have their data at d. A
// user would think of them first (the plans P1 to P3 of Example 1), so that the best plan is compared
// with them, and those that are not possible are noted in s with the reason.
func (p *problem) pure(s *Plans) []*state {
	order := p.orders()[0]
	var out []*state
	for c := range p.np {
		for d := range p.np {
			// In a larger network, third sites for data are left to the searches.
			if p.np > 6 && c != d && p.first.used[d] == 0 {
				continue
			}
			state, why := p.follow(order, c, d)
			if why != "" {
				s.Unfits = append(s.Unfits, Unfit{p.pureName(c, d), why})
				continue
			}
			out = append(out, state)
		}
	}
	return out
}

// follow returns the state in which all tasks are at c with their data at d, or why
// that is not possible.
//
// One state is advanced in place, for it has no siblings. chain keeps the decisions, which the end
// needs as its ancestors. p.n is at least 1, so that chain is not nil at the end.
func (p *problem) follow(order []int32, c, d int) (*state, string) {
	s := p.child(p.first)
	var chain *state
	for _, t := range order {
		if why := p.unfit(s, int(t), c, d); why != "" {
			return nil, why
		}
		p.advance(s, int(t), c, d, p.duration(int(t), c, d), nil)
		chain = &state{parent: chain, task: t, compute: int16(c), storage: int16(d)}
	}
	s.parent = chain.parent
	return s, ""
}

// unfit returns the reason why task t cannot be at c with its data at d after s; "" if it can.
//
// The conditions are the conditions of times and stage: everything that they refuse has a reason here.
func (p *problem) unfit(s *state, t, c, d int) string {
	at, store, task := &p.net.sites[c], &p.net.sites[d], &p.w.Tasks[t]
	switch {
	case at.Slots == 0:
		return at.Name + " has no slots"
	case at.Memory > 0 && task.Memory > at.Memory:
		return "task " + task.ID + " needs " + bytesText(task.Memory) + " of memory, " +
			at.Name + " has " + bytesText(at.Memory)
	case store.Storage == 0 && p.keeps(t):
		return store.Name + " has no storage"
	case math.IsNaN(p.duration(t, c, d)):
		return "it is not possible"
	}
	if o := p.stage(s, t, d, false, nil); !o.ok {
		need := o.bytes
		for _, f := range p.made[t] {
			need += p.size[f]
		}
		return "task " + task.ID + " needs " + bytesText(need) + " more storage at " +
			store.Name + ", which has " + bytesText(store.Storage-s.used[d]) + " of " + bytesText(store.Storage) + " left"
	}
	return ""
}

// explainInfeasible returns the reason why there is no plan: the task that no site can run, when each
// task before it is put at its most promising site, or else that storage runs out in every order that
// was tried.
//
// It is called only after every search has failed, since it searches once more.
func (p *problem) explainInfeasible() error {
	s := p.first
	for _, t := range p.orders()[0] {
		opts := p.options(s, int(t), nil)
		if len(opts) == 0 {
			var why []string
			for c := range p.np {
				for d := range p.np {
					if r := p.unfit(s, int(t), c, d); r != "" && !slices.Contains(why, r) {
						why = append(why, r)
					}
				}
			}
			return &workflow.InfeasibleError{Why: "no site can run task " + p.w.Tasks[t].ID + ": " + joinSome(why, 4)}
		}
		s = p.apply(slices.MinFunc(opts, compareOptions))
	}
	return &workflow.InfeasibleError{Why: "no plan keeps within the storage of the sites"}
}
