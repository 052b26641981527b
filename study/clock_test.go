package study_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// jumped runs a study of two sessions by a clock, and returns the part of its record that does not depend on the
// clock: the events in their order, the time spent, the time of runs. It counts impossible times: a time that goes
// back in the study's own account, and a duration below zero.
func jumped(t *testing.T, clock assay.Clock) (record string, wrong int) {
	inBubble(t, func(t *testing.T) {
		mem := store.NewMem()
		for _, trials := range []int{6, 14} {
			s := newStudy(t, mem, trials)
			s.Parallel, s.Clock, s.Check = 2, clock, 2
			s.Budget.Time = 250 * time.Second
			s.Searcher = search.NewRandom(s.Space, 3)
			r := mustRun(t, s)
			record += fmt.Sprintln(r.EndedBy, r.Spent, len(r.Trials), r.Best.ID, study.Saved(r.Trials))
			time.Sleep(time.Hour) // no session runs it
		}
		var spent time.Duration
		for e, err := range mem.Events(context.Background(), "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Spent < spent {
				wrong++
			}
			spent = e.Spent
			record += fmt.Sprintln(e.Spent, e.Asked, e.Ended != nil)
			if tr := e.Told; tr != nil {
				if tr.Ended.Sub(tr.Started) < 0 { // in the memory of the session; a file keeps the times of the clock
					wrong++
				}
				record += fmt.Sprintln(tr.ID, tr.State, tr.Value, tr.Measurement.Elapsed)
			}
		}
	})
	return record, wrong
}

// A clock that is set while a study runs, by an hour or a year, forward or back, changes nothing of it: not its budget,
// not the order of its events, not its proposals, not how long anything took. The control measures by the time that the
// clock shows, and must get another result.
func TestClockJumps(t *testing.T) {
	want, _ := jumped(t, nil)
	steps, control := 0, 0
	for every := range 7 {
		clock := &testbed.SetClock{Every: every + 1}
		got, wrong := jumped(t, clock)
		if got != want || wrong > 0 {
			t.Errorf("set at every %dth reading: %d times go back; got\n%s\nwant\n%s", every+1, wrong, got, want)
		}
		steps += clock.Set()
		if got, wrong := jumped(t, &testbed.SetClock{Every: every + 1, Wall: true}); got != want || wrong > 0 {
			control++
		}
	}
	if control != 7 {
		t.Errorf("the control was harmed %d times of 7", control)
	}
	t.Logf("counted: the clock was set %d times in 7 studies: 0 records differ, 0 times go back; the control was harmed "+
		"in %d of 7", steps, control)
}
