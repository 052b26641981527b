package study

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/assay-run/assay"
)

// A session is shared by the parts of the loop: the study, its clock and its record. No part sets its fields.
type session struct {
	*Study
	clock  assay.Clock
	actors actors // nil for a real clock
	record *recorder
}

// newSession returns the session of a study whose record was not read yet.
func newSession(s *Study) *session {
	clock := s.Clock
	if clock == nil {
		clock = realClock{}
	}
	n := &session{Study: s, clock: clock, record: &recorder{watch: &stopwatch{clock: clock}}}
	n.actors, _ = clock.(actors)
	return n
}

// enter and leave count an actor of a simulated clock, which begins and ends to run.
func (s *session) enter() {
	if s.actors != nil {
		s.actors.Enter()
	}
}

func (s *session) leave() {
	if s.actors != nil {
		s.actors.Leave()
	}
}

// A recorder is the record of a session: the journal, until something ends it.
type recorder struct {
	*Journal            // nil until the record is read
	watch    *stopwatch // the journal's once there is one
	// unrecorded is why the record has ended for this session, whose further
	// results are in its Result alone.
	unrecorded error
	fatal      error // of the searcher, in a command
}

// open takes the journal of the study, and returns the events that it has read.
func (r *recorder) open(j *Journal) []assay.Event {
	r.Journal, r.watch = j, j.watch
	return j.take()
}

// spent returns the time of the study over all sessions.
func (r *recorder) spent() time.Duration {
	_, spent := r.watch.now()
	return spent
}

// fail has the session end with an error of the searcher.
func (r *recorder) fail(err error) { r.fatal = err }

// failed returns the error of a command that ends the study, or the journal's error if the append of another writer
// has ended it.
func (r *recorder) failed() error {
	if r.unrecorded == nil {
		r.unrecorded = r.Err()
	}
	return cmp.Or(r.fatal, r.unrecorded)
}

// ends returns a channel that is closed when the journal ends, or nil once that is known.
func (r *recorder) ends() <-chan struct{} {
	if r.unrecorded != nil {
		return nil
	}
	return r.broken
}

// append adds events to the record, all or none, with the present time. An event that cannot be recorded does not
// happen: an error is final, and the same for all later calls of this session. See [Journal].
func (r *recorder) append(ctx context.Context, events ...assay.Event) error {
	return r.write(ctx, ctx, events)
}

// keep is append of something that has happened already: it is recorded even if
// ctx is done, as long as the store does so at the first attempt.
func (r *recorder) keep(ctx context.Context, events ...assay.Event) error {
	return r.write(ctx, context.WithoutCancel(ctx), events)
}

// write appends events with the context write, until wait is done.
func (r *recorder) write(wait, write context.Context, events []assay.Event) error {
	if r.unrecorded == nil {
		r.unrecorded = r.Journal.keep(wait, write, events)
	}
	return r.unrecorded
}

// keepEach is keep of events that stand for themselves: one that cannot be stored takes no other with it.
func (r *recorder) keepEach(ctx context.Context, events []assay.Event) error {
	err := r.keep(ctx, events...)
	if len(events) == 1 || assay.ClassOf(err) != assay.ClassUsage || r.Err() != nil {
		return err
	}
	var errs []error
	for i := range events {
		errs = append(errs, r.Journal.keep(ctx, context.WithoutCancel(ctx), events[i:i+1]))
	}
	return cmp.Or(errors.Join(errs...), err)
}
