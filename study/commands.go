package study

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// Errors of a [Control].
var (
	// ErrOver reports that the session has ended, or ends: the command was not carried out.
	ErrOver = assay.Errorf(assay.ClassUnavailable, "the session of the study has ended")
	// errWithdrawn is the cause of a run that was withdrawn.
	errWithdrawn = assay.Errorf(assay.ClassConflict, "withdrawn")
)

// A Control steers a study while it runs. It is safe for concurrent use. A command waits for the session to begin,
// and until the loop has time for it; it returns nil once it is durable and in force. A command that returns
// [ErrOver] has changed nothing. If ctx is done first it returns the cause, and the outcome of the command is not
// known.
//
// Set [Study.Control] to a Control of its own before Run. A study with a Control also obeys the steering on record,
// see [assay.StudyCommand]: it is paused if it was, and has the budget that it was given last. Without a Control the
// fields of the Study decide.
type Control struct {
	commands chan command
	over     chan struct{} // closed when the session has ended
	close    sync.Once

	mu        sync.Mutex
	discarded []Discard // that can be restored, the earliest first
}

// A command is done by the loop. answer is called once, by the loop too, now or later.
type command struct {
	do     func(ctx context.Context, l *loop, answer func(error))
	answer chan error
}

// NewControl returns the control of one session.
func NewControl() *Control { return &Control{commands: make(chan command), over: make(chan struct{})} }

// command has the loop do something and returns its answer.
func (h *Control) command(ctx context.Context, do func(ctx context.Context, l *loop, answer func(error))) error {
	c := command{do, make(chan error, 1)}
	select {
	case h.commands <- c:
	case <-h.over:
		return ErrOver
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-c.answer:
		return err
	case <-h.over:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select { // it may have been answered before the session ended
	case err := <-c.answer:
		return err
	default:
		return ErrOver
	}
}

// end informs all present and future waiters that the session is over.
func (h *Control) end() { h.close.Do(func() { close(h.over) }) }

// Withdraw takes trials back: they are withdrawn, and do not count against a budget of trials. A trial that runs is
// ended first. A trial that has ended meanwhile keeps its result, and the error names it; the others are withdrawn.
//
// A trial that is not known, or that has ended, is an error of the class not found or conflict, and nothing is
// withdrawn.
func (h *Control) Withdraw(ctx context.Context, by, reason string, trials ...int64) error {
	trials = unique(trials)
	return h.command(ctx, func(ctx context.Context, l *loop, answer func(error)) {
		l.withdraw(ctx, trials, by, reason, answer)
	})
}

// Enqueue enqueues configurations as the next proposals, as [assay.Enqueuer] does. They are run also when the budget of
// trials is used up, but not when the time budget is. It is an error of the class usage, and nothing is enqueued, if
// one is not admissible.
func (h *Control) Enqueue(ctx context.Context, by string, configs ...assay.Config) error {
	return h.command(ctx, func(ctx context.Context, l *loop, answer func(error)) {
		answer(l.give(ctx, configs, by))
	})
}

// Order moves waiting trials before those of less priority; see [assay.Job.Priority]. Errors are as for Withdraw. A
// job that the Runner has begun to look at changes its place only if the Runner supports that.
func (h *Control) Order(ctx context.Context, priority int, by string, trials ...int64) error {
	trials = unique(trials)
	return h.command(ctx, func(ctx context.Context, l *loop, answer func(error)) {
		answer(l.ask.order(ctx, trials, priority, by))
	})
}

// Pause starts nothing until Resume. Runs that are alive go on. The time of a pause is not spent.
func (h *Control) Pause(ctx context.Context, by, reason string) error {
	return h.command(ctx, func(ctx context.Context, l *loop, answer func(error)) {
		answer(l.steer(ctx, assay.StudyCommand{Do: steerPause, By: by, Reason: reason}))
	})
}

// Resume ends a pause.
func (h *Control) Resume(ctx context.Context, by, reason string) error {
	return h.command(ctx, func(ctx context.Context, l *loop, answer func(error)) {
		answer(l.steer(ctx, assay.StudyCommand{Do: steerRun, By: by, Reason: reason}))
	})
}

// SetBudget changes the limits of the study; 0 leaves one as it is. A search that had reached its limit is resumed.
func (h *Control) SetBudget(ctx context.Context, trials int, limit time.Duration, by, reason string) error {
	return h.command(ctx, func(ctx context.Context, l *loop, answer func(error)) {
		answer(l.steer(ctx, assay.StudyCommand{Do: steerBudget, Trials: trials, Time: limit, By: by, Reason: reason}))
	})
}

// The actions of a StudyCommand that the loop obeys.
const (
	steerRun    = "run"
	steerPause  = "pause"
	steerBudget = "budget"
)

func unique(ids []int64) []int64 {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// NewBatch returns configurations that a person gives to a study of a space. It is an error of
// the class usage if there are none, or if one is not admissible.
func NewBatch(space *assay.Space, configs []assay.Config, by string) (*assay.Batch, error) {
	if len(configs) == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "no configurations were given")
	}
	b := &assay.Batch{Configs: make([]assay.Config, len(configs)), By: by}
	for i, c := range configs {
		member := false
		if len(c) == space.Dim() {
			b.Configs[i], member = space.Member(c)
		}
		if !member {
			return nil, assay.Errorf(assay.ClassUsage, "configuration %d of %d is not in the study's space: %s", i+1,
				len(configs), text(space, c))
		}
		b.Configs[i] = b.Configs[i].Clone()
	}
	return b, nil
}

