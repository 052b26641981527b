package service

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// A session is a running study.
type session struct {
	name    string
	opened  chan struct{} // closed when the fields below are set, or openErr
	openErr error
	study   *setup.Study
	journal *study.Journal
	helm    *study.Control
	runner  *queue.Runner
	app     string
	class   string
	cancel  context.CancelCauseFunc

	done   chan struct{} // closed when it has ended, and result and err are set
	result study.Result
	err    error

	// The Host guards the fields below.
	stopping bool
	paused   bool
	priority int
	budget   spec.Budget // the limits that hold
	first    int         // the greatest priority of a trial so far
}

// obey applies a steering event.
func (s *session) obey(d assay.StudyCommand) {
	switch d.Do {
	case "run", "pause":
		s.paused = d.Do == "pause"
	case "priority":
		s.priority = d.Priority
	case "budget":
		s.budget.Trials = cmp.Or(d.Trials, s.budget.Trials)
		s.budget.Time = cmp.Or(d.Time, s.budget.Time)
	}
}

// errStopped is the cause of a study that a person has stopped.
var errStopped = assay.Errorf(assay.ClassConflict, "the study was stopped")

// elsewhere is the runner of a study that is being opened: its programs need not be installed here.
type elsewhere struct{}

// Run implements [assay.Runner].
func (elsewhere) Run(context.Context, assay.Job, func(assay.Measurement)) (assay.Measurement, error) {
	return assay.Measurement{}, errors.New("a study that is only opened has no runs")
}

// start opens a study and runs it. first, which may be nil, returns the events to record before that. A nil def means
// the definition on record. If the study is already running, start returns nil unless it has events to record.
func (h *Host) start(ctx context.Context, name string, def *spec.Study,
	first func(*session) ([]assay.Event, error),
) error {
	s, mine, err := h.enter(ctx, name)
	if err != nil {
		return err
	}
	if !mine {
		if first != nil {
			return errRunning
		}
		return nil
	}
	s.openErr = h.open(ctx, s, def, first)
	close(s.opened)
	if s.openErr != nil {
		err := s.openErr
		if h.leave(s, false); errors.Is(err, assay.ErrLocked) && h.mark(name, true) {
			h.o.warner(name)(err.Error() + "; it is left to them")
		}
		return err
	}
	h.mark(name, false)
	h.mu.Lock()
	delete(h.results, name)
	h.mu.Unlock()
	h.wg.Go(func() { h.run(s) })
	return nil
}

// errRunning is the error of starting a running study.
var errRunning = assay.Errorf(assay.ClassConflict, "the study is running")

// enter returns the session of a study, and whether it is a new one, which the caller opens. If the study is being
// stopped, enter waits for that.
func (h *Host) enter(ctx context.Context, name string) (s *session, mine bool, err error) {
	for {
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			return nil, false, errClosing
		}
		s = h.active[name]
		if s == nil {
			s = &session{name: name, opened: make(chan struct{}), done: make(chan struct{})}
			h.active[name] = s
			h.mu.Unlock()
			return s, true, nil
		}
		stopping := s.stopping
		h.mu.Unlock()
		wait := s.opened
		if stopping {
			wait = s.done
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
		if !stopping && s.openErr == nil {
			return s, false, nil
		}
		<-s.done
	}
}

// leave removes a session. If it ran, its result is kept.
func (h *Host) leave(s *session, ran bool) {
	h.mu.Lock()
	delete(h.active, s.name)
	if ran {
		h.results[s.name] = outcome{s.result, s.err}
	}
	h.mu.Unlock()
	close(s.done)
}

// open prepares a study for running. If that fails, it closes the resources that it opened.
func (h *Host) open(ctx context.Context, s *session, def *spec.Study,
	first func(*session) ([]assay.Event, error),
) (err error) {
	stored, err := h.o.Store.Definition(ctx, s.name)
	if err != nil {
		return err
	}
	s.budget = stored.Budget
	if def == nil {
		def = stored
	}
	p, err := h.problem(def, s.name)
	if err != nil {
		return err
	}
	s.study, err = p.Study(ctx, h.o.Store, s.name)
	if errors.Is(err, assay.ErrLocked) {
		return assay.Errorf(assay.ClassConflict, "study %s is run by another process: %w", s.name, err)
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.study.Close())
		}
	}()
	s.helm = study.NewControl()
	s.study.Control, s.study.Patience = s.helm, h.o.Patience
	s.guard(h)
	if s.journal, err = s.study.Journal(ctx); err != nil {
		return err
	}
	for _, e := range s.journal.Past() {
		if e.Steered != nil {
			s.obey(*e.Steered)
		}
	}
	if first != nil {
		events, err := first(s)
		if err == nil && len(events) > 0 {
			err = s.journal.Append(ctx, events...)
		}
		if err != nil {
			return err
		}
	}
	return s.join(h, def)
}

