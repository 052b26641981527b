package study

import (
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// Refuted is a configuration that failed, or broke a limit, when it was run again.
type Refuted struct {
	Trial  assay.Trial   // its trial, which was done
	Broken []assay.Trial // the runs that failed or broke a limit, in the order they ended
	Runs   int           // how often it was run again
}

// checked returns how many runs of a trial there are that compare the best with the first.
func (j *judge) checked(id int64) (n int) {
	for _, t := range j.checks {
		if t.ID == id {
			n++
		}
	}
	return n
}

// verdict compares the best with the first configuration by the runs so far.
func (j *judge) verdict() (Verdict, bool) {
	r := j.answer()
	return r.Verdict(j.study.Goal)
}

// comparing returns how long the runs took that compare the best with the first configuration.
func (j *judge) comparing() (sum time.Duration) {
	for _, t := range j.checks {
		sum += t.Measurement.Elapsed
	}
	return sum
}

// repeats returns the runs of a configuration that were made again.
func (j *judge) repeats(c assay.Config) (runs []assay.Trial) {
	for _, t := range slices.Concat(j.races, j.checks) {
		if t.Config.Equal(c) {
			runs = append(runs, t)
		}
	}
	return runs
}

// holds reports whether the best may be recommended. If another was refuted before, the best must have passed a
// repeated run: an untested one might fail too.
func (j *judge) holds(best assay.Trial) bool {
	refuted := j.refuted()
	if len(refuted) == 0 {
		return true
	}
	runs := j.repeats(best.Config)
	for t := range j.all(0) { // the search's own, if it repeats
		if t.State == assay.Done && t.ID != best.ID && t.Config.Equal(best.Config) {
			runs = append(runs, t)
		}
	}
	return slices.ContainsFunc(runs, func(t assay.Trial) bool { return t.State == assay.Done })
}

// refuted returns the configurations that failed when they were run again.
func (j *judge) refuted() (all []Refuted) {
	if !j.racing {
		return nil
	}
	for _, e := range j.answers().Refuted() {
		all = append(all, Refuted{e.Trial, e.Broken, len(j.repeats(e.Trial.Config))})
	}
	return all
}

// broke reports whether a configuration failed when it was run again.
func (j *judge) broke(t assay.Trial) bool {
	return slices.ContainsFunc(j.refuted(), func(r Refuted) bool { return r.Trial.Config.Equal(t.Config) })
}

// measured returns the median of the runs of the best, and their number.
func (j *judge) measured(best assay.Trial) (value float64, runs int) {
	if !j.racing {
		return best.Value, 1
	}
	e, _ := j.answers().Entrant(best.Config)
	values := e.Values
	for _, t := range j.checks {
		if t.State == assay.Done && t.Config.Equal(best.Config) {
			values = append(values, j.corrected(t).Value)
		}
	}
	return stats.Median(values), len(values)
}
