package site

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay/workflow"
)

// This file has the results known before any search: lower bounds of the makespan and orders of the
// tasks. Bounds leave out everything that depends on other decisions (slots taken, links shared), so
// that no plan can beat them.

// bounds fills tail, head and bound.
//
// The path bound follows the graph with each task at its fastest site, where
// input that no task writes is staged over idle links. The area bound is, for
// any weights y of the sites,
//
//	Σ_t min_c y_c·d(t, c) <= makespan · Σ_c y_c·slots_c
//
// which is taken for y = 1 and y = speed.
//
// Why the area bound holds: with y_c >= 0, a plan spends d(t, c) in a slot of the site c that
// it chose for t, so that the left side is at most the sum over the sites of y_c times the
// busy time of their slots, and no slot is busy for longer than the makespan.
func (p *problem) bounds() {
	least := make([]workflow.Seconds, p.n) // of each task, anywhere
	p.head, p.tail = make([]workflow.Seconds, p.n), make([]workflow.Seconds, p.n)
	external := make([]bool, len(p.size))
	for f := range p.size {
		external[f] = p.first.copies.at(int32(f)) >= 0
	}
	ee := make([]workflow.Seconds, p.n) // earliest end
	for _, t32 := range p.w.Graph.Order() {
		t := int(t32)
		for _, q := range p.w.Graph.Preds(t) {
			p.head[t] = max(p.head[t], ee[q])
		}
		least[t], ee[t] = math.Inf(1), math.Inf(1)
		for d := range p.np {
			at := p.head[t]
			for _, f := range p.inputs[t] {
				if !external[f] {
					continue
				}
				if c, ok := p.source(p.first, f, d); ok && int(c.site) != d {
					at = max(at, p.transfer(int(c.site), d, p.size[f]))
				}
			}
			for c := range p.np {
				if x := p.duration(t, c, d); !math.IsNaN(x) {
					least[t] = min(least[t], x)
					ee[t] = min(ee[t], at+x)
				}
			}
		}
	}
	order := p.w.Graph.Order()
	for i := len(order) - 1; i >= 0; i-- {
		t := int(order[i])
		for _, q := range p.w.Graph.Succs(t) {
			p.tail[t] = max(p.tail[t], p.tail[q]+least[q])
		}
		p.bound = max(p.bound, ee[t]+p.tail[t])
	}
	p.bound = max(p.bound, p.area(func(Site) float64 { return 1 }), p.area(func(c Site) float64 {
		if c.Speed == 0 {
			return 1
		}
		return c.Speed
	}))
}

// area returns the area bound for weights y: Σ_t min y_c·d(t, c) over Σ_c y_c·slots_c, in
// seconds.
//
// Every task must be possible somewhere: otherwise the result is +Inf.
func (p *problem) area(y func(Site) float64) workflow.Seconds {
	sum, slots := 0.0, 0.0
	for _, c := range p.net.sites {
		slots += y(c) * float64(c.Slots)
	}
	for t := range p.n {
		least := math.Inf(1)
		for c := range p.np {
			for d := range p.np {
				if x := p.duration(t, c, d); !math.IsNaN(x) {
					least = min(least, x*y(p.net.sites[c]))
				}
			}
		}
		sum += least
	}
	return sum / slots
}

// orders returns the orders in which a beam search decides: by how early a task
// could start (first come, first served), and by how long a chain of tasks hangs
// on it (the upward rank of HEFT, Topcuoglu et al. 2002, Eq. 8). In both each task
// comes after those it waits for.
func (p *problem) orders() [][]int32 {
	pos := make([]int, p.n)
	for i, t := range p.w.Graph.Order() {
		pos[t] = i
	}
	mean := p.meanRank()
	early, rank := slices.Clone(p.w.Graph.Order()), slices.Clone(p.w.Graph.Order())
	slices.SortFunc(early, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.head[a], p.head[b]), cmp.Compare(pos[a], pos[b]))
	})
	slices.SortFunc(rank, func(a, b int32) int {
		return cmp.Or(cmp.Compare(mean[b], mean[a]), cmp.Compare(pos[a], pos[b]))
	})
	if slices.Equal(early, rank) {
		return [][]int32{early}
	}
	return [][]int32{early, rank}
}

// meanRank returns the upward rank of each task: the length of the longest chain that begins
// with it, with the mean of a task's times over the sites where it is possible (Topcuoglu et
// al. 2002, Eq. 8). Transfers are left out: which there are depends on the plan.
func (p *problem) meanRank() []workflow.Seconds {
	rank := make([]workflow.Seconds, p.n)
	order := p.w.Graph.Order()
	for i := len(order) - 1; i >= 0; i-- {
		t := int(order[i])
		sum, n := 0.0, 0.0
		for c := range p.np {
			for d := range p.np {
				if x := p.duration(t, c, d); !math.IsNaN(x) {
					sum, n = sum+x, n+1
				}
			}
		}
		for _, q := range p.w.Graph.Succs(t) {
			rank[t] = max(rank[t], rank[q])
		}
		rank[t] += sum / max(n, 1)
	}
	return rank
}
