package queue

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// An Entry is a run that waits or is at a worker.
type Entry struct {
	ID           assay.RunID
	Study        string
	App          string
	MachineClass string // of machines that it is held to, "" for any
	Config       string // the values of the parameters, as text
	Priority     int
	State        string        // "open" or "placed"
	Worker       string        // that has it, by name
	Since        time.Time     // of its state
	Silent       time.Duration // since the last beat
	So           assay.Measurement
	// Unschedulable is the reason why no worker can run it: see [Fleet.Unschedulable].
	Unschedulable string
}

// Queue returns the attempts at workers, longest first, then the open ones in the expected order of claims: the runs of
// several studies take turns by their past and expected use.
//
// The lock is held only while the queue is copied, because sorting 100,000 entries is slow.
func (f *Fleet) Queue() []Entry {
	f.mu.Lock()
	now := f.o.Now()
	there := make([]waiting, len(f.placed))
	for i, a := range f.placed {
		there[i] = a.waiting()
		there[i].Worker, there[i].Silent, there[i].So = a.Worker, a.Silent(now), a.Latest
	}
	var turns turnHeap
	n := len(there)
	for _, p := range f.apps {
		for _, m := range p.studies {
			t := &turn{rank: m.rank(now), weight: m.Weight, queue: make([]waiting, len(m.open))}
			why := f.unschedulable(m, now)
			for i, a := range m.open {
				t.queue[i] = a.waiting()
				t.queue[i].Unschedulable = why
			}
			n += len(t.queue)
			turns = append(turns, t)
		}
	}
	f.mu.Unlock()
	all := make([]Entry, 0, n)
	slices.SortFunc(there, func(a, b waiting) int { return a.Since.Compare(b.Since) })
	for _, e := range there {
		all = append(all, e.entry("placed"))
	}
	for _, t := range turns {
		slices.SortFunc(t.queue, func(a, b waiting) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.opened, b.opened), a.key.compare(b.key))
		})
	}
	for heap.Init(&turns); len(turns) > 0; {
		t := turns[0]
		first := t.queue[0]
		all = append(all, first.entry("open"))
		if t.queue = t.queue[1:]; len(t.queue) == 0 {
			heap.Pop(&turns)
			continue
		}
		t.used += cmp.Or(first.long, time.Minute).Seconds() / t.weight
		t.running += 1 / t.weight
		t.job, t.opened = t.queue[0].Priority, t.queue[0].opened
		heap.Fix(&turns, 0)
	}
	return all
}

// A Load is how much there is to do.
type Load struct {
	Open, Placed int           // runs that wait, and runs that are at workers
	Oldest       time.Duration // since the run that waits longest is open; 0 if none waits
}

// Load returns how much there is to do. It costs less than [Fleet.Queue]: it copies and sorts nothing.
func (f *Fleet) Load() Load {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.o.Now()
	l := Load{Placed: len(f.placed)}
	for _, p := range f.apps {
		for _, m := range p.studies {
			l.Open += len(m.open)
			for _, a := range m.open {
				l.Oldest = max(l.Oldest, now.Sub(a.Since))
			}
		}
	}
	return l
}

// waiting is a copy of the data of an Entry.
type waiting struct {
	Entry
	key    runKey
	opened int64
	long   time.Duration
	config assay.Config
	values func(assay.Config) map[string]string
}

// waiting returns a copy of an attempt. The lock is held.
func (a *attempt) waiting() waiting {
	m := a.run.m
	return waiting{Entry{
		ID: a.id(), Study: m.Name, App: m.App, MachineClass: m.class, Priority: a.run.job.Priority, Since: a.Since,
	}, a.run.key, a.opened, m.expected(a.run), a.run.job.Config, m.Values}
}

// entry returns the Entry of the copy.
func (w waiting) entry(state string) Entry {
	w.State = state
	if w.values != nil && w.config != nil { // a run known from the record alone has none
		w.Config = ConfigText(w.values(w.config))
	}
	return w.Entry
}

// ConfigText formats the values of parameters, in the order of their names.
func ConfigText(values map[string]string) string {
	var text []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text = append(text, name+"="+values[name])
	}
	return strings.Join(text, " ")
}

// A turn is a study with the rest of its open attempts.
type turn struct {
	rank
	weight float64
	queue  []waiting
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

// Prioritise sets the priority of the runs of a trial, including future ones.
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
		for _, a := range r.Attempts {
			if a.State == ledger.Open {
				a.priority = priority
				heap.Fix(&m.open, a.index)
			}
		}
	}
}
