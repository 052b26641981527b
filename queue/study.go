package queue

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// A Study is what a [Fleet] must know of a study to run its trials.
type Study struct {
	Name string
	App  string // the application of its jobs; "" is [Commands]
	// Class says on which machines it runs: "same" or "" on those of the class of the
	// first worker that takes one of its runs, "any" on all, or the hash of a class.
	Class    string
	Priority int     // of two studies the one of greater Priority goes first
	Weight   float64 // its share of the machines, compared with others of its Priority; 0 means 1
	Parallel int     // how many runs at once; 0 means as many as the machines of its class have slots
	Record   Record
	Values   func(assay.Config) map[string]string // the texts of the parameters; nil for none
	Past     []assay.Event                        // what is on record
	// Opened returns the time since when a run waits, as the record has it, so that the order of what waits
	// is the same after a restart. nil stands for the time of the call of Run.
	Opened func(assay.RunID) time.Time
}

// Classes of a [Study] that are no hash of a class.
const (
	ClassSame = "same"
	ClassAny  = "any"
)

// A member is a study that has joined. The lock of the Fleet guards it.
type member struct {
	Study
	left       bool
	held       bool          // see Runner.Hold
	class      string        // that its runs are held to, "" for none yet, or for any
	firm       bool          // the class is on record, or was asked for
	priorities map[int64]int // of trials, as people ordered
	runs       map[runKey]*run
	told       map[attemptKey]bool // attempts of runs that were handed over; true for the one that counts
	handed     []runKey            // runs that counted and were handed over, the earliest first
	ran        ran
	open       openHeap
	at         int // in the list of its app, if something is open
	unnamed    int // how many runs had no ID
	share      share
	lasted     time.Duration // how long its runs last, 0 if nobody knows
	paces      []paced       // the latest runs, the earliest first
	losing     bool          // lost attempts are being booked
	lacking    time.Time     // since when something is open that nobody can run; zero if not so
}

type runKey struct {
	trial  int64
	repeat int
}

func (k runKey) compare(o runKey) int {
	return cmp.Or(cmp.Compare(k.trial, o.trial), cmp.Compare(k.repeat, o.repeat))
}

type attemptKey struct {
	runKey
	n int
}

// Join makes a study known, with what is on record of it. Its runs are made by the
// [Runner] that it returns, until that is closed. A study can join again then.
func (f *Fleet) Join(s Study) (*Runner, error) {
	s.App, s.Class, s.Weight = cmp.Or(s.App, Commands), cmp.Or(s.Class, ClassSame), cmp.Or(s.Weight, 1)
	if s.Weight < 0 {
		return nil, assay.Errorf(assay.ClassUsage, "study %q: a weight of %v is negative", s.Name, s.Weight)
	}
	f.mu.Lock()
	defer f.unlock()
	if f.studies[s.Name] != nil {
		return nil, assay.Errorf(assay.ClassLocked, "study %q has joined already", s.Name)
	}
	m := &member{
		Study: s, priorities: map[int64]int{}, runs: map[runKey]*run{},
		told: map[attemptKey]bool{}, share: share{at: f.now()}, ran: ran{},
	}
	if s.Class != ClassSame && s.Class != ClassAny {
		m.class, m.firm = s.Class, true
	}
	f.recall(m)
	m.Past = nil
	f.studies[s.Name] = m
	delete(f.parted, s.Name)
	return &Runner{f, m}, nil
}

// takes reports whether the study may run on machines of a class.
func (m *member) takes(class string) bool {
	return m.class == "" || m.class == class
}

// recall brings the runs of a study to where the record says they are. What was placed
// has a whole lease from now on to be heard of.
func (f *Fleet) recall(m *member) {
	now := f.now()
	of := map[int64][]*run{} // by trial
	get := func(id assay.RunID) *run {
		key := runKey{id.Trial, id.Repeat}
		r := m.runs[key]
		if r == nil {
			r = &run{m: m, key: key}
			r.Parted = true
			m.runs[key] = r
			of[id.Trial] = append(of[id.Trial], r)
			if id.Trial == 0 {
				m.unnamed = max(m.unnamed, id.Repeat)
			}
		}
		return r
	}
	over := func(trial int64) {
		for _, r := range of[trial] {
			r.Closed = true
		}
	}
	configs := map[int64]string{} // keys, by trial
	asides := map[machine]string{}
	for _, e := range m.Past {
		switch {
		case e.Asked != nil:
			configs[e.Asked.ID] = e.Asked.Config.Key()
		case e.Started != nil && !f.flaws.has(forgetsPlaced):
			r := get(e.Started.RunID)
			if key, known := configs[e.Started.Trial]; known {
				m.ran.by(key, e.Started.Where)
			}
			r.get(e.Started.Attempt).Place(e.Started.Where, e.Started.Class, now)
			if m.Class == ClassSame && m.class == "" && e.Started.Class != "" {
				m.class, m.firm = e.Started.Class, true
			}
		case e.Booked != nil:
			r := get(e.Booked.RunID)
			r.Recall(r.get(e.Booked.Attempt), *e.Booked)
			if e.Booked.Counts() {
				m.learn(e.Booked.Measurement.Elapsed)
			} else {
				m.atLeast(e.Booked.Measurement.Elapsed)
			}
		case e.Told != nil:
			over(e.Told.ID)
		case e.Checked != nil:
			over(e.Checked.ID)
		case e.Withdrawn != nil:
			over(e.Withdrawn.Trial)
		case e.Drifted != nil && e.Drifted.Over:
			delete(asides, machine{e.Drifted.Where, e.Drifted.Class})
		case e.Drifted != nil:
			asides[machine{e.Drifted.Where, e.Drifted.Class}] = e.Drifted.Reason
		case e.Ordered != nil && !f.flaws.has(forgetsOrders):
			m.priorities[e.Ordered.Trial] = e.Ordered.Priority
		}
	}
	for who, why := range asides {
		f.setAside(m, who, why)
	}
	for _, trial := range slices.Sorted(maps.Keys(of)) { // attempts are placed in one order each time
		for _, r := range of[trial] {
			if r.Closed && r.forget() {
				continue
			}
			for _, a := range r.Attempts {
				if a.State == ledger.Placed {
					f.place(a)
				}
			}
		}
	}
}