// text writes a configuration for people, also one of another space.
func text(s *assay.Space, c assay.Config) string {
	if len(c) != s.Dim() {
		return fmt.Sprintf("it has %d values for %d parameters", len(c), s.Dim())
	}
	return s.Text(c)
}

// give records configurations that a person gave and hands them to the searcher. A search that had ended goes on
// for them.
func (l *loop) give(ctx context.Context, configs []assay.Config, by string) error {
	err := l.ask.give(ctx, configs, by)
	if err == nil {
		l.control.given(l.ask.owes() > 0)
	}
	return err
}

// restore undoes orders and withdrawals. A search that had ended goes on for restored trials.
func (l *loop) restore(ctx context.Context, trials []int64, by string) error {
	given, err := l.ask.restore(ctx, trials, by)
	if given {
		l.control.given(l.ask.owes() > 0)
	}
	return err
}

// steer records a decision about the study and obeys it.
func (l *loop) steer(ctx context.Context, s assay.StudyCommand) error {
	changed, err := l.control.steer(ctx, s)
	if changed {
		l.notify(false)
	}
	return err
}

// withdraw takes trials back: waiting ones at once, in one step, and running ones when they have ended.
func (l *loop) withdraw(ctx context.Context, trials []int64, by, reason string, answer func(error)) {
	if err := l.ask.unended(trials); err != nil {
		answer(err)
		return
	}
	var now []withdrawal
	var later []int64
	for _, id := range trials {
		if p, open := l.ask.find(id); open {
			now = append(now, withdrawal{p, assay.Withdrawal{Trial: id, By: by, Reason: reason}})
		} else {
			later = append(later, id)
		}
	}
	if err := l.takeBack(ctx, now...); err != nil {
		answer(err)
		return
	}
	left, kept := len(later), []int64(nil)
	if left == 0 {
		answer(nil)
		return
	}
	for _, id := range later {
		l.run.withdraw(assay.Withdrawal{Trial: id, By: by, Reason: reason}, func(err error) {
			if err != nil {
				kept = append(kept, id)
			}
			if left--; left > 0 {
				return
			}
			if len(kept) > 0 {
				err = assay.Errorf(assay.ClassConflict, "trials %v had ended before they could be withdrawn", kept)
			}
			answer(err)
		})
	}
}

// takeBack records withdrawals and passes them to the searcher, as a replay does.
func (l *loop) takeBack(ctx context.Context, ws ...withdrawal) error {
	if len(ws) == 0 {
		return nil
	}
	events := make([]assay.Event, len(ws))
	for i := range ws {
		events[i].Withdrawn = &ws[i].Withdrawal
	}
	if err := l.record.keep(ctx, events...); err != nil {
		return err
	}
	for _, w := range ws {
		if err := l.takenBack(w); err != nil {
			return err
		}
	}
	l.notify(false)
	return nil
}

// takenBack takes in a withdrawal that is on record.
func (l *loop) takenBack(w withdrawal) error {
	l.run.forget(w.ID)
	return l.ask.takenBack(w)
}