// problem checks a definition of a study that a fleet runs.
func (h *Host) problem(def *spec.Study, name string) (*setup.Problem, error) {
	if def.Mode() != spec.ModeCommand {
		return nil, assay.Errorf(assay.ClassUsage, "a server runs commands: this study is one of a %v", def.Mode())
	}
	return setup.New(def, setup.Options{Warn: h.o.warner(name), Runner: elsewhere{}})
}

// guard protects other studies from the parts of this one.
func (s *session) guard(h *Host) {
	st, warn := s.study, h.o.warner(s.name)
	if h.o.wrap != nil {
		st.Searcher = h.o.wrap(s.name, st.Searcher)
	}
	st.Searcher = &guarded{Searcher: st.Searcher, turns: h.turns, study: s.name, warn: warn}
	if st.Stopper != nil {
		st.Stopper = guardedStopper{st.Stopper, s.name, warn}
	}
	command := st.Command
	st.Command = func(c assay.Config) (j assay.Job, err error) {
		err = safely(warn, "the command of study "+s.name, func() (err error) {
			j, err = command(c)
			return err
		})
		return j, err
	}
}

// join registers the study with the fleet, in the state on record.
func (s *session) join(h *Host, def *spec.Study) (err error) {
	past := s.journal.Past()
	for _, e := range past {
		switch {
		case e.Steered != nil: // once more, with the added limits
			s.obey(*e.Steered)
		case e.Ordered != nil:
			s.first = max(s.first, e.Ordered.Priority)
		}
	}
	s.app, s.class = placed(def)
	s.runner, err = h.o.Fleet.Join(queue.Study{
		Name: s.name, App: s.app, MachineClass: s.class, Priority: s.priority, Parallel: def.Parallel,
		Record: s.journal, Past: past, Opened: s.journal.Opened,
		Values: s.values,
	})
	if err != nil {
		return err
	}
	s.study.Runner = s.runner
	s.runner.Hold(s.paused)
	return nil
}

// values returns the texts of the parameters by their names.
func (s *session) values(c assay.Config) map[string]string {
	values := make(map[string]string, len(c))
	for i, p := range s.study.Space.Params {
		if s.study.Space.Active(c, i) {
			values[p.Name] = p.Text(c[i])
		}
	}
	return values
}

// placed returns the application and the class of machines of a definition.
func placed(def *spec.Study) (app, class string) {
	return cmp.Or(def.App, queue.Commands), cmp.Or(def.Placement.Class, queue.ClassSame)
}

// run runs a session to its end.
func (h *Host) run(s *session) {
	ctx, cancel := context.WithCancelCause(h.ctx)
	defer cancel(nil)
	h.mu.Lock()
	s.cancel = cancel
	if s.stopping {
		cancel(errStopped)
	}
	h.mu.Unlock()
	over := make(chan struct{})
	go func() {
		select {
		case <-over:
		case <-s.journal.Broken():
			// The outcomes of the runs cannot be recorded. Their workers keep them until the study is resumed. If another
			// process has the study, the runs have no use.
			if !errors.Is(s.journal.Err(), assay.ErrConflict) {
				cancel(assay.ErrDetached)
			}
		}
	}()
	s.err = safely(h.o.warner(s.name), "study "+s.name, func() (err error) {
		s.result, err = s.study.Study.Run(ctx)
		return err
	})
	close(over)
	if err := s.journal.Err(); err != nil && errors.Is(s.err, assay.ErrDetached) {
		s.err = err
	}
	if !errors.Is(s.err, assay.ErrDetached) {
		if err := s.runner.End(h.ctx); err != nil {
			h.o.warner(s.name)("attempts at workers are not booked: " + err.Error())
		}
	}
	s.runner.Close()
	if err := s.study.Close(); err != nil {
		h.o.warner(s.name)(err.Error())
	}
	if s.err != nil && !errors.Is(s.err, assay.ErrDetached) && !errors.Is(s.err, study.ErrInterrupted) {
		h.o.warner(s.name)("it has ended: " + s.err.Error())
	}
	if !errors.Is(s.err, assay.ErrDetached) {
		h.o.Store.Remember(h.ctx)
	}
	h.leave(s, true)
}

// nextFirst returns a priority above the priorities of all ordered trials of a study.
func (h *Host) nextFirst(s *session) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.first < math.MaxInt32 {
		s.first++
	}
	return s.first
}
