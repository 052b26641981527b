package queue

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// A worker is what the Fleet knows of a worker. The lock of the Fleet guards it.
type worker struct {
	Worker
	heard   time.Time
	said    time.Time // hello
	running int
	done    int
	order   Order
}

// Label returns the name of a worker as the record has it: its name, or else its ID.
func (w Worker) Label() string { return cmp.Or(w.Name, w.ID) }

// has reports whether the worker offers an application.
func (w *worker) has(app string) bool { return slices.Contains(w.Apps, app) }

// left returns how long the worker lives yet, 0 for no limit. One that should be gone has
// a moment left.
func (w *worker) left(now time.Time) time.Duration {
	if w.Until <= 0 {
		return 0
	}
	return max(w.Until-now.Sub(w.said), 1)
}

// Hello implements [Control].
func (f *Fleet) Hello(_ context.Context, w Worker) (Order, error) {
	if w.ID == "" {
		return Order{}, assay.Errorf(assay.ClassUsage, "a worker without an ID said hello")
	}
	if err := serves(f.o.Version, w.Version); err != nil {
		return Order{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return Order{}, errDown
	}
	k := f.workers[w.ID]
	if k == nil {
		k = &worker{order: f.orders[w.ID]}
		for _, a := range f.placed {
			if a.worker == w.ID {
				k.running++
			}
		}
		f.workers[w.ID] = k
	}
	k.Worker, k.heard, k.said = w, f.now(), f.now()
	f.obey(k)
	f.slots = nil
	return k.order, nil
}

// Order tells a worker, by its ID or its name, what to do from now on: it hears of it
// when it next says hello, and a worker that is evicted with its next beat. It takes the
// place of an earlier order; the zero Order has the worker go on, one that was set aside too. An order
// that cannot be kept (see [Options]) does not hold.
func (f *Fleet) Order(who string, o Order) error {
	o.Drain = o.Drain || o.Evict
	f.ordering.Lock()
	defer f.ordering.Unlock()
	f.mu.Lock()
	id, err := f.called(who)
	next := maps.Clone(f.orders)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if o == (Order{}) {
		f.mu.Lock()
		err := f.goOn(id)
		f.mu.Unlock()
		if err != nil {
			return err
		}
	}
	if next[id] = o; o == (Order{}) {
		delete(next, id)
	}
	if f.o.Keep != nil {
		if err := f.o.Keep(maps.Clone(next)); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.orders, f.slots = next, nil
	if w := f.workers[id]; w != nil { // it may have been forgotten
		w.order = o
		f.obey(w)
	}
	return nil
}

// kept returns a copy of orders, which may be nil.
func kept(orders map[string]Order) map[string]Order {
	own := map[string]Order{}
	maps.Copy(own, orders)
	return own
}

// A WorkerState is what is known of a worker.
type WorkerState struct {
	Worker
	Order
	Silent  time.Duration // since it was last heard of
	Heard   time.Time
	Running int     // attempts that it has
	Done    int     // outcomes that it told, since the server started
	Load    float64 // the share of its slots that are taken
	Ratio   float64 // of the times of its runs to those of its class, 0 if that is not known: see [Fleet.Workers]
	Away    bool    // it was not heard of for longer than a lease
}

// Workers returns all workers that were heard of in the last day, by name and ID.
//
// The Ratio of one is that of medians over the latest runs of the studies that go on, among machines of
// one class. It wants five runs of the worker, and another worker.
func (f *Fleet) Workers() []WorkerState {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	ratios := ratios(f.studies)
	all := make([]WorkerState, 0, len(f.workers))
	for _, w := range f.workers {
		s := WorkerState{
			Worker: w.Worker, Order: w.order, Silent: now.Sub(w.heard), Heard: w.heard, Running: w.running, Done: w.done,
			Load: float64(w.running) / float64(max(w.Slots, 1)), Away: !f.there(w, now),
			Ratio: ratios[w.ID],
		}
		if s.Until > 0 {
			s.Until = w.left(now)
		}
		s.Apps = slices.Clone(s.Apps)
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b WorkerState) int {
		return cmp.Or(cmp.Compare(a.Label(), b.Label()), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// HelloEvery is how often a worker says hello that has nothing else to say.
const HelloEvery = 10 * time.Second
