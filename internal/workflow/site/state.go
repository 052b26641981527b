package site

import (
	"math"
	"slices"

	"github.com/assay-run/assay/workflow"
)

// This file has the partial plans of the searches and the computation of one more decision. All searches
// take their decisions with advance, so that a plan means the same in every search.

// pageSize is how many values of a paged array are copied when one is written.
//
// It is a compromise: a smaller page makes longer tables to copy, a larger one more values.
const pageSize = 64

// page is a piece of a paged array.
type page[T any] struct {
	gen uint32 // the state that may write it
	v   [pageSize]T
}

// paged is an array that states share until they write to it. A beam search keeps several
// states that differ in a few values of tens of thousands; with pages a step copies the table
// of pages and one page of each array, in place of all values.
type paged[T any] []*page[T]

// newPaged returns an array of n values, each of them fill, that the state gen
// may write.
func newPaged[T any](n int, gen uint32, fill T) paged[T] {
	a := make(paged[T], (n+pageSize-1)/pageSize)
	for i := range a {
		a[i] = &page[T]{gen: gen}
		for k := range a[i].v {
			a[i].v[k] = fill
		}
	}
	return a
}

// at returns value i.
func (a paged[T]) at(i int32) T { return a[i/pageSize].v[i%pageSize] }

// set writes value i for state gen. A page of another state is copied first: that
// state does not see the change.
func (a paged[T]) set(i int32, gen uint32, x T) {
	p := a[i/pageSize]
	if p.gen != gen {
		p = &page[T]{gen, p.v}
		a[i/pageSize] = p
	}
	p.v[i%pageSize] = x
}

// slotTimes is when the slots of a site become free, in ascending order. It is nil for a site
// with more slots than tasks, where one is always free. gen is the state that may write it.
type slotTimes struct {
	gen  uint32
	free []workflow.Seconds
}

// maxGaps is how many idle spans of a link are remembered, the latest ones. A forgotten gap
// makes a plan slower than it could be, never wrong.
const maxGaps = 16

// linkTime is when a link carries nothing: from free on, and in gaps before that.
//
// Invariant: the gaps are disjoint, not empty, in ascending order, and end at free at the
// latest.
//
// Times are in seconds from the start of the workflow. The zero value is a link that carries
// nothing.
type linkTime struct {
	free workflow.Seconds // from then on
	gaps []idle           // never changed in place: states share them
}

// idle is a span during which a link carries nothing.
type idle struct{ from, to workflow.Seconds }

// fit returns the earliest time, not before from, at which a transfer of that length can
// begin. length is in seconds.
//
// A transfer of no length fits anywhere in a gap.
func (l *linkTime) fit(from, length workflow.Seconds) workflow.Seconds {
	for _, g := range l.gaps {
		if at := max(g.from, from); at+length <= g.to {
			return at
		}
	}
	return max(from, l.free)
}

// take reserves the link for length from at, which fit returned. With keep the gaps are up to
// date after that: a gap that the transfer leaves before itself is added, and one that it lies
// in is split. A transfer of no length reserves nothing.
func (l *linkTime) take(at, length workflow.Seconds, keep bool) {
	if length == 0 {
		return
	}
	if at >= l.free { // in no gap
		if keep && at > l.free {
			gaps := append(slices.Clip(l.gaps), idle{l.free, at})
			l.gaps = gaps[max(0, len(gaps)-maxGaps):]
		}
		l.free = at + length
		return
	}
	if !keep {
		return
	}
	var gaps []idle
	for _, g := range l.gaps {
		if at < g.from || at+length > g.to {
			gaps = append(gaps, g)
			continue
		}
		if at > g.from {
			gaps = append(gaps, idle{g.from, at})
		}
		if at+length < g.to {
			gaps = append(gaps, idle{at + length, g.to})
		}
	}
	l.gaps = gaps
}

