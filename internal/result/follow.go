package result

import (
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/study"
)

// A Follower converts the events of a study that another process runs to the progress that a [Live] needs. Its zero
// value is ready to use.
type Follower struct {
	p     study.Progress
	ended map[int64]bool
}

// Add takes the next event and returns the progress of the study. The progress, except its trials, is valid until the
// next call.
func (f *Follower) Add(e assay.Event) study.Progress {
	if f.ended == nil {
		f.ended = map[int64]bool{}
	}
	p := &f.p
	p.Spent = max(p.Spent, e.Spent)
	switch {
	case e.Asked != nil:
		p.Running = append(p.Running, study.Running{Proposal: *e.Asked, Since: e.At})
	case e.Told != nil:
		if f.end(e.Told.ID) {
			p.Trials = append(p.Trials, *e.Told)
			if t := &p.Trials[len(p.Trials)-1]; t.State == assay.Done && (p.Best == nil || t.Value < p.Best.Value) {
				p.Best = t
			}
		}
	case e.Withdrawn != nil:
		f.end(e.Withdrawn.Trial)
	case e.Checked != nil && e.Race:
		p.Races++
	case e.Checked != nil:
		p.Checks++
	}
	return *p
}

// end takes a trial off those that run, and reports whether it is the first time.
func (f *Follower) end(id int64) bool {
	if f.ended[id] {
		return false
	}
	f.ended[id] = true
	f.p.Running = slices.DeleteFunc(f.p.Running, func(r study.Running) bool { return r.ID == id })
	return true
}
