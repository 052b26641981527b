package service

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// Submit creates a study and runs it. If a study of that name exists with the same definition, Submit resumes it with
// the budget of def; a different definition is an error of class conflict. If name is "", it is the name in the
// definition, of its file, or of its program. by is the name of the caller, for the record. def belongs to the Host
// from then on.
func (h *Host) Submit(ctx context.Context, def *spec.Study, name, by string) (Info, error) {
	if err := h.closing(); err != nil {
		return Info{}, err
	}
	if def.Mode() == spec.ModeAsked {
		name, err := h.external.submit(ctx, def, name, by)
		if err != nil {
			return Info{}, err
		}
		return h.Info(ctx, name)
	}
	p, err := h.problem(def, name)
	if err != nil {
		return Info{}, err
	}
	name, err = p.Claim(ctx, h.o.Store, name)
	if other, is := errors.AsType[*setup.AnotherStudyError](err); is {
		return Info{}, assay.Errorf(assay.ClassConflict, "%s", other.Hosted())
	}
	if err != nil {
		return Info{}, err
	}
	for {
		s, err := h.session(ctx, name)
		if err != nil {
			return Info{}, err
		}
		if s == nil {
			err = h.start(ctx, name, def, func(s *session) ([]assay.Event, error) {
				events := []assay.Event{{Steered: &assay.StudyCommand{Do: "run", By: by}}}
				if d, news := s.budgetOf(h, def, by); news && len(s.journal.Past()) > 0 {
					events = append(events, assay.Event{Steered: &d})
				}
				return events, nil
			})
		} else {
			err = s.resubmit(ctx, h, def, by)
		}
		if !errors.Is(err, errRunning) && !errors.Is(err, study.ErrOver) {
			if err != nil {
				return Info{}, err
			}
			return h.Info(ctx, name)
		}
	}
}

// budgetOf returns the event that sets the limits of a submitted definition, and whether they changed.
func (s *session) budgetOf(h *Host, def *spec.Study, by string) (d assay.StudyCommand, news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d = assay.StudyCommand{Do: "budget", Trials: def.Budget.Trials, Time: def.Budget.Time, By: by}
	return d, d.Trials > 0 && d.Trials != s.budget.Trials || d.Time > 0 && d.Time != s.budget.Time
}

// resubmit applies a submission to a running study.
func (s *session) resubmit(ctx context.Context, h *Host, def *spec.Study, by string) error {
	if err := h.steer(ctx, s, assay.StudyCommand{Do: "run", By: by}); err != nil {
		return err
	}
	if d, news := s.budgetOf(h, def, by); news {
		return h.steer(ctx, s, d)
	}
	return nil
}

// Steer applies a user's decision about a study as a whole. The decision is on record when it returns nil.
//
//   - "run" ends a pause, or resumes a study that has ended, was stopped, or was
//     created by another process.
//   - "pause" lets nothing begin; current runs continue.
//   - "stop" ends the study. Its runs are cancelled, and repeated if it is resumed.
//   - "priority" sets its priority among studies, also for ended ones.
//   - "budget" changes the limits. A study that has reached its old ones resumes.
func (h *Host) Steer(ctx context.Context, name string, d assay.StudyCommand) error {
	switch d.Do {
	case "run", "pause", "stop", "priority", "budget":
	default:
		return assay.Errorf(assay.ClassUsage, "steering %q: there are run, pause, stop, priority and budget", d.Do)
	}
	if s, err := h.external.find(ctx, name); s != nil && err == nil {
		return h.external.steer(ctx, s, d)
	}
	return h.either(ctx, name,
		func(s *session) error { return h.steer(ctx, s, d) },
		func(sum assay.Summary) error { return h.steerIdle(ctx, sum, d) })
}

