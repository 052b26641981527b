package result

import (
	"fmt"

	"github.com/assay-run/assay"
)

// Word returns what the state of a trial is called wherever people read it: done, stopped,
// failed, outside limits, unfinished or withdrawn. An unfinished one may run, or wait for the study to go on: the
// record does not say. JSON has the names of assay.State alone (docs/adr/0030-view.md).
func Word(s assay.State) string {
	switch s {
	case assay.Running:
		return "unfinished"
	case assay.Censored:
		return "stopped"
	case assay.Infeasible:
		return "outside limits"
	}
	return s.String()
}

// WordOf is [Word] of a study: one that was run below the full level of the goal ended "below full".
func WordOf(g assay.Goal, s assay.State) string {
	if g.Level != nil && s == assay.Infeasible {
		return "below full"
	}
	return Word(s)
}

// CutOff reports whether a run was stopped by a time limit or the end of the budget, and not
// by a rule: it has not lost to the best.
func CutOff(t assay.Trial) bool { return t.State == assay.Censored && !t.Stopped() }

// why returns the reason to be shown with a trial, "" if its state says enough.
func why(t assay.Trial) string {
	switch {
	case t.State == assay.Failed, t.State == assay.Infeasible, t.State == assay.Withdrawn, CutOff(t):
		return t.Reason
	}
	return ""
}

// Repeated says what became of the runs that were made again.
type Repeated struct {
	Race  int    `json:"race,omitempty"` // runs that found out which configuration is best
	Best  Reruns `json:"best"`           // of the best, to compare it with the first
	First Reruns `json:"first"`          // of the first
	Short string `json:"short,omitempty"`
}

// Reruns is some runs of one configuration that were made again.
type Reruns struct {
	Runs       int    `json:"runs"`
	Failed     int    `json:"failed"`
	Infeasible int    `json:"infeasible"`
	Reason     string `json:"reason,omitempty"` // of the first that failed or broke a limit
}

// broken returns how many of the runs are of no use.
func (a Reruns) broken() int { return a.Failed + a.Infeasible }

// Text returns "2 of 5 failed: exit code 1", or "" if all came to a good end.
func (a Reruns) Text() string {
	what := "failed"
	switch {
	case a.broken() == 0:
		return ""
	case a.Failed == 0:
		what = "were outside limits"
	case a.Infeasible > 0:
		what = "failed or were outside limits"
	}
	return fmt.Sprintf("%d of %d %s: %s", a.broken(), a.Runs, what, a.Reason)
}

// again counts runs.
func again(runs []assay.Trial) (a Reruns) {
	for _, t := range runs {
		a.Runs++
		switch t.State {
		case assay.Failed:
			a.Failed++
		case assay.Infeasible:
			a.Infeasible++
		default:
			continue
		}
		if a.Reason == "" {
			a.Reason = t.Reason
		}
	}
	return a
}

// A Refuted is a configuration that was done, and failed when it was run again.
type Refuted struct {
	Trial  int64          `json:"trial"`
	Config map[string]any `json:"config"`
	Reruns
	config assay.Config
}
