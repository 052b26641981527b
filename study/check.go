package study

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/stats"
)

// Refuted is a configuration that failed, or broke a limit, when it was run again.
type Refuted struct {
	Trial  assay.Trial   // its trial, which was done
	Broken []assay.Trial // the runs that failed or broke a limit, in the order they ended
	Runs   int           // how often it was run again
}

// check runs the best and the first configuration again, alternately, until
// each has been repeated Check times or the time budget is spent, so that the
// gain is stated from runs that the choice of the best did not depend on. The best
// of many trials is partly the luckiest: its own value promises too much.
//
// The runs are made one at a time, whatever Parallel is, so that neither
// configuration has the machine to itself when the other has not. They alternate, so
// that a machine that changes slowly changes for both. No stopper ends them. Those
// on record count: a session that goes on makes the rest.
//
// A best that fails when it is run again, or breaks a limit, gives its place to the next
// best one, which is run again in its stead. One that was not yet run again without such
// an end is not recommended then: see holds.
//
// Nothing is run if there is nothing to compare: no best trial, a first trial
// that did not end well or failed when it was run again, or one configuration.
func (l *loop) check(ctx context.Context) error {
	if l.Goal.Several() {
		return nil // a front has no best to compare
	}
	for {
		best, first := l.best, l.first
		if best == nil {
			return nil
		}
		next := best
		switch alone := first == nil || first.State != assay.Done || best.Config.Equal(first.Config) || l.broke(*first); {
		case alone && l.holds(*best): // there is nothing to compare
			return nil
		case alone:
		case l.checked(first.ID) < l.checked(best.ID):
			next = first
		}
		if l.checked(next.ID) >= l.Check || l.interrupted(ctx) {
			return nil
		}
		left := l.Budget.Time - l.spent()
		if l.Budget.Time > 0 && left < next.Measurement.Elapsed {
			l.short = fmt.Sprintf("of the time budget %v was left, less than a run takes",
				max(left, 0).Round(time.Millisecond))
			return nil
		}
		if l.exhausted() {
			l.short = fmt.Sprintf("the budget of %g hours of processors was spent", l.Budget.CPUHours)
			return nil
		}
		o := l.again(ctx, *next, max(left, 0), nil)
		if o.err != nil {
			return o.err
		}
		// Cut off by the end of the budget: half a run compares nothing.
		if o.lost || o.trial.State == assay.Censored {
			l.short = o.trial.Reason
			return nil
		}
		o.trial.Measurement.Stdout, o.trial.Measurement.Stderr = nil, nil
		l.recheck(o.trial, false)
		l.runs.began(next.Config)
		if err := l.keep(ctx, assay.Event{Checked: &o.trial}); err != nil {
			return err
		}
		l.choose()
		l.notify(false)
	}
}

// recheck takes note of a run that was made again: of the race, or to compare the best with
// the first.
func (l *loop) recheck(t assay.Trial, race bool) {
	switch {
	case race:
		l.races = append(l.races, t)
	default:
		l.checks = append(l.checks, t)
	}
	l.lasted.run(t)
	l.mu.Lock()
	defer l.mu.Unlock()
	if race {
		l.takeIn(t, raced)
	} else {
		l.takeIn(t, compared)
	}
}

// checked returns how many runs of a trial there are that compare the best with the first.
func (l *loop) checked(id int64) (n int) {
	for _, t := range l.checks {
		if t.ID == id {
			n++
		}
	}
	return n
}

// repeats returns the runs of a configuration that were made again.
func (l *loop) repeats(c assay.Config) (runs []assay.Trial) {
	for _, t := range slices.Concat(l.races, l.checks) {
		if t.Config.Equal(c) {
			runs = append(runs, t)
		}
	}
	return runs
}

// holds reports whether the best may be recommended. Where another was refuted before, it
// may if it was run again and did not fail: one that was not might fail too.
func (l *loop) holds(best assay.Trial) bool {
	refuted := l.refuted()
	if len(refuted) == 0 {
		return true
	}
	runs := l.repeats(best.Config)
	for t := range l.all(0) { // those of the search itself, if it repeats
		if t.State == assay.Done && t.ID != best.ID && t.Config.Equal(best.Config) {
			runs = append(runs, t)
		}
	}
	return slices.ContainsFunc(runs, func(t assay.Trial) bool { return t.State == assay.Done })
}

// refuted returns the configurations that failed when they were run again.
func (l *loop) refuted() (all []Refuted) {
	if l.racing == nil {
		return nil
	}
	for _, e := range l.answers().Refuted() {
		all = append(all, Refuted{e.Trial, e.Broken, len(l.repeats(e.Trial.Config))})
	}
	return all
}

// broke reports whether a configuration failed when it was run again.
func (l *loop) broke(t assay.Trial) bool {
	return slices.ContainsFunc(l.refuted(), func(r Refuted) bool { return r.Trial.Config.Equal(t.Config) })
}

// measured returns the median of the runs of the best, and their number.
func (l *loop) measured(best assay.Trial) (value float64, runs int) {
	if l.racing == nil {
		return best.Value, 1
	}
	e, _ := l.answers().Entrant(best.Config)
	values := e.Values
	for _, t := range l.checks {
		if t.State == assay.Done && t.Config.Equal(best.Config) {
			values = append(values, l.corrected(t).Value)
		}
	}
	return stats.Median(values), len(values)
}

// interrupted reports whether the user asked the study to end, or the search to go on, and sets
// endedBy for Drain; Run sets it for ctx. It returns when no pause holds the study.
func (l *loop) interrupted(ctx context.Context) bool {
	for l.paused && !l.reopened && l.failed() == nil {
		select {
		case <-ctx.Done():
			return true
		case <-l.Drain:
			l.endedBy = "interrupt"
			return true
		case <-l.journal.broken:
		case c := <-l.commands():
			l.carryOut(ctx, c)
		}
	}
	if l.reopened || l.failed() != nil {
		return true
	}
	select {
	case <-ctx.Done():
		return true
	case <-l.Drain:
		l.endedBy = "interrupt"
		return true
	default:
		return false
	}
}
