package study

import (
	"time"

	"github.com/assay-run/assay"
)

const (
	// manyTried is how many configurations have run when repeated runs are not limited any more.
	manyTried = 10
	// againShare is the largest share of the time of all runs that repeated runs take together before that.
	againShare = 0.2
	// dear is the share of the time budget that the runs of an expensive program exceed.
	dear = 0.05
	// fewestRivals is the least number of configurations that a race is worth.
	fewestRivals = 4
)

// A thrift limits the time of repeated runs while few configurations of an expensive program have run, so that the time
// budget is spent on further ones. The zero value belongs to an empty record.
type thrift struct {
	tried  assay.ConfigIndex // configurations that have run, up to manyTried
	rivals assay.ConfigIndex // those of them that ran to their ends, up to fewestRivals
	trials int
	// searched and repeated are the times of the trials and of the repeated runs.
	searched, repeated time.Duration
}

// trial takes in a trial of the search.
func (t *thrift) trial(run assay.Trial) {
	t.trials++
	t.searched += timeOf(run)
	if t.tried.Len() < manyTried {
		t.tried.Number(run.Config)
	}
	if run.State == assay.Done && !t.races() {
		t.rivals.Number(run.Config)
	}
}

// again takes in a repeated run.
func (t *thrift) again(run assay.Trial) { t.repeated += timeOf(run) }

// timeOf returns how long a run took, with all that was made for it.
func timeOf(run assay.Trial) time.Duration {
	return max(run.Measurement.Elapsed, run.Ended.Sub(run.Started))
}

// mean returns the mean time of a trial.
func (t *thrift) mean() time.Duration { return t.searched / time.Duration(max(1, t.trials)) }

// limits reports whether repeated runs are limited within a time budget.
func (t *thrift) limits(budget time.Duration) bool {
	return t.tried.Len() < manyTried && float64(t.mean()) > dear*float64(budget)
}

// races reports whether there are enough configurations for a race.
func (t *thrift) races() bool { return t.rivals.Len() >= fewestRivals }

// ahead returns the time until repeated runs are not limited any more.
func (t *thrift) ahead() time.Duration { return time.Duration(manyTried-t.tried.Len()) * t.mean() }

// room returns the time that repeated runs may take from now on, within a time budget.
func (t *thrift) room(budget time.Duration) time.Duration {
	if !t.limits(budget) {
		return budget
	}
	// With the time x they take repeated + x of searched + repeated + x.
	x := (againShare*float64(t.searched+t.repeated) - float64(t.repeated)) / (1 - againShare)
	return max(0, time.Duration(x))
}

// rest returns the time that is left for repeated runs when the search has taken all else of a time budget.
func (t *thrift) rest(budget time.Duration) time.Duration {
	if !t.limits(budget) {
		return budget
	}
	return max(0, time.Duration(againShare*float64(budget))-t.repeated)
}
