package online_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/online"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/store"
)

// ranksBy has four ranks iterate, each a second at a time, and then three of them, by a clock. It returns the parts of
// the record and of the session that do not depend on the time that the clock shows.
func ranksBy(t *testing.T, clock assay.Clock) (record string) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMem()
		o := options(t, st)
		o.Clock, o.Deadline = clock, 10*time.Second
		s := open(t, o)
		const ranks = 4
		for r := range ranks {
			join(t, s, r)
			synctest.Wait() // the searcher is asked for as many as there are by now
		}
		for k := range 12 {
			most := ranks
			if k >= 6 {
				most = ranks - 1
			}
			var turns [ranks]online.Turn
			for r := range most {
				turns[r] = fetch(t, s, r)
			}
			time.Sleep(2 * time.Second)
			for r := range most {
				used := report(t, s, r, turns[r], tileTime(turns[r].Config))
				synctest.Wait()
				record += fmt.Sprintln(k, r, turns[r].Trial, turns[r].Config, used)
			}
			st := s.Status()
			record += fmt.Sprintln(k, "alive", st.Ranks, "trials", st.Trials)
		}
		shut(t, s)
		for _, e := range eventsOf(t, st) {
			record += fmt.Sprintln(e.Spent, e.Asked, e.Ended)
			if e.Told != nil {
				record += fmt.Sprintln(e.Told.ID, e.Told.Value, e.Told.State, e.Told.Ended.Sub(e.Told.Started))
			}
		}
	})
	return record
}

// A clock that is set while a program is tuned takes no living rank for dead and no dead one for living. The control
// goes by the time that the clock shows.
func TestClockJumps(t *testing.T) {
	want := ranksBy(t, nil)
	steps, control := 0, 0
	for every := range 6 {
		clock := &testbed.SetClock{Every: 1 + 2*every}
		if got := ranksBy(t, clock); got != want {
			t.Errorf("set at every %dth reading: got\n%s\nwant\n%s", clock.Every, got, want)
		}
		steps += clock.Set()
		if ranksBy(t, &testbed.SetClock{Every: clock.Every, Wall: true}) != want {
			control++
		}
	}
	if control != 6 {
		t.Errorf("the control was harmed %d times of 6", control)
	}
	t.Logf("counted: the clock was set %d times in 6 sessions: 0 records differ; the control was harmed in %d of 6",
		steps, control)
}
