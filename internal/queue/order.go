package queue

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay/internal/ledger"
)

// An openHeap has the open attempts of a study, the first in order on top.
type openHeap []*attempt

var _ heap.Interface = (*openHeap)(nil)

func (h openHeap) Len() int           { return len(h) }
func (h openHeap) Less(i, j int) bool { return h[i].before(h[j]) < 0 }

func (h openHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements [heap.Interface].
func (h *openHeap) Push(x any) {
	a := x.(*attempt)
	a.index = len(*h)
	*h = append(*h, a)
}

// Pop implements [heap.Interface].
func (h *openHeap) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return a
}

// before compares two open attempts of a study: by priority, then by the time of their opening, then by
// their numbers. All of these are of the record, so that a restart changes nothing.
func (a *attempt) before(b *attempt) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.opened, b.opened), a.run.key.compare(b.run.key))
}

// A share is a study's recent use of the machines: slot-seconds with a half-life of ten minutes. So neither many short
// runs nor few long ones are an advantage, and an idle study builds up a claim to ten minutes at most.
type share struct {
	used    float64 // up to at
	at      time.Time
	running int
}

// fade is the rate at which slot-seconds are forgotten, per second.
const fade = math.Ln2 / 600

// now returns the decayed use at a time.
func (s *share) now(t time.Time) float64 {
	steady := float64(s.running) / fade // the limit for constant use
	return steady + (s.used-steady)*math.Exp(-fade*t.Sub(s.at).Seconds())
}

// run changes the number of running attempts.
func (s *share) run(t time.Time, by int) {
	s.used, s.at = s.now(t), t
	s.running += by
}

// A rank is the place of a study among the studies with open attempts: the smaller one comes first.
type rank struct {
	priority, job int
	used, running float64 // by weight
	opened        int64
	study         string
}

// rank returns the rank of a study with open attempts.
func (m *member) rank(now time.Time) rank {
	first := m.open[0]
	return rank{
		m.Priority, first.priority, m.share.now(now) / m.Weight, float64(m.share.running) / m.Weight, first.opened,
		m.Name,
	}
}

func (a rank) before(b rank) bool {
	return cmp.Or(
		cmp.Compare(b.priority, a.priority), cmp.Compare(b.job, a.job), cmp.Compare(a.used, b.used),
		cmp.Compare(a.running, b.running), cmp.Compare(a.opened, b.opened), cmp.Compare(a.study, b.study),
	) < 0
}

// A line has the open attempts by application, and the tickets for them. The lock of the Fleet guards it.
type line struct {
	apps    map[string]*app
	pending []Ticket      // to be offered
	ticket  func() string // the ID of a new ticket
}

// An app has the open attempts of one application.
type app struct {
	studies []*member // with something open, in no order
	open    int
	idle    map[string]*healing // by class: see refill
}

// open puts a new attempt at a run into the queue, and a ticket for it.
func (l *line) open(r *run, n int, now time.Time) {
	a := r.get(n)
	a.Since = now
	if a.opened = now.UnixNano(); r.m.Opened != nil && r.key.trial != 0 {
		a.opened = 0
		if t := r.m.Opened(a.id()); !t.IsZero() {
			a.opened = t.UnixNano()
		}
	}
	l.enqueue(a)
	l.pending = append(l.pending, l.newTicket(r.m))
}

// newTicket returns one more ticket for a study.
func (l *line) newTicket(m *member) Ticket {
	return Ticket{ID: l.ticket(), App: m.App, MachineClass: m.class}
}

// enqueue puts an attempt among those that are open.
func (l *line) enqueue(a *attempt) {
	m := a.run.m
	a.State, a.priority = ledger.Open, a.run.job.Priority
	heap.Push(&m.open, a)
	p := l.apps[m.App]
	if p == nil {
		p = &app{idle: map[string]*healing{}}
		l.apps[m.App] = p
	}
	if p.open++; len(m.open) == 1 {
		m.at = len(p.studies)
		p.studies = append(p.studies, m)
	}
}

// shut takes an attempt out of those that are open.
func (l *line) shut(a *attempt) {
	m := a.run.m
	heap.Remove(&m.open, a.index)
	p := l.apps[m.App]
	if p.open--; len(m.open) == 0 {
		p.studies = drop(p.studies, m.at)
		if m.at < len(p.studies) {
			p.studies[m.at].at = m.at
		}
	}
}

// withdraw removes the open attempts of a run.
func (l *line) withdraw(r *run) {
	for _, a := range slices.Clone(r.Attempts) {
		if a.State == ledger.Open {
			l.shut(a)
			r.Remove(a)
		}
	}
}

// keepTo binds a study to a class of machines, and offers its open attempts to them: the existing tickets may reach
// other machines.
func (l *line) keepTo(m *member, class string) {
	m.class = class
	if class == "" {
		return
	}
	for range m.open {
		l.pending = append(l.pending, l.newTicket(m))
	}
}

// first returns the first open attempt for a worker, or nil. The lock is held.
//
// It looks at one attempt of each study, except for repeated runs of one configuration: see other. The runs of one
// study do not differ in the properties that decide whether a worker can run them.
func (f *Fleet) first(name string, w *worker) *attempt {
	p := f.apps[name]
	if p == nil {
		return nil
	}
	now := f.o.Now()
	left := w.left(now)
	var best *member
	var least rank
	for _, m := range p.studies {
		if m.held || !m.takes(w.MachineClass) ||
			left > 0 && m.expected(m.open[0].run) > left {
			continue
		}
		// The priority decides most often, and is cheaper than the share.
		if best != nil && m.Priority < least.priority {
			continue
		}
		r := m.rank(now)
		if best == nil || r.before(least) {
			best, least = m, r
		}
	}
	if best == nil {
		return nil
	}
	return best.other(w)
}

// expected returns the expected duration of a run, 0 if unknown.
func (m *member) expected(r *run) time.Duration {
	if r.job.Limit > 0 && (m.lasted == 0 || r.job.Limit < m.lasted) {
		return r.job.Limit
	}
	return m.lasted
}

// learn updates the study's estimate from the duration of a run. The estimate is near the longer ones, and follows when
// they get shorter.
func (m *member) learn(d time.Duration) {
	if d >= m.lasted {
		m.lasted = d
	} else {
		m.lasted -= (m.lasted - d) / 8
	}
}

// atLeast updates the study's estimate from a run that was ended early, for example because the time of its worker was
// over: such a run does not begin again on a worker with less time than d.
func (m *member) atLeast(d time.Duration) { m.lasted = max(m.lasted, d) }
