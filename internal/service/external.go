package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// externals are the external studies of a Host.
type externals struct {
	o     *Options
	turns *turns

	mu       sync.Mutex
	closed   bool
	sessions map[string]*externalSession // by study
}

// An externalSession is an external study of this Host. Its session is opened at the first request, and closed when the
// study is over or the Host closes. Until then no other process can use the study.
type externalSession struct {
	name string
	turn chan struct{}          // held by the request that uses the fields below
	desk *setup.ExternalSession // nil if it is not open
	user user
}

// deskPatience limits the wait for a study that another process has.
const deskPatience = 2 * time.Second

// known returns the session of an external study that this Host has had a request for, or nil.
func (x *externals) known(name string) *externalSession {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.sessions[name]
}

// find returns the session of an external study, or nil if the study is not external.
func (x *externals) find(ctx context.Context, name string) (*externalSession, error) {
	if s := x.known(name); s != nil {
		return s, nil
	}
	def, err := x.o.Store.Definition(ctx, name)
	if err != nil || def.Mode() != spec.ModeAsked {
		return nil, err
	}
	return x.session(name), nil
}

// session finds or makes the session of an external study.
func (x *externals) session(name string) *externalSession {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.sessions[name]
	if s == nil {
		s = &externalSession{name: name, turn: make(chan struct{}, 1)}
		x.sessions[name] = s
	}
	return s
}

// closing returns the error of calls after close.
func (x *externals) closing() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return errClosing
	}
	return nil
}

// with calls do with the session of a study, one call at a time. A panic becomes an error, and the session is
// discarded: the next one is restored from the record.
func (x *externals) with(ctx context.Context, s *externalSession, do func(*setup.ExternalSession) error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := x.closing(); err != nil {
		return err
	}
	if !x.turns.take(&s.user) {
		return errClosing
	}
	began := time.Now()
	defer func() { x.turns.give(&s.user, time.Since(began)) }()
	err := safely(x.o.warner(s.name), "study "+s.name, func() error { return x.answer(ctx, s, do) })
	if s.desk == nil {
		return err
	}
	_, panicked := errors.AsType[*panicError](err)
	if panicked || s.desk.Err() != nil || s.desk.Result().EndedBy != "" && len(s.desk.Open()) == 0 {
		err = errors.Join(err, s.close(ctx))
	}
	return err
}

// answer calls do with the session of a study, which it opens if necessary. The store checks the position of an answer
// that has written events. Any other answer is from the memory of the session: if another process has written to the
// record, answer opens the session again, which takes the study back or fails, and calls do once more.
func (x *externals) answer(ctx context.Context, s *externalSession, do func(*setup.ExternalSession) error) error {
	for {
		if s.desk == nil {
			if err := x.open(ctx, s); err != nil {
				return err
			}
		}
		at := s.desk.Position()
		err := do(s.desk)
		if s.desk.Position() != at || s.desk.Err() != nil || ctx.Err() != nil {
			return err
		}
		current, unknown := s.desk.Current(ctx)
		if unknown != nil {
			return errors.Join(err, unknown)
		}
		if current {
			return err
		}
		if err := s.close(ctx); err != nil {
			return err
		}
	}
}

// open opens the session of a study on record.
func (x *externals) open(ctx context.Context, s *externalSession) error {
	def, err := x.o.Store.Definition(ctx, s.name)
	if err != nil {
		return err
	}
	p, err := setup.New(def, setup.Options{Warn: x.o.warner(s.name)})
	if err != nil {
		return err
	}
	s.desk, err = p.ExternalSession(ctx, x.o.Store, s.name, deskPatience)
	if errors.Is(err, assay.ErrLocked) {
		return assay.Errorf(assay.ClassConflict, "study %s is held by another process: %w", s.name, err)
	}
	return err
}

// close releases the study. The caller has the turn.
func (s *externalSession) close(ctx context.Context) error {
	d := s.desk
	if s.desk = nil; d == nil {
		return nil
	}
	return d.Close(context.WithoutCancel(ctx))
}

