package study

import (
	"context"
	"time"

	"github.com/assay-run/assay"
)

// raceShare is the largest part of the time budget that is kept back for the race at the end, and racePart the part
// for each per cent of noise: with more noise, knowing the best gains more than trying one more configuration.
const (
	raceShare = 0.3
	racePart  = 0.03
)

// checkShare is the largest part of the time budget that is kept back for the
// repeated runs at the end, if CheckShare is not set. A search that has found nothing better than its first
// trial keeps nothing back.
const checkShare = 0.2

// sequentialRaces is how many runs a Sequential study makes again at least whose race is not timed.
const sequentialRaces = 5

// leastPairs is how many pairs of runs it takes to show a difference at 95 % (see stats.CompareShift).
const leastPairs = 4

// A racer has trials run again: the part of the loop that does not take one run for the truth. It decides which run
// is made again, while the search goes on and when it has ended.
type racer struct {
	*session
	limits  limits
	runs    rerunner
	took    durations
	contest contenders
	front   lacking
	final   finals
	duel    duellists
	pairs   pairs
	thrift  *thrift
	short   string           // why there are fewer checks than were wanted, or ""
	spoilt  []assay.Proposal // trials to be run again, by others than the worker that has drifted
	redoing map[int64]bool   // of those, that run
}

// limits bound the race.
type limits interface {
	budget() Budget
	// interrupted reports whether a person has ended the study, or has the search go on. It returns when no pause
	// holds the study.
	interrupted(ctx context.Context) bool
	exhausted() bool // nothing may run again
	timed() bool     // nothing but the time budget bounds the race
	pressed() bool   // repeated runs take their time from the search
}

// A rerunner runs trials once more, and takes their outcomes.
type rerunner interface {
	// again runs a trial outside the search and returns its outcome. stopper may be nil, and no rule ends it then.
	again(ctx context.Context, t assay.Trial, left time.Duration, stopper assay.Stopper) outcome
	settleAgain(ctx context.Context, o outcome) error
	// compared records a run that compares the best with the first.
	compared(ctx context.Context, t assay.Trial) error
	repeats(c assay.Config) bool // a configuration runs again
}

// durations has how long runs are likely to take.
type durations interface {
	typical(c assay.Config) time.Duration
	least() time.Duration // besides the run itself
}

// contenders are the configurations that may be the best, see package race.
type contenders interface {
	doubt(busy func(assay.Config) bool) (t assay.Trial, ok bool)
	next() (t assay.Trial, ok bool)
	rule(c assay.Config) assay.Stopper
	noise() (share float64, quiet bool)
	counts() (trials, races int)
}

// lacking are the runs that the front of several objectives lacks.
type lacking interface {
	unconfirmed() (t assay.Trial, ok bool)
	unconfirmedTime() time.Duration
}

// finals are the runs that the leading configurations lack on the class of machines that the answer is for.
type finals interface {
	finalist() (t assay.Trial, ok bool)
	longestOfFinalists() time.Duration
	targetClass() string
}

// duellists are the best configuration and the first, which are compared in the end.
type duellists interface {
	best() *assay.Trial
	first() *assay.Trial
	holds(best assay.Trial) bool
	broke(t assay.Trial) bool
	checked(id int64) int
}

func newRacer(s *session, limits limits, runs rerunner, j *judge) *racer {
	return &racer{
		session: s, limits: limits, runs: runs, took: j.durations(), contest: j, front: j, final: j, duel: j, pairs: j,
		thrift: &j.thrift, redoing: map[int64]bool{},
	}
}

// confirms reports whether runs are repeated during the search: with a Stopper that compares others with them, and
// otherwise until the noise is known, which determines the reserve of the time budget.
func (r *racer) confirms() bool {
	if !r.racing() {
		return false
	}
	if r.Stopper != nil && r.Goal.Grows {
		return true
	}
	_, races := r.contest.counts()
	return r.limits.budget().Time > 0 && r.Check > 0 && races < 2
}

// doubtful returns the trial whose value no second run confirms; ok is false without one. It skips trials that are
// running again.
func (r *racer) doubtful() (t assay.Trial, ok bool) {
	if !r.confirms() {
		return t, false
	}
	return r.contest.doubt(r.runs.repeats)
}

// doubted returns the doubtful trial if it is to be run again before the search goes on.
func (r *racer) doubted() (t assay.Trial, ok bool) {
	t, ok = r.doubtful()
	return t, ok && r.affords(r.runTime(&t))
}

// affords reports whether repeated runs may take so much time, see [thrift].
func (r *racer) affords(more time.Duration) bool {
	return !r.limits.pressed() || more <= r.thrift.room(r.limits.budget().Time)
}

// race runs the leading configurations again, in turn, until the best is known, or only the reserve for the
// comparison with the first is left of the time budget. Without a time budget it makes Check runs, or a fifth of the
// trials if that is more.
//
// The runs are made one at a time, with any Parallel, for the reason given at check.
func (r *racer) race(ctx context.Context) error {
	if r.Goal.Several() && r.Race {
		return r.confirmFront(ctx)
	}
	if !r.racing() {
		return nil
	}
	for !r.limits.interrupted(ctx) && !r.limits.exhausted() {
		left := r.limits.budget().Time - r.checkReserve() - r.record.spent()
		if p, ok := r.toRedo(); ok && (r.limits.budget().Time <= 0 || left > 0) {
			r.redoing[p.ID] = true
			if err := r.runs.settleAgain(ctx, r.runs.again(ctx, assay.Trial{Proposal: p}, max(left, 0), nil)); err != nil {
				return err
			}
			continue
		}
		next, more := r.contest.next()
		if !more || r.limits.pressed() && r.thrift.limits(r.limits.budget().Time) && !r.thrift.races() {
			return nil
		}
		switch {
		case r.limits.budget().Time > 0 && left < next.Measurement.Elapsed+r.took.least(),
			!r.affords(next.Measurement.Elapsed + r.took.least()):
			return nil
		case !r.limits.timed() && r.enoughRaces():
			return nil
		}
		o := r.runs.again(ctx, next, max(left, 0), r.contest.rule(next.Config))
		if err := r.runs.settleAgain(ctx, o); err != nil {
			return err
		}
		if o.lost || o.trial.State == assay.Censored && !o.trial.Stopped() {
			return nil
		}
	}
	return nil
}

// enoughRaces reports whether as many runs were made again as a study makes whose race is not timed.
func (r *racer) enoughRaces() bool {
	trials, races := r.contest.counts()
	wanted := r.Check
	if r.Sequential {
		wanted = sequentialRaces
	}
	most := max(wanted, int(checkShare*float64(trials)))
	if r.Anywhere {
		most += finalists
	}
	return races >= most
}