// A state is a partial plan: some tasks are decided on, in an order in which each comes after
// those it waits for. It is not changed once it has children, which share its arrays.
//
// makespan, bound, sum and moved never fall from a parent to a child. moved counts bytes that
// are staged or read and written over links.
type state struct {
	gen      uint32                  // names the state in pages and lists
	parent   *state                  // nil for the first state
	task     int32                   // decided on last; -1 in the first state
	compute  int16                   // site of task
	storage  int16                   // site of the data of task
	depth    int32                   // decided tasks
	makespan workflow.Seconds        // so far
	bound    workflow.Seconds        // no completion is faster
	sum      workflow.Seconds        // of end + tail of the decided tasks
	moved    workflow.Bytes          // staged, and over links
	end      paged[workflow.Seconds] // of each task
	copies   paged[int32]            // list of copies of each file
	slots    []slotTimes             // of each site
	links    []linkTime              // by number
	used     []workflow.Bytes        // storage of each site
}

// newGen returns a number for a state that no other has.
//
// Numbers are unique within one problem. They also order states of equal promise: see
// compareOptions.
func (p *problem) newGen() uint32 { p.gen++; return p.gen }

// emptyState returns the state before any decision. A site with more slots than
// tasks keeps no times: one is always free.
func (p *problem) emptyState() *state {
	g := p.newGen()
	s := &state{
		gen: g, task: -1, end: newPaged(p.n, g, math.NaN()), copies: newPaged(len(p.size), g, int32(-1)),
		slots: make([]slotTimes, p.np), links: make([]linkTime, len(p.net.links)), used: make([]workflow.Bytes, p.np),
	}
	for i, c := range p.net.sites {
		if c.Slots < p.n {
			s.slots[i].free = make([]workflow.Seconds, c.Slots)
		}
	}
	return s
}

// child returns a copy of s that may be changed, as long as s is not. It copies the tables of pages and
// the headers of slots; the data that they point to are copied on write.
func (p *problem) child(s *state) *state {
	c := *s
	c.gen = p.newGen()
	c.end, c.copies = slices.Clone(s.end), slices.Clone(s.copies)
	c.slots, c.links, c.used = slices.Clone(s.slots), slices.Clone(s.links), slices.Clone(s.used)
	return &c
}

// addCopy notes that a file is at a site from a time on.
//
// p.copies only grows in a search, since states refer to its entries by index; only
// makespan cuts it again.
func (p *problem) addCopy(s *state, file, site int32, at workflow.Seconds) {
	p.copies = append(p.copies, copyOf{at, site, s.copies.at(file)})
	s.copies.set(file, s.gen, int32(len(p.copies))-1)
}

// source returns the copy of a file from which it is staged to site to: a copy at the site if it exists,
// and else the copy that would arrive soonest over idle links. If copies are equal, the site of the lower number
// counts.
//
// The load of the links does not matter, on purpose: with a rule that depended on it a plan could become
// slower for being ahead, and the dominance of the exact search would not hold. ok is false if nothing
// has written the file. That happens if a record has files without the dependency.
func (p *problem) source(s *state, file int32, to int) (from copyOf, ok bool) {
	least := math.Inf(1)
	for k := s.copies.at(file); k >= 0; k = p.copies[k].next {
		c := p.copies[k]
		if int(c.site) == to {
			return c, true
		}
		if d := p.transfer(int(c.site), to, p.size[file]); d < least || d == least && c.site < from.site {
			least, from, ok = d, c, true
		}
	}
	return from, ok
}

// transfer returns how long n bytes take from site to site when nothing else moves: the
// latency of the route and n over the narrowest of its bandwidth and both disks.
func (p *problem) transfer(from, to int, n workflow.Bytes) workflow.Seconds {
	if from == to {
		return 0
	}
	r := p.net.Route(from, to)
	rate := r.Bandwidth
	for _, at := range [...]int{from, to} {
		if d := p.net.sites[at].Disk; d > 0 {
			rate = min(rate, d)
		}
	}
	return r.Latency + n/rate
}

// scratch is memory that trying an option needs.
type scratch struct {
	links []linkTime // by number
	from  []haul     // by site
}

