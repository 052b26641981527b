package study

import "time"

// reserve returns the time kept back for the repeated runs at the end. It changes
// with every better trial, so what is left can grow as well as shrink.
func (r *racer) reserve() time.Duration {
	if r.Goal.Several() {
		return r.frontReserve()
	}
	reserve := r.checkReserve() + r.finalReserve()
	if noise, quiet := r.contest.noise(); r.racing() && r.Check > 0 && !quiet {
		share := min(raceShare, racePart*100*noise)
		reserve += time.Duration(share * float64(r.limits.budget().Time))
	}
	return reserve
}

// frontReserve returns the time kept back for the runs at the end: the time of those that the front lacks,
// within checkShare of the budget.
func (r *racer) frontReserve() time.Duration {
	if r.Check <= 0 {
		return 0
	}
	return min(r.front.unconfirmedTime(), time.Duration(checkShare*float64(r.limits.budget().Time)))
}

// finalReserve returns the time kept back for the runs on the target class, as checkReserve does. What runs
// take there is not known yet: the longest of those that lead says it roughly.
func (r *racer) finalReserve() time.Duration {
	if !r.Anywhere || !r.racing() {
		return 0
	}
	need := finalists * (r.final.longestOfFinalists() + r.took.least())
	return min(need, time.Duration(checkShare*float64(r.limits.budget().Time)))
}

// checkReserve returns the time kept back for the comparison of the best with the first:
// what the runs that it lacks will take, as far as that is known, within checkShare of the
// budget.
func (r *racer) checkReserve() time.Duration {
	if r.Check <= 0 {
		return 0
	}
	best, first := r.duel.best(), r.duel.first()
	if best == nil || first == nil || best.ID == first.ID {
		return 0
	}
	if r.Sequential {
		return r.pairsReserve(best, first)
	}
	// A run before these that is cut off at what is left takes as long besides.
	beside := r.took.least()
	pair := r.took.typical(best.Config) + r.took.typical(first.Config) + 2*beside
	most := time.Duration(checkShare * float64(r.limits.budget().Time))
	need := func(pairs int) time.Duration { return time.Duration(min(pairs, r.Check))*pair + beside }
	if _, quiet := r.contest.noise(); r.racing() && quiet {
		// Runs are alike, and none needs to be spared: either there is time for as many as can show a
		// difference, or one pair says whether the best still works.
		if need(leastPairs) > most {
			return min(need(1), most)
		}
		return need(leastPairs)
	}
	return min(need(r.Check), most)
}
