package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// defaultRetries is the default number of further attempts at a run whose outcome is unknown.
const defaultRetries = 2

// errSpent is the cause of the context of a run that waits or goes on when the study's time is spent.
var errSpent = fmt.Errorf("the study's time budget was spent: %w", assay.ErrLimit)

// trial runs one proposal to its final state.
//
// It runs in a goroutine of its own if trials run side by side. It reads the fields of the study that do not change,
// and the history by seen.
//
// Each attempt has the whole limit: a retry may overrun the budget by the time of the attempt before it.
//
// cancel ends ctx; the observer calls it.
func (r *runner) trial(ctx context.Context, cancel context.CancelCauseFunc, n launch) outcome {
	left := n.left
	t := assay.Trial{Proposal: n.Proposal, Value: math.Inf(1), Started: r.clock.Now()}
	job, err := r.Command(n.Config)
	if err != nil {
		return outcome{trial: t, err: err}
	}
	job.ID, job.Interval, job.Priority = n.id, r.seen.interval(job.Interval), n.priority
	if job.Setup != nil && left > 0 {
		within := *job.Setup
		within.Left = left
		job.Setup = &within
	}
	cut := left > 0 && (job.Limit == 0 || left < job.Limit)
	if cut {
		job.Limit = left
	}
	if q, ok := r.Runner.(assay.Queuer); ok && q.Queues() && left > 0 {
		over := time.AfterFunc(left, func() { cancel(errSpent) })
		defer over.Stop()
	}
	retries := r.Retries
	if retries == 0 {
		retries = defaultRetries
	}
	for {
		if t.Attempts > 0 && !r.gate.pass(ctx) {
			return outcome{trial: t, lost: true}
		}
		t.Attempts++
		job.ID.Attempt = t.Attempts
		var audit *assay.Decision
		t.Measurement, err = r.Runner.Run(ctx, job, r.observer(n.stopper, t, cancel, &audit))
		t.Decision = audit
		if !unknown(ctx, err) || t.Attempts > retries {
			break
		}
	}
	t.Ended = r.clock.Now()
	return verdict(ctx, r.Goal, t, job.Limit, cut, err)
}

// observations is how often a run is observed in the time of the best one, so that a run is stopped soon after it
// reaches the value of its stop.
const observations = 40

// unknown reports whether an error of a Runner leaves the outcome of the run open, so that another attempt may find
// it. A run that was cancelled or that reached its limit has its outcome.
func unknown(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, assay.ErrLimit) && !hopeless(err)
}

// hopeless reports whether every attempt will end in the same error: the program does not exist or may not be run,
// its requirements cannot be set up, or there was no time for it.
func hopeless(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, assay.ErrSetup) ||
		errors.Is(err, assay.ErrUnbegun)
}

