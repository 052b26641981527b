package queue

import (
	"container/heap"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay"
)

// An Entry is a run that waits or is at a worker.
type Entry struct {
	ID       assay.RunID
	Study    string
	App      string
	Class    string // of machines that it is held to, "" for any
	Config   string // the values of the parameters, for people
	Priority int
	State    string        // "open" or "placed"
	Worker   string        // that has it, by name
	Since    time.Time     // of its state
	Silent   time.Duration // since it was last heard of
	So       assay.Measurement
}

// Queue returns what is at workers, the longest there first, then what is open, in the
// order in which it will be claimed as far as can be told: the runs of several studies
// take turns by what each has used and is expected to use.
func (f *Fleet) Queue() []Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	all := make([]Entry, 0, len(f.placed))
	sorted := slices.SortedFunc(slices.Values(f.placed), func(a, b *attempt) int { return a.since.Compare(b.since) })
	for _, a := range sorted {
		e := a.entry()
		e.State, e.Worker, e.Silent, e.So = "placed", a.where, a.silent(now), a.so
		all = append(all, e)
	}
	var turns turnHeap
	for _, p := range f.apps {
		for _, m := range p.studies {
			q := slices.Clone(m.open)
			slices.SortFunc(q, (*attempt).before)
			turns = append(turns, &turn{m.rank(now), m, q})
		}
	}
	for heap.Init(&turns); len(turns) > 0; {
		t := turns[0]
		a := t.queue[0]
		e := a.entry()
		e.State = "open"
		all = append(all, e)
		if t.queue = t.queue[1:]; len(t.queue) == 0 {
			heap.Pop(&turns)
			continue
		}
		long := t.m.expected(a.run)
		if long == 0 {
			long = time.Minute
		}
		t.used += long.Seconds() / t.m.Weight
		t.running += 1 / t.m.Weight
		t.job, t.age = t.queue[0].priority, t.queue[0].age
		heap.Fix(&turns, 0)
	}
	return all
}

// A turn is a study with what is left of its open attempts.
type turn struct {
	rank
	m     *member
	queue []*attempt
}

type turnHeap []*turn

func (h turnHeap) Len() int           { return len(h) }
func (h turnHeap) Less(i, j int) bool { return h[i].before(h[j].rank) }
func (h turnHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements [heap.Interface].
func (h *turnHeap) Push(x any) { *h = append(*h, x.(*turn)) }

// Pop implements [heap.Interface].
func (h *turnHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	*h = (*h)[:last]
	return t
}

// entry returns what is the same of an attempt in every state.
func (a *attempt) entry() Entry {
	m := a.run.m
	e := Entry{
		ID: a.id(), Study: m.Name, App: m.App, Class: m.class, Priority: a.run.job.Priority, Since: a.since,
	}
	// What is known by the record alone has no configuration until the study asks for it.
	if m.Values != nil && len(a.run.job.Config) > 0 {
		values := m.Values(a.run.job.Config)
		var text []string
		for _, name := range slices.Sorted(maps.Keys(values)) {
			text = append(text, name+"="+values[name])
		}
		e.Config = strings.Join(text, " ")
	}
	return e
}

// Prioritise sets the priority of the runs of a trial, those that are to come too.
func (f *Fleet) Prioritise(study string, trial int64, priority int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.studies[study]
	if m == nil {
		return
	}
	m.priorities[trial] = priority
	for key, r := range m.runs {
		if key.trial != trial {
			continue
		}
		r.job.Priority = priority
		for _, a := range r.attempts {
			if a.state == open {
				a.priority = priority
				heap.Fix(&m.open, a.index)
			}
		}
	}
}
