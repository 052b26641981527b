package study

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// quietPairs is how many pairs are made if runs are alike: the least number whose spread shows that they are.
const quietPairs = 3

// fewPairs is the least number of pairs that has an interval. The second pair may lack its run of the first
// configuration, which the search has run once. If there is no time for these runs, none is made.
const fewPairs = 2

// aloneRuns is the largest number of runs of the best configuration that are made without the first one, if that one
// takes too long to run again: as many as their spread needs. See [stats.CompareFew].
const aloneRuns = 4

// aloneGain is the least ratio of the two values for which time is kept back for these runs: they show no small gain.
const aloneGain = 2

// restPairs is how many pairs may take all of the time that the search left: as many as two looks need. A study that
// ends by its number of trials makes as many.
const restPairs = 12

// pairs has the results of the pairs of runs at the end.
type pairs interface {
	verdict() (Verdict, bool)
	comparing() time.Duration // all of their runs together
}

// nextOfPair returns the trial that runs next in the pairs that compare the best with the first configuration, nil if
// no further pair is to be made: a look at them has decided, or the time kept for them is spent. Which of a pair runs
// first is drawn, by the name of the study and the number of the pair alone: see [stats.CompareAtLook] for why.
func (r *racer) nextOfPair(best, first *assay.Trial) *assay.Trial {
	n, of := r.duel.checked(first.ID), r.duel.checked(best.ID)
	switch {
	case n == 0 && !r.affordsFew(of, best, first):
		return r.alone(of, best)
	case n < of:
		if of == fewPairs && !r.affordsRuns(n, r.runTime(first)) {
			return nil
		}
		return first
	case n > of:
		return best
	}
	if n >= r.Check || r.told(n) {
		return nil
	}
	if !r.affordsOr(n, r.pairTime(best, first), "a pair") {
		if n == fewPairs-1 && r.affordsRuns(n, r.runTime(best)) {
			return best // the run of the first is one of the search
		}
		return nil
	}
	h := fnv.New64a()
	h.Write([]byte(r.Name))
	if rand.New(rand.NewPCG(h.Sum64(), uint64(n))).IntN(2) == 0 {
		return first
	}
	return best
}

// alone returns the best configuration if it is to run once more without the first one, after n such runs: until the
// verdict has an interval. The only run of the first is one of the search then.
func (r *racer) alone(n int, best *assay.Trial) *assay.Trial {
	if n >= fewPairs {
		v, ok := r.pairs.verdict()
		known := ok && !math.IsInf(v.High, 1)
		if known {
			r.short = ""
		}
		if known || n >= aloneRuns {
			return nil
		}
	}
	if !r.affordsRuns(0, time.Duration(max(1, fewPairs-n))*r.runTime(best)) {
		return nil
	}
	return best
}

// told reports whether n pairs have shown which configuration is better, or that the best is not better by a relevant
// amount: at the planned looks, and once it is known that runs are alike.
func (r *racer) told(n int) bool {
	_, quiet := r.contest.noise()
	if _, planned := stats.Looks(n); !planned && (!quiet || n != quietPairs) {
		return false
	}
	v, ok := r.pairs.verdict()
	if !ok || v.Verdict != stats.Undecided {
		return true
	}
	if r.Goal.Maximize {
		return v.High < Little
	}
	return v.Low > -Little
}

// affordsFew reports whether there is time for the rest of the least comparison, of which the best has made
// some runs.
func (r *racer) affordsFew(runs int, best, first *assay.Trial) bool {
	need := r.runTime(first) + time.Duration(max(0, fewPairs-runs))*r.runTime(best)
	return r.affordsOr(0, need, "the least comparison with an interval")
}

// affordsOr is affordsRuns, and notes the reason if there is no time.
func (r *racer) affordsOr(n int, need time.Duration, what string) bool {
	if r.affordsRuns(n, need) {
		return true
	}
	r.short = fmt.Sprintf("%s of the time budget is left for them, and %s takes %s",
		report.Duration(max(r.pairsRoom(n), 0)), what, report.Duration(need))
	return false
}

// affordsRuns reports whether runs that take so much time may follow n pairs.
func (r *racer) affordsRuns(n int, need time.Duration) bool {
	return r.limits.budget().Time <= 0 || r.pairsRoom(n) >= need
}

// pairsRoom returns the time that pairs may take after n of them: the rest of the time budget, within the share of the
// pairs. Time that nothing else can use is theirs.
func (r *racer) pairsRoom(n int) time.Duration {
	left := r.limits.budget().Time - r.record.spent()
	if r.CheckShare == 0 && r.limits.pressed() {
		left = min(left, r.thrift.room(r.limits.budget().Time))
	}
	if r.CheckShare == 0 && r.limits.timed() && n < restPairs {
		return left
	}
	return min(left, r.checkTime()-r.pairs.comparing())
}

// runTime returns how long a run of a trial is likely to take.
func (r *racer) runTime(t *assay.Trial) time.Duration {
	return r.took.typical(t.Config) + r.took.least()
}

// pairTime returns how long a pair of runs is likely to take.
func (r *racer) pairTime(best, first *assay.Trial) time.Duration {
	return r.runTime(best) + r.runTime(first)
}

// checkTime returns the time that the pairs may take: CheckShare of the time budget.
func (r *racer) checkTime() time.Duration {
	share := r.CheckShare
	if share == 0 {
		share = checkShare
	}
	return time.Duration(share * float64(r.limits.budget().Time))
}

// pairsReserve returns the time kept back for the pairs of a Sequential study: the time of as many as are likely to
// show a difference like the one so far, within checkTime. If no pairs fit and the difference is large, it is the
// time of the best alone. If that does not fit either, nothing is kept back: the time is better spent on the search.
func (r *racer) pairsReserve(best, first *assay.Trial) time.Duration {
	pair, most := r.pairTime(best, first), r.checkTime()
	if r.CheckShare == 0 && r.limits.pressed() {
		most = min(most, r.thrift.rest(r.limits.budget().Time))
	}
	noise, quiet := r.contest.noise()
	if most < fewPairs*pair {
		alone := aloneRuns*r.runTime(best) + r.took.least()
		if alone > most || math.Abs(math.Log(best.Value/first.Value)) < math.Log(aloneGain) {
			return 0
		}
		return alone
	}
	n := quietPairs
	if !quiet {
		gap := Little
		if ratio := best.Value / first.Value; ratio > 0 {
			gap = max(gap, math.Abs(math.Log(ratio))-noise) // a part of it is luck
		}
		n = stats.PairsFor(noise*math.Sqrt2, gap, 0.025)
	}
	n = min(n, r.Check)
	if float64(n)*float64(pair) >= float64(most) {
		return most
	}
	return time.Duration(n)*pair + r.took.least()
}
