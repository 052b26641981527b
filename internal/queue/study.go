package queue

import (
	"cmp"
	"time"

	"github.com/assay-run/assay"
)

// A Study describes a study to a [Fleet].
type Study struct {
	Name string
	App  string // the application of its jobs; "" is [Commands]
	// Class selects the machines: "same" or "" means the class of the first worker that takes one of its runs, "any" means
	// all, and any other value is the hash of a class.
	MachineClass string
	Priority     int     // of two studies the one of greater Priority goes first
	Weight       float64 // its share of the machines, compared with others of its Priority; 0 means 1
	Parallel     int     // how many runs at once; 0 means as many as the machines of its class have slots
	Record       Record
	Values       func(assay.Config) map[string]string // the texts of the parameters; nil for none
	Past         []assay.Event                        // the events on record
	// Opened returns the time since when a run waits, from the record, so that the order of waiting runs is the same after
	// a restart. If it is nil, the time of the call of Run is used.
	Opened func(assay.RunID) time.Time
}

// Classes of a [Study] that are not hashes of classes.
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
	priorities map[int64]int // of trials, as users ordered
	runs       map[runKey]*run
	told       map[attemptKey]bool // attempts of runs that were handed over; true for the attempt that counts
	handed     []runKey            // runs that counted and were handed over, the earliest first
	ran        ran
	open       openHeap
	at         int // in the list of its app, if something is open
	unnamed    int // how many runs had no ID
	share      share
	lasted     time.Duration // typical duration of its runs, 0 if unknown
	paces      []paced       // the latest runs, the earliest first
	losing     bool          // lost attempts are being booked
	stuck      time.Time     // since when an open attempt has no possible worker; zero if not so
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

// Join registers a study with its record. The returned [Runner] makes its runs until it is closed. The study can join
// again then.
func (f *Fleet) Join(s Study) (*Runner, error) {
	s.App, s.MachineClass, s.Weight = cmp.Or(s.App, Commands), cmp.Or(s.MachineClass, ClassSame), cmp.Or(s.Weight, 1)
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
		told: map[attemptKey]bool{}, share: share{at: f.o.Now()}, ran: ran{},
	}
	if s.MachineClass != ClassSame && s.MachineClass != ClassAny {
		m.class, m.firm = s.MachineClass, true
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
