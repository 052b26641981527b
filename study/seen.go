package study

import (
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/race"
	"github.com/assay-run/assay/stop"
)

// look adds a run, which was counted, to the view of a rule: the trials of its configuration change, and others too
// if the incumbent changes. The mutex is held.
func (j *judge) look(k known) {
	f := &j.field
	least, quiet := j.least, j.quiet
	j.least, j.quiet = f.Incumbent(), f.Quiet()
	if j.stale || k.purpose != searched || j.least != least || j.quiet != quiet {
		j.stale = true
		return
	}
	j.seen = append(j.seen, f.Believe(j.corrected(k.Trial)))
}

// review sets the view of a rule for all trials. The mutex is held.
func (j *judge) review() {
	j.seen, j.stale = make([]assay.Trial, 0, len(j.history)+1), false
	for k := range j.known() {
		if k.purpose == searched {
			j.seen = append(j.seen, j.field.Believe(j.corrected(k.Trial)))
		}
	}
}

// past returns the trials so far, for an observer, and whether a rule may compare with
// them: not where some are done and none was borne out by a second run. The slice has no
// room behind its end: the loop goes on appending while the observer reads.
func (j *judge) past() (trials []assay.Trial, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.racing || !j.study.Goal.Grows { // a rule that follows curves, by which no run is borne out
		return slices.Clip(j.trials()), true
	}
	if j.stale {
		j.review()
	}
	seen := j.seen
	return seen[:len(seen):len(seen)], j.top == nil || !math.IsInf(j.least, 1)
}

// seen returns a running trial as a rule that ends runs is to see it, and the factor that its value was
// divided by.
func (j *judge) asSeen(t assay.Trial) (assay.Trial, float64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.racing || math.IsInf(t.Value, 0) {
		return t, 1
	}
	f := j.model.Factor(t.Measurement.Worker, t.Measurement.MachineClass)
	t.Value /= f
	return t, f
}

// doubt returns the trial to run again before others are compared with it, among trials that are not busy.
func (c *contest) doubt(busy func(assay.Config) bool) (assay.Trial, bool) {
	return c.field.Doubt(busy)
}

// borneOut reports whether others are compared with a configuration, so that no rule ends its further runs.
func (c *contest) borneOut(of assay.Config) bool {
	e, ok := c.field.Entrant(of)
	return ok && len(e.Values) > 1
}

// next returns the trial that the race runs again next.
func (c *contest) next() (assay.Trial, bool) { return c.answers().Next() }

// rule returns the stopper of a run of a configuration in the race: nil for one that is done.
func (c *contest) rule(of assay.Config) assay.Stopper {
	if e, _ := c.answers().Entrant(of); e.Done {
		return nil
	}
	return stop.Incumbent{Margin: c.field.Margin()}
}

// noise returns by how much runs differ, as a share, and whether they are alike.
func (c *contest) noise() (share float64, quiet bool) {
	if !c.racing {
		return 0, false
	}
	return c.field.Noise(), c.field.Quiet()
}

// answers returns the field that the answer is chosen from: with runs on machines of any class, only those on the
// target class.
func (c *contest) answers() *race.Field {
	if c.anywhere {
		return &c.target
	}
	return &c.field
}