// exhausted reports whether an error of a Runner means that the machine lacks a resource that does not depend on the
// configuration: descriptors, processes or memory.
func exhausted(err error) bool {
	for _, e := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// observer returns the callback that asks stopper about the running trial t and cancels its run, or nil if nothing
// can stop it: without a stopper, or if the metric may fall again, so that the value so far does not predict the
// final one.
//
// The Runner calls it, from one goroutine at a time. The first decision to stop is the one that counts, and the first
// one of an audit goes to audit. It skips a measurement without the metric.
func (r *runner) observer(stopper assay.Stopper, t assay.Trial, cancel context.CancelCauseFunc,
	audit **assay.Decision,
) func(assay.Measurement) {
	f, follows := stopper.(assay.CurveStopper)
	follows = follows && f.Follows()
	if stopper == nil || !r.Goal.Grows && !follows {
		return nil
	}
	stopped := false
	return func(m assay.Measurement) {
		v, err := r.Goal.Value(m)
		if stopped || err != nil || follows && m.Curve.Last() == 0 {
			return
		}
		now := t
		now.Measurement, now.Value = m, v
		now, factor := r.seen.asSeen(now)
		past, ok := r.seen.past()
		if !ok {
			return
		}
		d := stopper.Decide(past, now)
		d.Predicted *= factor
		switch {
		case d.Stop:
			stopped = true
			d.At, d.Last = m.Elapsed, !r.Goal.Grows
			cancel(&stopError{d})
		case d.Audited && *audit == nil:
			d.At = m.Elapsed
			*audit = &d
		}
	}
}

// stopError is ErrStopped with the decision that caused it. It is the cause of the
// cancelled context, and comes back as the error of the Runner.
type stopError struct{ assay.Decision }

func (e *stopError) Error() string        { return ErrStopped.Error() + ": " + e.Reason }
func (e *stopError) Is(target error) bool { return target == ErrStopped }

// verdict turns the Runner's result into the trial's final state; see the table in the package comment. cut is true
// if the limit was the time budget.
//
// The order of the cases matters. A stop is looked for first, since it cancels the context: it would pass for an
// interruption. A limit comes before the exit code, which is the code of the signal that ended the run. A failure
// beside the program comes before the program's own result, which then means nothing.
func verdict(ctx context.Context, goal assay.Goal, t assay.Trial, limit time.Duration, cut bool, err error) outcome {
	m := t.Measurement
	if errors.Is(err, errSpent) {
		if m.Elapsed == 0 { // it was still waiting: nothing was learned
			return outcome{trial: t, lost: true}
		}
		cut = true
	}
	value, verr := goal.Value(m)
	var stop *stopError
	switch {
	case errors.As(err, &stop):
		if verr != nil { // growing metrics are measured while the run goes on
			return outcome{trial: failed(t, verr.Error())}
		}
		t.State, t.Value, t.Reason, t.Decision = assay.Censored, value, stop.Reason, &stop.Decision
	case errors.Is(err, assay.ErrLimit) && m.Failure != nil && cut:
		return outcome{trial: t, lost: true}
	case m.Failure != nil && (err == nil || errors.Is(err, assay.ErrLimit)):
		t = failed(t, m.Failure.Reason)
	case errors.Is(err, assay.ErrLimit):
		t.Reason = "time limit of " + report.Duration(cmp.Or(limit, m.Elapsed)) + " reached"
		if cut {
			t.Reason = "the study's time budget was spent"
		}
		switch {
		case goal.Grows && verr == nil:
			t.State, t.Value = assay.Censored, value
		case cut:
			return outcome{trial: t, lost: true}
		default:
			t = failed(t, t.Reason)
		}
	case err != nil && ctx.Err() != nil, errors.Is(err, assay.ErrUnbegun):
		return outcome{trial: t, lost: true}
	case errors.Is(err, assay.ErrSetup):
		return outcome{trial: t, err: err}
	case exhausted(err):
		return outcome{trial: t, err: assay.WithHint(
			assay.Errorf(assay.ClassUnavailable, "trial %d could not be run: %w", t.ID, err),
			"ulimit -a shows the limits; the trial runs when the study is resumed")}
	case err != nil && hopeless(err):
		t = failed(t, err.Error())
	case err != nil:
		t = failed(t, fmt.Sprintf("outcome unknown after %d attempts: %v", t.Attempts, err))
	case m.ExitCode != 0:
		t = failed(t, exitReason(m))
	case verr != nil:
		t = failed(t, verr.Error())
	default:
		t.State, t.Value = assay.Done, value
		if broken, err := goal.Broken(m); err != nil {
			t = failed(t, err.Error())
		} else if broken != "" {
			t.State, t.Reason = assay.Infeasible, breaks(goal, m)
		} else if below := goal.Beneath(t.Config); below != "" {
			t.State, t.Reason = assay.Infeasible, below
		} else if t.Decision != nil {
			t.Reason = t.Decision.Reason
		}
	}
	return outcome{trial: t}
}

// breaks returns the reason of a trial that breaks limits. The text is for people: it is stored, and never read back.
func breaks(goal assay.Goal, m assay.Measurement) string {
	var texts []string
	for _, b := range goal.AllBroken(m.Metric) {
		texts = append(texts, b.Text)
	}
	return "breaks " + strings.Join(texts, ", ")
}

// failed returns t as a failed trial. Its measurement stays, for people to read, with the
// last lines of the output.
func failed(t assay.Trial, reason string) assay.Trial {
	t.State, t.Value, t.Reason = assay.Failed, math.Inf(1), reason
	if m := &t.Measurement; m.Failure == nil {
		m.Failure = assay.NewFailure("run", reason, m.Stdout, m.Stderr)
	}
	return t
}