// haul is the data that are staged from one site: any reports whether there are any, at when all of them
// exist.
type haul struct {
	any   bool
	bytes workflow.Bytes
	at    workflow.Seconds
}

// A stageOption is the cost of having the input of a task at a site.
type stageOption struct {
	ok      bool             // there is room
	arrived workflow.Seconds // when all of it is there
	bytes   workflow.Bytes   // staged
}

// newScratch returns the memory for one search.
func newScratch(p *problem) scratch {
	return scratch{make([]linkTime, len(p.net.links)), make([]haul, p.np)}
}

// ready returns when the tasks that t waits for have ended.
//
// All of these must have been decided on: the end of any other is NaN, and so is the result.
func (p *problem) ready(s *state, t int) workflow.Seconds {
	at := 0.0
	for _, q := range p.w.Graph.Preds(t) {
		at = max(at, s.end.at(q))
	}
	return at
}

// stage returns the cost of staging the input of t to site to after s, and leaves the loads of the links
// from then on in p.work.links, with the gaps up to date only if keep is set. each, if not nil, is
// called with every staging task. One staging task copies everything that comes from one site.
func (p *problem) stage(s *state, t, to int, keep bool, each func(Staging)) stageOption {
	o := stageOption{arrived: p.ready(s, t)}
	from := p.work.from
	clear(from)
	for _, f := range p.inputs[t] {
		c, ok := p.source(s, f, to)
		if !ok {
			continue
		}
		if int(c.site) == to {
			o.arrived = max(o.arrived, c.at)
			continue
		}
		h := &from[c.site]
		h.any, h.bytes, h.at = true, h.bytes+p.size[f], max(h.at, c.at)
		o.bytes += p.size[f]
	}
	// Room is needed for the staged data and for the task's output: they stay to the end of the workflow.
	need := o.bytes
	for _, f := range p.made[t] {
		need += p.size[f]
	}
	o.ok = need == 0 || s.used[to]+need <= p.net.sites[to].Storage
	copy(p.work.links, s.links)
	if !o.ok {
		return o
	}
	// In the order of the sites, so that equal inputs reserve links equally.
	for at, h := range from {
		if !h.any {
			continue
		}
		start, length := h.at, p.transfer(at, to, h.bytes)
		// The links of a route are taken for the same span. Invariant: start is
		// no earlier than any link before i allows.
		links := p.net.Route(at, to).Links
		for i := 0; i < len(links); {
			if later := p.work.links[links[i]].fit(start, length); later > start {
				start, i = later, 0
				continue
			}
			i++
		}
		for _, l := range links {
			p.work.links[l].take(start, length, keep)
		}
		o.arrived = max(o.arrived, start+length)
		if each != nil {
			each(Staging{t, at, to, h.bytes, start, start + length})
		}
	}
	return o
}

// gapped reports whether transfers may go before others that were decided on first. The exact search
// tries every order instead, and its dominance rule needs that being ahead never costs time.
func (p *problem) gapped() bool { return !p.exactSize() }

// runAt returns when task t starts and ends at site c with its data at site d, which are there from
// arrived on. It starts when a slot is free. A task whose data are remote takes at least as long as its
// data flow needs on each link of the route, after the transfers that the links carry already: Eq. 1 of
// the paper with the stall prolonged by sharing. The links are in p.work.links; take reserves them.
func (p *problem) runAt(s *state, t, c, d int, arrived, length workflow.Seconds, take bool) (start,
	end workflow.Seconds,
) {
	start = arrived
	if free := s.slots[c].free; len(free) > 0 {
		start = max(start, free[0])
	}
	end = start + length
	if c == d {
		return start, end
	}
	n := flow(&p.w.Tasks[t])
	for _, l := range p.net.Route(d, c).Links {
		span := n / p.net.links[l].Bandwidth
		at := p.work.links[l].fit(start, span)
		if take {
			p.work.links[l].take(at, span, p.gapped())
		}
		end = max(end, at+span)
	}
	return start, end
}

