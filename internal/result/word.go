package result

import (
	"fmt"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/view"
)

// Word returns the word for the state of a trial in texts for users: done, stopped, failed, outside limits, unfinished
// or withdrawn. An unfinished trial may be running, or wait for the study to be resumed: the record does not
// distinguish them. JSON uses the names of assay.State only (docs/adr/0030-view.md).
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

// wordOf is [Word] for a study: a trial that was run below the full level of the goal ended "below full".
func wordOf(g assay.Goal, s assay.State) string {
	if g.Level != nil && s == assay.Infeasible {
		return "below full"
	}
	return Word(s)
}

// CutOff reports whether a run was stopped by a time limit or the end of the budget, and not
// by a rule: it has not lost to the best.
func CutOff(t assay.Trial) bool { return t.State == assay.Censored && !t.Stopped() }

// why returns the reason shown with a trial, "" if its state is sufficient.
func why(g assay.Goal, t assay.Trial) string {
	switch {
	case t.State == assay.Failed, t.State == assay.Infeasible, t.State == assay.Withdrawn, CutOff(t):
		return view.Reason(g, t)
	}
	return ""
}

// Repeated describes the repeated runs.
type Repeated struct {
	Race  int    `json:"race,omitempty"` // runs that determined the best configuration
	Best  Reruns `json:"best"`           // of the best, to compare it with the first
	First Reruns `json:"first"`          // of the first
	Short string `json:"short,omitempty"`
}

// Reruns are repeated runs of one configuration.
type Reruns struct {
	Runs       int    `json:"runs"`
	Failed     int    `json:"failed"`
	Infeasible int    `json:"infeasible"`
	Reason     string `json:"reason,omitempty"` // of the first that failed or broke a limit
}

// broken returns how many of the runs are of no use.
func (a Reruns) broken() int { return a.Failed + a.Infeasible }

// Text returns "2 of 5 failed: exit code 1", or "" if all succeeded.
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
