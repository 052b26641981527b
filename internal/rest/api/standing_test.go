package api

import (
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/queue"
)

// Each state of a worker but ready has a reason, with a time that the worker, its order or the reason has.
func TestStanding(t *testing.T) {
	heard := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	later := heard.Add(time.Hour)
	drain := queue.Order{Drain: true, By: "ada", At: later}
	evict := drain
	evict.Evict = true
	aside := queue.Order{Quarantine: true, Why: "slow since 14:10"}
	for _, c := range []struct {
		w     queue.WorkerState
		state string
		why   string
		since time.Time
	}{
		{queue.WorkerState{}, "ready", "", time.Time{}},
		{queue.WorkerState{Order: drain}, "draining", "ordered by ada", later},
		{queue.WorkerState{Order: evict}, "evicted", "ordered by ada", later},
		{queue.WorkerState{Order: queue.Order{Drain: true}}, "draining", "ordered", time.Time{}}, // by an earlier release
		{queue.WorkerState{Order: aside}, "aside", "slow since 14:10", time.Time{}},
		{queue.WorkerState{Away: true}, "away", "silent", heard},
		{queue.WorkerState{Away: true, Order: drain}, "away", "silent, ordered by ada to end", heard},
		{queue.WorkerState{Away: true, ShutOut: later}, "away", "its token was revoked or expired", later},
	} {
		c.w.Heard = heard
		state, why, since := standing(c.w)
		if state != c.state || why != c.why || !since.Equal(c.since) {
			t.Errorf("%+v is %s since %v: %q", c.w, state, since, why)
		}
	}
	w := Worker{
		Name: "rack", State: "away", Why: "silent", Since: stamped(heard), Lost: 2.5, LostAt: stamped(later),
		LostWhy: "no heartbeat for 30s",
	}
	want := "rack is away since " + heard.Local().Format(time.DateTime) + ": silent\n" +
		"rack lost 2.5 s in attempts that do not count, the last at " + later.Local().Format(time.DateTime) +
		": no heartbeat for 30s"
	if got := strings.Join(w.Reasons(), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got := strings.Join(Worker{Name: "rack", State: "aside", Why: aside.Why}.Reasons(), "\n")
	if got != "rack is aside: slow since 14:10; assay workers resume rack has it go on" {
		t.Errorf("aside: %q", got)
	}
	if ready := (Worker{Name: "rack", State: "ready"}).Reasons(); len(ready) > 0 {
		t.Errorf("ready: %q", ready)
	}
}
