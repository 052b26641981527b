package result

import (
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// A Follower gets the same progress from the events of a study as from its loop: each trial once, in
// the order in which they ended, the best of them, and the running ones.
func TestFollower(t *testing.T) {
	var f Follower
	ask := func(id int64) assay.Event { return assay.Event{Asked: &assay.Proposal{ID: id}} }
	tell := func(id int64, state assay.State, value float64) assay.Event {
		return assay.Event{
			Told:  &assay.Trial{Proposal: assay.Proposal{ID: id}, State: state, Value: value},
			Spent: time.Duration(id) * time.Second,
		}
	}
	for _, e := range []assay.Event{
		ask(1), ask(2), ask(3), ask(4), tell(2, assay.Done, 5), tell(1, assay.Censored, 1), tell(2, assay.Done, 1),
		{Withdrawn: &assay.Withdrawal{Trial: 3}},
		{Checked: &assay.Trial{}, Race: true},
		{Checked: &assay.Trial{}},
	} {
		f.Add(e)
	}
	p := f.Add(tell(3, assay.Done, 0)) // it was taken back before
	if len(p.Trials) != 2 || p.Trials[0].ID != 2 || p.Trials[1].ID != 1 {
		t.Errorf("trials %v", p.Trials)
	}
	if p.Best == nil || p.Best.ID != 2 || p.Best.Value != 5 {
		t.Errorf("best %v", p.Best)
	}
	if len(p.Running) != 1 || p.Running[0].ID != 4 || p.Races != 1 || p.Checks != 1 || p.Spent != 3*time.Second {
		t.Errorf("%+v", p)
	}
}
