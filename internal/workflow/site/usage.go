package site

import (
	"fmt"

	"github.com/assay-run/assay/workflow"
)

// This file computes the figures that reports of plans need: a plan's use of each site. Everything is
// computed from the plan, which is not changed.

// AssumedError is the relative error of run times to assume without a better estimate: the largest of
// Table I (Pietri et al., WORKS 2014).
const AssumedError = 0.15

// A MissingInputError reports that no site holds an input that no task writes.
type MissingInputError struct {
	Input string // name of the file, or of the task if files are not recorded
	Task  string // that reads it first
}

// Error names both.
func (e *MissingInputError) Error() string {
	return fmt.Sprintf("input %q of task %q is at no site", e.Input, e.Task)
}

// A Usage is a plan's use of one site.
type Usage struct {
	Tasks    int              // that compute there
	Busy     workflow.Seconds // of its slots together
	StagedIn workflow.Bytes   // copied to the site
	Stored   workflow.Bytes   // in the end
}

// Usage returns the plan's use of each site of its network.
func (p *Plan) Usage() []Usage {
	out := make([]Usage, len(p.Stored))
	for i, n := range p.Stored {
		out[i].Stored = n
	}
	for _, d := range p.Decisions {
		out[d.Compute].Tasks++
		out[d.Compute].Busy += d.End - d.Start
	}
	for _, x := range p.Stagings {
		out[x.To].StagedIn += x.Bytes
	}
	return out
}

// Load returns the share of the time until makespan during which the slots of s
// are busy, 0 if s has none or nothing takes time.
func (u *Usage) Load(s *Site, makespan workflow.Seconds) float64 {
	if s.Slots == 0 || !(makespan > 0) {
		return 0
	}
	return u.Busy / makespan / float64(s.Slots)
}

// TellsData reports whether w records any sizes of its data. Without them data are planned as if there
// were none.
func TellsData(w *workflow.Workflow) bool {
	for i := range w.Tasks {
		if w.Tasks[i].In+w.Tasks[i].Out > 0 {
			return true
		}
	}
	return false
}
