package study

import "time"

// reserve returns the time kept back for the repeated runs at the end. It changes with every better trial, so the
// rest can grow as well as shrink.
func (r *racer) reserve() time.Duration {
	if r.Goal.Several() {
		return r.frontReserve()
	}
	return r.checkReserve() + r.finalReserve() + r.raceReserve()
}

// raceReserve returns the time kept back for the race. Time that is too short for one run is kept for none.
func (r *racer) raceReserve() time.Duration {
	noise, quiet := r.contest.noise()
	if !r.racing() || r.Check <= 0 || quiet {
		return 0
	}
	budget := r.limits.budget().Time
	most := time.Duration(min(raceShare, racePart*100*noise) * float64(budget))
	if !r.limits.pressed() || !r.thrift.limits(budget) || r.record.spent()+r.thrift.ahead()+most <= budget {
		return most
	}
	best := r.duel.best()
	most = min(most, r.thrift.rest(budget)-r.checkReserve())
	if best == nil || !r.thrift.races() || most < r.runTime(best) {
		return 0
	}
	return most
}

// frontReserve returns the time kept back for the runs at the end: the time of the runs that the front lacks, within
// checkShare of the budget.
func (r *racer) frontReserve() time.Duration {
	if r.Check <= 0 {
		return 0
	}
	return min(r.front.unconfirmedTime(), r.checkTime())
}

// finalReserve returns the time kept back for the runs on the target class, as checkReserve does. The time of runs
// there is not known yet: the longest run of the leaders is a rough estimate.
func (r *racer) finalReserve() time.Duration {
	if !r.Anywhere || !r.racing() {
		return 0
	}
	need := finalists * (r.final.longestOfFinalists() + r.took.least())
	return min(need, r.checkTime())
}

// checkReserve returns the time kept back for the comparison of the best with the first: the expected time of the
// missing runs, as far as it is known, within CheckShare of the budget.
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
	// A run before these that is cut off at the end of the budget takes as long besides.
	beside := r.took.least()
	pair := r.pairTime(best, first)
	most := r.checkTime()
	need := func(pairs int) time.Duration { return time.Duration(min(pairs, r.Check))*pair + beside }
	if _, quiet := r.contest.noise(); r.racing() && quiet {
		// Runs are alike, and none needs to be spared: either there is time for as many as can show a difference, or one
		// pair shows whether the best still works.
		if need(leastPairs) > most {
			return min(need(1), most)
		}
		return need(leastPairs)
	}
	return min(need(r.Check), most)
}
