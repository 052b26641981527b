package queue

import (
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// A recall restores the runs of a study from its record.
type recall struct {
	m           *member
	now         time.Time
	of          map[int64][]*run   // by trial
	configs     map[int64]string   // keys, by trial
	quarantined map[machine]string // with the reason
}

// recall restores the runs of a study. Each placed attempt gets a new lease.
func (f *Fleet) recall(m *member) {
	c := recall{
		m: m, now: f.o.Now(), of: map[int64][]*run{}, configs: map[int64]string{},
		quarantined: map[machine]string{},
	}
	for _, e := range m.Past {
		c.event(e)
	}
	for who, why := range c.quarantined {
		f.setAside(m, who, why)
	}
	for _, trial := range slices.Sorted(maps.Keys(c.of)) { // attempts are placed in one order each time
		for _, r := range c.of[trial] {
			if r.Closed && r.forget() {
				continue
			}
			for _, a := range r.Attempts {
				if a.State == ledger.Placed {
					f.place(a, c.now)
				}
			}
		}
	}
}

// event takes in one event of the record.
func (c *recall) event(e assay.Event) {
	switch {
	case e.Asked != nil:
		c.configs[e.Asked.ID] = e.Asked.Config.Key()
	case e.Started != nil:
		c.started(*e.Started)
	case e.Booked != nil:
		c.booked(*e.Booked)
	case e.Told != nil:
		c.close(e.Told.ID)
	case e.Checked != nil:
		c.close(e.Checked.ID)
	case e.Withdrawn != nil:
		c.close(e.Withdrawn.Trial)
	case e.Drifted != nil && e.Drifted.Over:
		delete(c.quarantined, machine{e.Drifted.Worker, e.Drifted.MachineClass})
	case e.Drifted != nil:
		c.quarantined[machine{e.Drifted.Worker, e.Drifted.MachineClass}] = e.Drifted.Reason
	case e.Ordered != nil:
		c.m.priorities[e.Ordered.Trial] = e.Ordered.Priority
	}
}

// run returns the run of an attempt, creating it if necessary.
func (c *recall) run(id assay.RunID) *run {
	m, key := c.m, runKey{id.Trial, id.Repeat}
	r := m.runs[key]
	if r == nil {
		r = &run{m: m, key: key}
		r.Parted = true
		m.runs[key] = r
		c.of[id.Trial] = append(c.of[id.Trial], r)
		if id.Trial == 0 {
			m.unnamed = max(m.unnamed, id.Repeat)
		}
	}
	return r
}

func (c *recall) started(s assay.Start) {
	m := c.m
	if key, known := c.configs[s.Trial]; known {
		m.ran.by(key, s.Worker)
	}
	c.run(s.RunID).get(s.Attempt).Place(s.Worker, s.MachineClass, c.now)
	if m.MachineClass == ClassSame && m.class == "" && s.MachineClass != "" {
		m.class, m.firm = s.MachineClass, true
	}
}

func (c *recall) booked(b assay.AttemptEnd) {
	r := c.run(b.RunID)
	r.Recall(r.get(b.Attempt), b)
	if b.Counts() {
		c.m.learn(b.Measurement.Elapsed)
	} else {
		c.m.atLeast(b.Measurement.Elapsed)
	}
}

// close closes the runs of a trial that is over.
func (c *recall) close(trial int64) {
	for _, r := range c.of[trial] {
		r.Closed = true
	}
}