// desk has do use the session of a study of that name.
func (x *externals) desk(ctx context.Context, name string, do func(*setup.ExternalSession) error) error {
	s, err := x.find(ctx, name)
	if err != nil {
		return err
	}
	if s == nil {
		return assay.Errorf(assay.ClassConflict, "study %s is not external: workers of the server make its runs", name)
	}
	return x.with(ctx, s, do)
}

// close closes the sessions of all external studies.
func (x *externals) close(ctx context.Context) error {
	x.mu.Lock()
	x.closed = true
	sessions := slices.Collect(maps.Values(x.sessions))
	x.mu.Unlock()
	var errs []error
	for _, s := range sessions {
		select {
		case s.turn <- struct{}{}:
			errs = append(errs, s.close(ctx))
			<-s.turn
		case <-ctx.Done():
			return errors.Join(append(errs, context.Cause(ctx))...)
		}
	}
	return errors.Join(errs...)
}

// submit creates an external study, or resumes it, and returns its name.
func (x *externals) submit(ctx context.Context, def *spec.Study, name, by string) (string, error) {
	p, err := setup.New(def, setup.Options{Warn: x.o.warner(name)})
	if err != nil {
		return "", err
	}
	if name, err = p.Claim(ctx, x.o.Store, name); err != nil {
		return "", err
	}
	return name, x.with(ctx, x.session(name), func(d *setup.ExternalSession) error {
		if n := def.Budget.Trials; n > 0 && n != d.Trials() {
			if err := d.Steer(ctx, assay.StudyCommand{Do: "budget", Trials: n, By: by}); err != nil {
				return err
			}
		}
		return d.Steer(ctx, assay.StudyCommand{Do: "run", By: by})
	})
}

// Ask returns at most n trials of an external study. If again is not negative, trials that were returned at least that
// long ago and have no result come first: see [study.ExternalSession].
func (h *Host) Ask(ctx context.Context, name string, n int, again time.Duration) (a study.Answer, err error) {
	err = h.external.desk(ctx, name, func(d *setup.ExternalSession) error {
		var old []study.Handed
		if again >= 0 {
			if a, err = d.Again(ctx, n, again); err != nil || len(a.Trials) == n {
				return err
			}
			old = a.Trials
		}
		a, err = d.Ask(ctx, n-len(old))
		a.Trials = append(old, a.Trials...)
		return err
	})
	return a, err
}

// Tell takes results of an external study, all or none, and returns the result of the study so far: see
// [study.ExternalSession.Tell].
func (h *Host) Tell(
	ctx context.Context, name string, reports []study.Report,
) (r study.Receipt, res study.Result, err error) {
	err = h.external.desk(ctx, name, func(d *setup.ExternalSession) error {
		r, err = d.Tell(ctx, reports)
		res = d.Result()
		return err
	})
	return r, res, err
}

// Recall withdraws and returns the trials that Ask returned at least age ago and that have no result.
func (h *Host) Recall(
	ctx context.Context, name string, age time.Duration, by, reason string,
) (back []study.Handed, err error) {
	err = h.external.desk(ctx, name, func(d *setup.ExternalSession) error {
		back, err = d.Withdraw(ctx, age, by, reason)
		return err
	})
	return back, err
}

// steer steers an external study.
func (x *externals) steer(ctx context.Context, s *externalSession, d assay.StudyCommand) error {
	return x.with(ctx, s, func(desk *setup.ExternalSession) error { return desk.Steer(ctx, d) })
}

// withdraw withdraws trials of an external study, all or none.
func (x *externals) withdraw(ctx context.Context, s *externalSession, trials []int64, by, reason string) error {
	reports := make([]study.Report, len(trials))
	for i, id := range trials {
		reports[i] = study.Report{ID: id, State: assay.Withdrawn.String(), Reason: reason, By: by}
	}
	return x.with(ctx, s, func(d *setup.ExternalSession) error {
		_, err := d.Tell(ctx, reports)
		return err
	})
}

// noQueue returns the error for a study that has no waiting trials here.
func noQueue(name string) error {
	return assay.Errorf(assay.ClassConflict, "study %s is external: its trials do not wait in the queue", name)
}