// An option is a way to decide on a task, with the values by which its state would be compared. It is
// cheaper than a state: most options are looked at and dropped.
type option struct {
	parent           *state           // the state before
	task             int32            // decided on
	compute, storage int16            // sites of the task and its data
	end              workflow.Seconds // of the task
	makespan, bound  workflow.Seconds // as in state
	sum              workflow.Seconds // as in state
	moved            workflow.Bytes   // as in state
}

// options appends every way to decide on task t after s: sites for data with room, and sites
// to compute at where it can run. Staging is the same for every site to compute at, and is
// tried once for each site for data.
func (p *problem) options(s *state, t int, out []option) []option {
	tail := p.tail[t]
	for d := range p.np {
		o := p.stage(s, t, d, false, nil)
		if !o.ok {
			continue
		}
		for c := range p.np {
			length := p.duration(t, c, d)
			if math.IsNaN(length) {
				continue
			}
			_, end := p.runAt(s, t, c, d, o.arrived, length, false)
			moved := s.moved + o.bytes
			if c != d {
				moved += flow(&p.w.Tasks[t])
			}
			out = append(out, option{
				s, int32(t), int16(c), int16(d), end, max(s.makespan, end),
				max(s.bound, end+tail), s.sum + end + tail, moved,
			})
		}
	}
	return out
}

// apply returns the state after an option.
//
// The option must be of its parent as it was: a parent is not changed once it has options.
func (p *problem) apply(o option) *state {
	return p.decide(o.parent, int(o.task), int(o.compute), int(o.storage),
		p.duration(int(o.task), int(o.compute), int(o.storage)))
}

// decide returns the state after s in which task t takes length at site c with
// its data at d.
func (p *problem) decide(s *state, t, c, d int, length workflow.Seconds) *state {
	n := p.child(s)
	n.parent, n.depth = s, s.depth+1
	p.advance(n, t, c, d, length, nil)
	return n
}

// advance is decide in place, for a state that nothing else shares. record, if not nil, receives every
// staging and the decision.
//
// The order matters: staging reserves the links before the task's own remote I/O does, and a copy can be
// a source only from when it has arrived.
func (p *problem) advance(n *state, t, c, d int, length workflow.Seconds, record *Plan) {
	var each func(Staging)
	if record != nil {
		each = func(x Staging) { record.Stagings = append(record.Stagings, x) }
	}
	st := p.stage(n, t, d, p.gapped(), each)
	n.task, n.compute, n.storage = int32(t), int16(c), int16(d)
	for _, f := range p.inputs[t] {
		if from, ok := p.source(n, f, d); ok && int(from.site) != d {
			// A copy exists once all of its task's input has arrived.
			p.addCopy(n, f, int32(d), st.arrived)
		}
	}
	start, end := p.runAt(n, t, c, d, st.arrived, length, true)
	copy(n.links, p.work.links)
	remote := 0.0
	if c != d {
		remote = flow(&p.w.Tasks[t])
	}
	if record != nil {
		record.Decisions = append(record.Decisions, Decision{t, c, d, p.ready(n, t), st.arrived, start, end})
		record.Staged += st.bytes
		record.Remote += remote
	}
	n.end.set(int32(t), n.gen, end)
	n.used[d] += st.bytes
	for _, f := range p.made[t] {
		p.addCopy(n, f, int32(d), end)
		n.used[d] += p.size[f]
	}
	n.moved += st.bytes + remote
	n.makespan, n.bound, n.sum = max(n.makespan, end), max(n.bound, end+p.tail[t]), n.sum+end+p.tail[t]
	n.occupy(c, end)
}

// occupy takes the slot of site c that is free first until end, and keeps the times in order:
// those up to end move one place down. A site that keeps no times has a free slot always.
func (s *state) occupy(c int, end workflow.Seconds) {
	x := &s.slots[c]
	if len(x.free) == 0 {
		return
	}
	if x.gen != s.gen {
		x.gen, x.free = s.gen, slices.Clone(x.free)
	}
	i, _ := slices.BinarySearch(x.free[1:], end)
	copy(x.free, x.free[1:i+1])
	x.free[i] = end
}
