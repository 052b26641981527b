package queue

import (
	"context"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// audit checks the record once all has ended: no outcome that was taken is lost, each run
// counts once, each booking is the cost of its attempt, and of no other.
func (w *world) audit() {
	for _, s := range w.studies {
		w.auditStudy(s)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.workers {
		if _, ordered := w.server.orders[k.ID]; ordered && k.end != nil && !k.drained {
			w.failLocked("worker %s was told to drain and has not heard of it", k.ID)
		}
	}
}

func (w *world) auditStudy(s *simStudy) {
	var events []assay.Event
	started := map[assay.RunID]bool{}
	last := map[assay.RunID]assay.AttemptEnd{}
	counted := map[int64]assay.AttemptEnd{}
	ended := map[int64]int{}
	class := ""
	for e, err := range w.store.Events(context.Background(), s.name, 0) {
		if err != nil {
			w.failf("%v", err)
			return
		}
		events = append(events, e)
		switch {
		case e.Started != nil:
			started[e.Started.RunID] = true
			if class == "" {
				class = e.Started.MachineClass
			}
			if s.class == ClassSame && e.Started.MachineClass != class {
				w.failf("study %s ran on classes %s and %s", s.name, class, e.Started.MachineClass)
			}
		case e.Booked != nil:
			b := *e.Booked
			last[b.RunID] = b
			if b.Counts() {
				counted[b.Trial] = b
			}
		case e.Told != nil:
			ended[e.Told.ID]++
			got, want := e.Told.Measurement, counted[e.Told.ID].Measurement
			if want.Elapsed == 0 && s.plans[e.Told.ID-1].stop > 0 && w.seen(s.name, e.Told.ID, got) {
				want = got // stopped, and not heard of again
			}
			if got.Metrics["token"] != want.Metrics["token"] || got.Elapsed != want.Elapsed || want.Elapsed == 0 {
				w.failf("trial %d of %s is told with %+v, and counts with %+v", e.Told.ID, s.name, got, want)
			}
		}
	}
	if err := ledger.Record(events); err != nil {
		w.failf("study %s: %v", s.name, err)
	}
	for i := range s.plans {
		id := int64(i + 1)
		if _, withdrawn := s.withdrawn[id]; ended[id] != 1 && !withdrawn || ended[id] > 1 {
			w.failf("trial %d of %s has ended %d times", id, s.name, ended[id])
		}
	}
	var booked, spent time.Duration
	for id := range started {
		b := last[id]
		booked += b.Measurement.Elapsed
		spent += w.auditAttempt(id, b)
	}
	if booked != spent {
		w.failf("study %s: %v are booked, the attempts cost %v", s.name, booked, spent)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, t := range w.attempts {
		if id.Study == s.name && !started[id] {
			w.failLocked("attempt %v of %s is not on record", id, t.worker)
		}
	}
}

// seen reports whether a worker has sent the measurement on record of a trial.
func (w *world) seen(study string, trial int64, m assay.Measurement) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, t := range w.attempts {
		if id.Study == study && id.Trial == trial && t.beats[m.Elapsed] == m.Metrics["token"] {
			return true
		}
	}
	return false
}

// auditAttempt compares the last booking of an attempt with its truth, and returns its
// cost.
func (w *world) auditAttempt(id assay.RunID, b assay.AttemptEnd) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.attempts[id]
	switch {
	case t == nil: // its worker never heard of it
		if b.Measurement.Elapsed != 0 {
			w.failLocked("attempt %v never ran, and is booked with %v", id, b.Measurement.Elapsed)
		}
		return 0
	case t.acked && b.Why == assay.WhyLost:
		w.failLocked("the outcome of %v was taken, and is not on record", id)
	case b.Why == assay.WhyLost:
		if e := b.Measurement.Elapsed; e != 0 && t.beats[e] == 0 {
			w.failLocked("attempt %v is lost after %v, which nobody has said", id, e)
		}
		return b.Measurement.Elapsed
	case t.outcome == nil:
		if b.Measurement.Elapsed == 0 && (b.Why == assay.WhyCancel || b.Why == assay.WhyDuplicate) {
			return 0 // taken back before it began
		}
		w.failLocked("attempt %v is booked as %q and has told nothing", id, b.Why)
		return 0
	case b.Counts() && t.tainted:
		w.failLocked("attempt %v stood still and counts", id)
	case b.Measurement.Metrics["token"] != t.outcome.Measurement.Metrics["token"]:
		w.failLocked("attempt %v is booked with the outcome of another", id)
	}
	return t.outcome.Measurement.Elapsed
}
