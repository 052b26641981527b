package server

import (
	"cmp"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// traces makes spans of the events that a server appends. A time from before the server began is unknown to it; the
// span begins with the time that the event of its end has.
type traces struct {
	tracer *tracer
	mu     sync.Mutex
	ready  map[assay.RunID]time.Time // when a run began to wait for its next attempt; the attempt of the ID is 0
	placed map[assay.RunID]time.Time // when a worker got an attempt
}

func newTraces(t *tracer) *traces {
	return &traces{tracer: t, ready: map[assay.RunID]time.Time{}, placed: map[assay.RunID]time.Time{}}
}

// appended sends the spans that end with events of a study.
func (t *traces) appended(study string, events []assay.Event) {
	if t.tracer == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		at := e.At
		if at.IsZero() {
			at = time.Now()
		}
		switch {
		case e.Asked != nil:
			t.ready[assay.RunID{Study: study, Trial: e.Asked.ID}] = at
		case e.Started != nil:
			id := e.Started.RunID
			t.placed[id] = at
			if since, ok := take(t.ready, waiting(id)); ok {
				t.tracer.send(span{name: queueSpan, id: id, start: since, end: at, worker: e.Started.Worker})
			}
		case e.Booked != nil:
			b := e.Booked
			start, ok := take(t.placed, b.RunID)
			if !ok {
				start = at.Add(-b.Measurement.Elapsed)
			}
			if !b.Counts() && !b.Extra {
				t.ready[waiting(b.RunID)] = at
			}
			t.tracer.send(span{
				name: attemptSpan, id: b.RunID, start: start, end: at, worker: b.Worker, failure: cmp.Or(b.Why, b.Reason),
			})
		case e.Withdrawn != nil:
			delete(t.ready, assay.RunID{Study: study, Trial: e.Withdrawn.Trial})
		case e.Told != nil:
			t.told(study, *e.Told, at)
		}
	}
}

// told sends the span of a trial, which waits for no further attempt.
func (t *traces) told(study string, told assay.Trial, at time.Time) {
	id := assay.RunID{Study: study, Trial: told.ID}
	delete(t.ready, id)
	start := told.Started
	if start.IsZero() {
		start = at.Add(-told.Measurement.Elapsed)
	}
	failure := ""
	if told.State == assay.Failed {
		failure = cmp.Or(told.Reason, told.State.String())
	}
	t.tracer.send(span{name: trialSpan, id: id, start: start, end: at, failure: failure})
}

// waiting is the key of a run that waits for its next attempt.
func waiting(id assay.RunID) assay.RunID {
	id.Attempt = 0
	return id
}

// take removes and returns the time of a key.
func take(from map[assay.RunID]time.Time, id assay.RunID) (at time.Time, ok bool) {
	at, ok = from[id]
	delete(from, id)
	return at, ok
}
