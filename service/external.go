package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// An externalSession is an external study of this Host. Its desk is opened at the first request, and closed
// when the study is over or the Host closes. Until then no other process can ask or tell.
type externalSession struct {
	name string
	turn chan struct{}          // held by the request that uses the fields below
	desk *setup.ExternalSession // nil if it is not open
	user user
}

// deskPatience is how long a study is waited for that another process has.
const deskPatience = 2 * time.Second

// asked returns the session of an external study, or nil if the study is not external.
func (h *Host) asked(ctx context.Context, name string) (*externalSession, error) {
	h.mu.Lock()
	s := h.external[name]
	h.mu.Unlock()
	if s != nil {
		return s, nil
	}
	def, err := h.o.Store.Definition(ctx, name)
	if err != nil || def.Mode() != spec.ModeAsked {
		return nil, err
	}
	return h.externalOf(name), nil
}

// externalOf finds or makes the session of an external study.
func (h *Host) externalOf(name string) *externalSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.external[name]
	if s == nil {
		s = &externalSession{name: name, turn: make(chan struct{}, 1)}
		h.external[name] = s
	}
	return s
}

// with has do use the desk of a study, one at a time. What panics is an error, and the desk is not used
// again: the next one is brought up by the record.
func (h *Host) with(ctx context.Context, s *externalSession, do func(*setup.ExternalSession) error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := h.closing(); err != nil {
		return err
	}
	if !h.turns.take(&s.user) {
		return errClosing
	}
	began := time.Now()
	defer func() { h.turns.give(&s.user, time.Since(began)) }()
	err := safely(h.o.Warn, "study "+s.name, func() error {
		if s.desk == nil {
			if err := h.openDesk(ctx, s); err != nil {
				return err
			}
		}
		return do(s.desk)
	})
	if s.desk == nil {
		return err
	}
	_, panicked := errors.AsType[*panicError](err)
	if panicked || s.desk.Err() != nil || s.desk.Result().EndedBy != "" && len(s.desk.Open()) == 0 {
		err = errors.Join(err, s.close(ctx))
	}
	return err
}

// openDesk opens the desk of a study on record.
func (h *Host) openDesk(ctx context.Context, s *externalSession) error {
	def, err := h.o.Store.Definition(ctx, s.name)
	if err != nil {
		return err
	}
	p, err := setup.New(def, setup.Options{Warn: h.o.Warn})
	if err != nil {
		return err
	}
	s.desk, err = p.ExternalSession(ctx, h.o.Store, s.name, deskPatience)
	if errors.Is(err, assay.ErrLocked) {
		return assay.Errorf(assay.ClassConflict, "study %s is asked and told by another process: %w", s.name, err)
	}
	return err
}

// close lets go of the study. Who calls it has the turn.
func (s *externalSession) close(ctx context.Context) error {
	d := s.desk
	if s.desk = nil; d == nil {
		return nil
	}
	return d.Close(context.WithoutCancel(ctx))
}

// desk has do use the desk of a study of that name.
func (h *Host) desk(ctx context.Context, name string, do func(*setup.ExternalSession) error) error {
	s, err := h.asked(ctx, name)
	if err != nil {
		return err
	}
	if s == nil {
		return assay.Errorf(assay.ClassConflict, "study %s is not external: workers of the server make its runs", name)
	}
	return h.with(ctx, s, do)
}

// leaveDesks closes the desks of all external studies.
func (h *Host) leaveDesks(ctx context.Context) error {
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.external))
	h.mu.Unlock()
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

// submitAsked creates an external study, or resumes it.
func (h *Host) submitAsked(ctx context.Context, def *spec.Study, name, by string) (Info, error) {
	p, err := setup.New(def, setup.Options{Warn: h.o.Warn})
	if err != nil {
		return Info{}, err
	}
	if name, err = p.Claim(ctx, h.o.Store, name); err != nil {
		return Info{}, err
	}
	err = h.with(ctx, h.externalOf(name), func(d *setup.ExternalSession) error {
		if n := def.Budget.Trials; n > 0 && n != d.Trials() {
			if err := d.Steer(ctx, assay.Steering{Do: "budget", Trials: n, By: by}); err != nil {
				return err
			}
		}
		return d.Steer(ctx, assay.Steering{Do: "run", By: by})
	})
	if err != nil {
		return Info{}, err
	}
	return h.Info(ctx, name)
}

// Ask returns at most n trials of an external study. If again is not negative, trials that were returned at
// least that long ago and have no result come first: see [study.ExternalSession].
func (h *Host) Ask(ctx context.Context, name string, n int, again time.Duration) (a study.Answer, err error) {
	err = h.desk(ctx, name, func(d *setup.ExternalSession) error {
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
	err = h.desk(ctx, name, func(d *setup.ExternalSession) error {
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
	err = h.desk(ctx, name, func(d *setup.ExternalSession) error {
		back, err = d.Withdraw(ctx, age, by, reason)
		return err
	})
	return back, err
}

// steerAsked steers an external study.
func (h *Host) steerAsked(ctx context.Context, s *externalSession, d assay.Steering) error {
	return h.with(ctx, s, func(desk *setup.ExternalSession) error { return desk.Steer(ctx, d) })
}

// withdrawAsked withdraws trials of an external study, all or none.
func (h *Host) withdrawAsked(ctx context.Context, s *externalSession, trials []int64, by, reason string) error {
	reports := make([]study.Report, len(trials))
	for i, id := range trials {
		reports[i] = study.Report{ID: id, State: assay.Withdrawn.String(), Reason: reason, By: by}
	}
	return h.with(ctx, s, func(d *setup.ExternalSession) error {
		_, err := d.Tell(ctx, reports)
		return err
	})
}

// noQueue says that a study has no trials here that wait.
func noQueue(name string) error {
	return assay.Errorf(assay.ClassConflict, "study %s is external: its trials do not wait in the queue", name)
}
