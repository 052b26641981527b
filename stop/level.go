package stop

import (
	"slices"

	"github.com/assay-run/assay"
)

// Level makes Rule compare a run only with runs at the same level ([assay.Goal.Level]). Below the full level Rule sees
// a run that finished as done. One in Keep of the runs there, the best ones, are hidden from Rule, unless it follows
// curves: a run need not be the best there to be worth a run at a higher level.
type Level struct {
	Rule  assay.Stopper // compares the runs
	Param int           // whose value is the level
	Full  float64       // its coordinate at the full level
	Keep  int           // as in search.FidelityOptions; 0 leaves none out
}

var _ assay.CurveStopper = Level{}

// Follows implements [assay.CurveStopper].
func (l Level) Follows() bool {
	f, ok := l.Rule.(assay.CurveStopper)
	return ok && f.Follows()
}

// Decide implements [assay.Stopper].
func (l Level) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	at := l.Full
	if len(running.Config) > l.Param {
		at = running.Config[l.Param]
	}
	var same []assay.Trial
	for _, t := range history {
		if t.Config[l.Param] != at {
			continue
		}
		if at != l.Full && t.State == assay.Infeasible {
			t.State = assay.Done
		}
		same = append(same, t)
	}
	if at != l.Full && l.Keep > 0 && !l.Follows() {
		same = withoutBest(same, len(same)/l.Keep)
	}
	return l.Rule.Decide(same, running)
}

// withoutBest returns trials without the n best that finished.
func withoutBest(trials []assay.Trial, n int) []assay.Trial {
	var values []float64
	for _, t := range trials {
		if t.State == assay.Done {
			values = append(values, t.Value)
		}
	}
	slices.Sort(values)
	if n = min(n, len(values)); n == 0 {
		return trials
	}
	worst := values[n-1]
	return slices.DeleteFunc(trials, func(t assay.Trial) bool { return t.State == assay.Done && t.Value <= worst })
}
