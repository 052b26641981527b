package study

import (
	"context"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// raceShare is the largest part of the time budget that is kept back for the race at the
// end, and racePart what is kept back for each per cent of noise: the noisier the runs, the
// less is gained by trying one more configuration than by knowing which is best.
const (
	raceShare = 0.3
	racePart  = 0.03
)

// checkShare is the largest part of the time budget that is kept back for the
// repeated runs at the end. A search that has found nothing better than its first
// trial keeps nothing back.
const checkShare = 0.2

// leastPairs is how many pairs of runs it takes to show a difference at 95 % (see stats.CompareShift).
const leastPairs = 4

// confirms reports whether runs are to be made again while the search goes on: where a
// Stopper compares others with them, and elsewhere until the noise is known, which says how
// much of a time budget is to be kept back.
func (l *loop) confirms() bool {
	if !l.racing() {
		return false
	}
	if l.Stopper != nil && l.Goal.Grows {
		return true
	}
	return l.Budget.Time > 0 && l.Check > 0 && l.judge.raced() < 2
}

// doubted returns the trial that is to be run again before the search goes on; ok is false if
// there is none. Those that run again already are passed over.
func (l *loop) doubted() (t assay.Trial, ok bool) {
	if !l.confirms() {
		return t, false
	}
	return l.judge.doubt(func(c assay.Config) bool {
		return slices.ContainsFunc(l.running, func(r Running) bool { return r.Again && r.Config.Equal(c) })
	})
}

// searching returns how many of the runs in flight are trials.
func (l *loop) searching() (n int) {
	for _, r := range l.running {
		if !r.Again {
			n++
		}
	}
	return n
}

// settleAgain records a run that was made again. One that the end of the budget cut off is
// forgotten: it says less than the runs that there are.
func (l *loop) settleAgain(ctx context.Context, o outcome) error {
	if o.lost || o.err != nil || o.trial.State == assay.Censored && !o.trial.Stopped() {
		if l.redoing[o.trial.ID] && o.err == nil && ctx.Err() == nil {
			l.redone(o.trial.ID) // there was no time for it
		}
		return o.err
	}
	o.trial.Measurement.Stdout, o.trial.Measurement.Stderr = nil, nil
	l.judge.recheck(o.trial, true)
	l.runs.began(o.trial.Config)
	l.judge.choose()
	redone := l.redoing[o.trial.ID] && l.redone(o.trial.ID)
	err := l.keep(ctx, assay.Event{Checked: &o.trial, Race: true, Redone: redone})
	l.notify(false)
	if err == nil && redone {
		err = l.tellRedone(o.trial)
	}
	if err != nil {
		return err
	}
	return l.lookForDrift(ctx)
}

// again runs a trial once more, outside the search, and returns its outcome. stopper may be
// nil, and no rule ends it then.
func (l *loop) again(ctx context.Context, t assay.Trial, left time.Duration, stopper assay.Stopper) outcome {
	l.begin(ctx, t.Proposal, true, l.runs.check(l.Name, t.Proposal), left, stopper)
	for {
		o, what := l.wait(ctx)
		switch what {
		case ended:
		case drained:
			l.endedBy = "interrupt"
			continue
		case roomy:
			continue
		}
		l.running = l.running[:0]
		o.trial.ID = t.ID
		if detached(ctx) {
			o.lost = true
		}
		return o
	}
}

// race runs the leading configurations again, in turn, until it is known which is best,
// what is left of the time budget is for the comparison with the first, or, unless it is
// timed, as many runs were made as Check says, or a fifth of the trials if that is more.
//
// The runs are made one at a time, whatever Parallel is, for the reason given at check.
func (l *loop) race(ctx context.Context) error {
	if l.Goal.Several() && l.Race {
		return l.confirmFront(ctx)
	}
	if !l.racing() {
		return nil
	}
	for !l.interrupted(ctx) && !l.exhausted() {
		left := l.Budget.Time - l.checkReserve() - l.spent()
		if p, ok := l.toRedo(); ok && (l.Budget.Time <= 0 || left > 0) {
			l.redoing[p.ID] = true
			if err := l.settleAgain(ctx, l.again(ctx, assay.Trial{Proposal: p}, max(left, 0), nil)); err != nil {
				return err
			}
			continue
		}
		next, more := l.judge.next()
		if !more {
			return nil
		}
		switch {
		case l.Budget.Time > 0 && left < next.Measurement.Elapsed+l.judge.beside():
			return nil
		case !l.timed() && l.judge.raced() >= l.mostRaces():
			return nil
		}
		o := l.again(ctx, next, max(left, 0), l.judge.rule(next.Config))
		if err := l.settleAgain(ctx, o); err != nil {
			return err
		}
		if o.lost || o.trial.State == assay.Censored && !o.trial.Stopped() {
			return nil
		}
	}
	return nil
}

// timed reports whether nothing but the time budget bounds the race: where the search has used its part of it, or has
// tried all there is. A study that ended because of something else, such as its number of trials, need not use up its time.
func (l *loop) timed() bool {
	return l.Budget.Time > 0 && (l.endedBy == "budget" || l.endedBy == "search")
}

// mostRaces is how many runs a study makes again whose race is not timed.
func (l *loop) mostRaces() int {
	most := max(l.Check, int(checkShare*float64(l.judge.size())))
	if l.Anywhere {
		most += finalists
	}
	return most
}

// reserve returns the time kept back for the repeated runs at the end. It changes
// with every better trial, so what is left can grow as well as shrink.
func (l *loop) reserve() time.Duration {
	if l.Goal.Several() {
		return l.frontReserve()
	}
	reserve := l.checkReserve() + l.finalReserve()
	if noise, quiet := l.judge.noise(); l.racing() && l.Check > 0 && !quiet {
		share := min(raceShare, racePart*100*noise)
		reserve += time.Duration(share * float64(l.Budget.Time))
	}
	return reserve
}

// lasted is how long runs took, kept as they end: what is left of the budget is asked for at every step.
type lasted struct {
	roll *assay.Roll
	// once is how long the run of a configuration took, by its number; 0 if it has none, or less than 0 if it has
	// several, which are in runs, the shortest first.
	once []time.Duration
	runs map[int][]time.Duration
	// any is whether there is a run.
	any bool
	// beside is what a trial that is done takes besides its own time, such as the start of a service: the
	// least of all, since one may have waited for what is made once. It is known once runs has an entry.
	beside time.Duration
}

// trial takes in a trial of the search.
func (d *lasted) trial(t assay.Trial) {
	if t.State != assay.Done {
		return
	}
	beside := max(0, t.Ended.Sub(t.Started)-t.Measurement.Elapsed)
	if !d.any || beside < d.beside {
		d.beside = beside
	}
	d.run(t)
}

// run takes in a run, which may be one that was made again, however it ended.
func (d *lasted) run(t assay.Trial) {
	if d.roll == nil {
		d.roll = &assay.Roll{}
	}
	d.any = true
	took := max(t.Measurement.Elapsed, 1)
	once := slot(&d.once, d.roll, t.Config)
	if *once == 0 {
		*once = took
		return
	}
	n, _ := d.roll.Find(t.Config)
	if d.runs == nil {
		d.runs = map[int][]time.Duration{}
	}
	if *once > 0 {
		d.runs[n], *once = []time.Duration{*once}, -1
	}
	i, _ := slices.BinarySearch(d.runs[n], took)
	d.runs[n] = slices.Insert(d.runs[n], i, took)
}

// typical returns how long a run of a configuration is to be expected to take: the upper quartile of
// its runs, which of few is the longest. The shortest is partly luck, and of many the longest is too.
func (d *lasted) typical(c assay.Config) time.Duration {
	once := at(d.once, d.roll, c)
	if once >= 0 {
		return once
	}
	n, _ := d.roll.Find(c)
	runs := d.runs[n]
	return runs[len(runs)*3/4]
}

// checkReserve returns the time kept back for the comparison of the best with the first:
// what the runs that it lacks will take, as far as that is known, within checkShare of the
// budget.
func (l *loop) checkReserve() time.Duration {
	if l.Check <= 0 {
		return 0
	}
	best, first := l.judge.best(), l.judge.first()
	if best == nil || first == nil || best.ID == first.ID {
		return 0
	}
	// A run before these that is cut off at what is left takes as long besides.
	beside := l.judge.beside()
	pair := l.judge.typical(best.Config) + l.judge.typical(first.Config) + 2*beside
	most := time.Duration(checkShare * float64(l.Budget.Time))
	need := func(pairs int) time.Duration { return time.Duration(min(pairs, l.Check))*pair + beside }
	if _, quiet := l.judge.noise(); l.racing() && quiet {
		// Runs are alike, and none needs to be spared: either there is time for as many as can show a
		// difference, or one pair says whether the best still works.
		if need(leastPairs) > most {
			return min(need(1), most)
		}
		return need(leastPairs)
	}
	return min(need(l.Check), most)
}