// either calls goesOn with the session of a study if it is running here, and otherwise idle with its summary. It
// repeats this while the state of the study changes.
func (h *Host) either(ctx context.Context, name string, goesOn func(*session) error, idle func(assay.Summary) error,
) error {
	for {
		s, err := h.session(ctx, name)
		if err != nil {
			return err
		}
		if s != nil {
			if err = goesOn(s); !errors.Is(err, study.ErrOver) {
				return err
			}
			select { // it ends
			case <-s.done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := h.closing(); err != nil {
				return err
			}
			continue
		}
		sum, err := h.o.Store.Summary(ctx, name)
		if err != nil {
			return err
		}
		if err = idle(sum); !errors.Is(err, errRunning) {
			return err
		}
	}
}

// steer steers a running study.
func (h *Host) steer(ctx context.Context, s *session, d assay.StudyCommand) (err error) {
	switch d.Do {
	case "run":
		err = s.helm.Resume(ctx, d.By, d.Reason)
	case "pause":
		err = s.helm.Pause(ctx, d.By, d.Reason)
	case "budget":
		err = s.helm.SetBudget(ctx, d.Trials, d.Time, d.By, d.Reason)
	case "priority":
		if err = s.journal.Append(ctx, assay.Event{Steered: &d}); err == nil {
			s.runner.SetPriority(d.Priority)
		}
	case "stop":
		if err = s.journal.Append(ctx, assay.Event{Steered: &d}); err != nil {
			return err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if s.stopping = true; s.cancel != nil {
			s.cancel(errStopped)
		}
		return nil
	}
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.obey(d)
	}
	return err
}

// steerIdle steers a study that is not running here.
func (h *Host) steerIdle(ctx context.Context, sum assay.Summary, d assay.StudyCommand) error {
	event := assay.Event{Steered: &d}
	switch d.Do {
	case "run":
		return h.goOn(ctx, sum, nil, d.By, d.Reason)
	case "priority":
		return h.record(ctx, sum.Study, event)
	case "budget":
		if d.Trials < 0 || d.Time < 0 || d.Trials == 0 && d.Time == 0 {
			return assay.Errorf(assay.ClassUsage, "a budget is a number of trials, a time or both")
		}
		if sum.Steered == "stop" {
			return h.record(ctx, sum.Study, event)
		}
		return h.goOn(ctx, sum, func(*session) ([]assay.Event, error) { return []assay.Event{event}, nil }, d.By, d.Reason)
	case "stop":
		if goesOn(sum) {
			return h.record(ctx, sum.Study, event)
		}
	}
	return h.idleError(sum)
}

// idleError returns the error for a study that is not running.
func (h *Host) idleError(sum assay.Summary) error {
	h.mu.Lock()
	other := h.others[sum.Study]
	h.mu.Unlock()
	if other {
		return assay.Errorf(assay.ClassConflict, "study %s is run by another process", sum.Study)
	}
	return assay.WithHint(assay.Errorf(assay.ClassConflict, "study %s is %s", sum.Study, StateOf(sum)),
		"assay study resume goes on with it")
}

// goOn starts a study that is on record, with more events there before it.
func (h *Host) goOn(ctx context.Context, sum assay.Summary, more func(*session) ([]assay.Event, error),
	by, reason string,
) error {
	return h.start(ctx, sum.Study, nil, func(s *session) (events []assay.Event, err error) {
		if more != nil {
			events, err = more(s)
		}
		return append(events, assay.Event{Steered: &assay.StudyCommand{Do: "run", By: by, Reason: reason}}), err
	})
}

// record adds events to a study that no session runs.
func (h *Host) record(ctx context.Context, name string, events ...assay.Event) error {
	release, err := h.o.Store.Lock(ctx, name)
	if errors.Is(err, assay.ErrLocked) {
		if s, err := h.session(ctx, name); err == nil && s != nil {
			return errRunning // it has begun meanwhile
		}
		return assay.Errorf(assay.ClassConflict, "study %s is run by another process: %w", name, err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = release() }()
	j, err := (&study.Study{Name: name, Store: h.o.Store.Store, Patience: h.o.Patience}).Journal(ctx)
	if err != nil {
		return err
	}
	return j.Append(ctx, events...)
}

// Enqueue runs the user's configurations, in order, before the proposals of the search. An ended study is resumed for
// them, also if its budget of trials is used up.
func (h *Host) Enqueue(ctx context.Context, name string, configs []assay.Config, by string) error {
	if s, err := h.external.find(ctx, name); s != nil && err == nil {
		return h.external.with(ctx, s, func(d *setup.ExternalSession) error { return d.Enqueue(ctx, configs, by) })
	}
	return h.either(ctx, name,
		func(s *session) error { return s.helm.Enqueue(ctx, by, configs...) },
		func(sum assay.Summary) error {
			if sum.Steered != "stop" && sum.Ended == "budget" {
				return assay.WithHint(
					assay.Errorf(assay.ClassConflict, "study %s has spent its time: nothing would be run", sum.Study),
					"submit it again with more of a budget")
			}
			if sum.Steered == "stop" {
				return h.idleError(sum)
			}
			return h.goOn(ctx, sum, func(s *session) ([]assay.Event, error) { return given(s.study, configs, by) }, by, "")
		})
}

// given returns the event of given configurations, or an error if one is invalid.
func given(s *setup.Study, configs []assay.Config, by string) ([]assay.Event, error) {
	batch, err := study.NewBatch(s.Space, configs, by)
	return []assay.Event{{Given: batch}}, err
}

// Order has trials run before all others of their study, those that were ordered earlier too.
func (h *Host) Order(ctx context.Context, name string, trials []int64, by string) error {
	if s, err := h.external.find(ctx, name); s != nil && err == nil {
		return noQueue(name)
	}
	return h.either(ctx, name, func(s *session) error {
		priority := h.nextFirst(s)
		if err := s.helm.Order(ctx, priority, by, trials...); err != nil {
			return err
		}
		for _, id := range trials {
			h.o.Fleet.Prioritise(name, id, priority)
		}
		return nil
	}, h.idleError)
}

// Restore undoes the effect of Order and Withdraw on trials that have not begun, see [study.Control.Restore].
func (h *Host) Restore(ctx context.Context, name string, trials []int64, by string) error {
	if s, err := h.external.find(ctx, name); s != nil && err == nil {
		return noQueue(name)
	}
	return h.either(ctx, name, func(s *session) error {
		if err := s.helm.Restore(ctx, by, trials...); err != nil {
			return err
		}
		for _, id := range trials {
			h.o.Fleet.Prioritise(name, id, 0)
		}
		return nil
	}, h.idleError)
}

// A Discarded is a withdrawn trial of a running study that can be restored.
type Discarded struct {
	Study  string
	Config string // the values of the parameters, as text
	study.Discard
}

// Discarded returns the trials that can be restored, by study, the earliest first.
func (h *Host) Discarded() (all []Discarded) {
	h.mu.Lock()
	var sessions []*session
	for _, s := range h.active {
		select {
		case <-s.opened:
			if s.openErr == nil {
				sessions = append(sessions, s)
			}
		default:
		}
	}
	h.mu.Unlock()
	slices.SortFunc(sessions, func(a, b *session) int { return cmp.Compare(a.name, b.name) })
	for _, s := range sessions {
		for _, d := range s.helm.Discarded() {
			all = append(all, Discarded{s.name, queue.ConfigText(s.values(d.Config)), d})
		}
	}
	return all
}

// Withdraw takes trials back, see [study.Control.Withdraw]. It waits for those that run to end.
func (h *Host) Withdraw(ctx context.Context, name string, trials []int64, by, reason string) error {
	if s, err := h.external.find(ctx, name); s != nil && err == nil {
		return h.external.withdraw(ctx, s, trials, by, reason)
	}
	return h.either(ctx, name,
		func(s *session) error { return s.helm.Withdraw(ctx, by, reason, trials...) }, h.idleError)
}
