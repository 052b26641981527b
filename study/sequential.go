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

// fewPairs is the least number of pairs that has an interval: where there is no time for them none is made.
const fewPairs = 2

// pairs has the results of the pairs of runs at the end.
type pairs interface {
	verdict() (Verdict, bool)
	comparing() time.Duration // all of their runs together
}

// nextOfPair returns the trial that runs next in the pairs that compare the best with the first configuration, nil if
// no further pair is to be made: a look at them has decided, or the time kept for them is spent. Which of a pair runs
// first is drawn, by the name of the study and the number of the pair alone: see [stats.CompareAtLook] for why.
func (r *racer) nextOfPair(best, first *assay.Trial) *assay.Trial {
	n := r.duel.checked(first.ID)
	switch of := r.duel.checked(best.ID); {
	case n < of:
		return first
	case n > of:
		return best
	}
	if n >= r.Check || r.told(n) || !r.affordsPair(n, best, first) {
		return nil
	}
	h := fnv.New64a()
	h.Write([]byte(r.Name))
	if rand.New(rand.NewPCG(h.Sum64(), uint64(n))).IntN(2) == 0 {
		return first
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

// affordsPair reports whether there is time for one more pair after n: within the rest of the time budget, and within
// the share of the pairs. Without time for the least number of pairs that has an interval, there is no time for one.
func (r *racer) affordsPair(n int, best, first *assay.Trial) bool {
	budget := r.limits.budget().Time
	if budget <= 0 {
		return true
	}
	pair := r.pairTime(best, first)
	need := time.Duration(max(1, fewPairs-n)) * pair
	if left := budget - r.record.spent(); left < need {
		r.short = fmt.Sprintf("of the time budget %s was left, and %s", report.Duration(max(left, 0)), takes(need, n))
		return false
	}
	if left := r.checkTime() - r.pairs.comparing(); left < need {
		r.short = fmt.Sprintf("of the time kept for them %s was left, and %s", report.Duration(max(left, 0)), takes(need, n))
		return false
	}
	if r.CheckShare == 0 && !r.affords(need) {
		r.short = fmt.Sprintf("few configurations have run, and %s", takes(need, n))
		return false
	}
	return true
}

// takes describes the time that the pairs lack.
func takes(need time.Duration, n int) string {
	if n < fewPairs-1 {
		return fmt.Sprintf("the least number of pairs with an interval takes %s", report.Duration(need))
	}
	return fmt.Sprintf("a pair takes %s", report.Duration(need))
}

// pairTime returns how long a pair of runs is likely to take.
func (r *racer) pairTime(best, first *assay.Trial) time.Duration {
	return r.took.typical(best.Config) + r.took.typical(first.Config) + 2*r.took.least()
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
// show a difference like the one so far, within checkTime. If the pairs do not fit, nothing is kept back: the time is
// better spent on the search.
func (r *racer) pairsReserve(best, first *assay.Trial) time.Duration {
	pair, most := r.pairTime(best, first), r.checkTime()
	if r.CheckShare == 0 && r.limits.pressed() {
		most = min(most, r.thrift.rest(r.limits.budget().Time))
	}
	noise, quiet := r.contest.noise()
	if most < fewPairs*pair {
		return 0
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
