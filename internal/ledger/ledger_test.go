package ledger

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

var began = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// at returns a time of the test, in seconds since it began.
func at(s float64) time.Time { return began.Add(time.Duration(s * float64(time.Second))) }

// placed returns a run with so many attempts, each placed a minute after the one before.
func placed(n int) *Run[*Attempt] {
	r := &Run[*Attempt]{}
	for i := range n {
		a := &Attempt{N: i + 1}
		a.Place(fmt.Sprint("w", i+1), "c", at(60*float64(i)))
		r.Add(a)
	}
	return r
}

func ran(d time.Duration) assay.Measurement { return assay.Measurement{Elapsed: d} }

// The first outcome of a run counts, each further one is extra, and an attempt ends once.
func TestFirstOutcomeCounts(t *testing.T) {
	r := placed(2)
	for i, want := range []bool{true, false} {
		a := r.Attempts[1-i]
		b, ok := r.Book(a, assay.AttemptEnd{Measurement: ran(time.Minute)}, at(200), time.Second)
		if !ok || b.Counts() != want || b.Extra == want || b.Worker != a.Worker {
			t.Errorf("attempt %d: %+v, %v", a.N, b, ok)
		}
		r.End(a, b, b.Measurement)
		if _, again := r.Book(a, b, at(300), time.Second); again {
			t.Errorf("attempt %d ends twice", a.N)
		}
	}
	if r.Counted != r.Attempts[1] {
		t.Errorf("attempt %d counts", r.Counted.N)
	}
}

// An attempt is lost when it is silent for longer than its lease; it comes back when it reports, and not when
// another one counts.
func TestLost(t *testing.T) {
	const lease = 30 * time.Second
	r := placed(1)
	a := r.Attempts[0]
	lose := func(s float64) bool {
		b, ok := r.Book(a, assay.AttemptEnd{Why: assay.WhyLost}, at(s), lease)
		if ok {
			r.End(a, b, a.Latest)
		}
		return ok
	}
	a.Report(ran(10*time.Second), 0, lease, at(10))
	if lose(40) || !lose(40.5) || lose(41) || a.State != Lost {
		t.Errorf("state %d", a.State)
	}
	if !r.Revive(a, at(50)) {
		t.Error("it does not come back")
	}
	a.State = Lost
	r.Closed = true
	if r.Revive(a, at(60)) {
		t.Error("it comes back though the run is closed")
	}
	open := &Attempt{N: 2}
	r.Add(open)
	if _, ok := r.Book(open, assay.AttemptEnd{Why: assay.WhyLost}, at(1000), lease); ok {
		t.Error("an attempt is lost that nobody was given")
	}
}

// The attempt that has run longer of two goes on, unless its machine stood still.
func TestVerdict(t *testing.T) {
	const lease = 30 * time.Second
	for _, tt := range []struct {
		name   string
		change func(r *Run[*Attempt])
		want   string
	}{
		{"both", func(*Run[*Attempt]) {}, "go duplicate"},
		{"the second has run longer", func(r *Run[*Attempt]) { r.Attempts[1].Latest = ran(time.Hour) }, "duplicate go"},
		{
			"the first stood still", func(r *Run[*Attempt]) { r.Attempts[0].Report(ran(0), lease+1, lease, at(60)) },
			"duplicate go",
		},
		{"both stood still", func(r *Run[*Attempt]) {
			r.Attempts[0].Tainted, r.Attempts[1].Tainted = true, true
		}, "cancel cancel"},
		{"to be stopped", func(r *Run[*Attempt]) { r.Want = Stop }, "stop stop"},
		{"closed", func(r *Run[*Attempt]) { r.Closed = true }, "cancel cancel"},
		{"counted", func(r *Run[*Attempt]) { r.Counted = &Attempt{N: 3} }, "duplicate duplicate"},
		{"abandoned", func(r *Run[*Attempt]) { r.Parted, r.Idle = false, at(60) }, "cancel cancel"},
		{"not abandoned yet", func(r *Run[*Attempt]) { r.Parted, r.Idle = false, at(70) }, "go duplicate"},
		{"the second is lost", func(r *Run[*Attempt]) { r.Attempts[1].State = Lost }, "go cancel"},
	} {
		r := placed(2)
		r.Parted = true
		tt.change(r)
		now := at(100)
		first := r.Verdict(r.Attempts[0], now, lease, false)
		if got := first + " " + r.Verdict(r.Attempts[1], now, lease, false); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if r := placed(1); r.Verdict(r.Attempts[0], at(1), lease, true) != Cancel {
		t.Error("an evicted worker goes on")
	}
}

// An attempt that was to end for another one goes on when that one does not count, unless it was ordered to end.
func TestRivalEndsWithoutCounting(t *testing.T) {
	for _, halted := range []bool{false, true} {
		r := placed(2)
		first, second := r.Attempts[0], r.Attempts[1]
		if r.Verdict(first, at(100), time.Minute, false) != Go || !second.Ahead {
			t.Fatal("the second goes on")
		}
		second.Halted = halted
		b, _ := r.Book(first, assay.AttemptEnd{Why: assay.WhyError}, at(110), time.Minute)
		r.End(first, b, assay.Measurement{})
		if second.Ahead != halted {
			t.Errorf("told before: %v, still to end: %v", halted, second.Ahead)
		}
	}
}

// The cause of the end of a run's context decides whether the run is left, stopped or cancelled.
func TestLeave(t *testing.T) {
	stop := errors.New("enough")
	for _, tt := range []struct {
		name  string
		cause error
		calls int
		over  bool
		want  string
		err   error
	}{
		{"detached", assay.ErrDetached, 1, true, "", assay.ErrDetached},
		{"stopped", stop, 1, false, Stop, nil},
		{"cancelled", context.Canceled, 1, false, Cancel, nil},
		{"too late", context.DeadlineExceeded, 1, false, Cancel, nil},
		{"in conflict", assay.Errorf(assay.ClassConflict, "x"), 1, false, Cancel, nil},
		{"one of two", context.Canceled, 2, true, "", context.Canceled},
	} {
		r := placed(1)
		var c *Call
		for range tt.calls {
			c = r.Wait(1, time.Second, true)
		}
		r.Leave(c, tt.cause)
		if c.Over() != tt.over || r.Want != tt.want || !errors.Is(c.Err, tt.err) {
			t.Errorf("%s: over %v, want %q, %v", tt.name, c.Over(), r.Want, c.Err)
		}
	}
	r := placed(1)
	r.Want = Cancel
	if r.Leave(r.Wait(1, 0, false), stop); r.Want != Cancel {
		t.Error("a run that is cancelled is stopped")
	}
}

// An attempt that ended without evidence about the run is passed over; a measurement before its cancellation is kept.
func TestIgnorable(t *testing.T) {
	r := placed(1)
	a := r.Attempts[0]
	a.Report(ran(50*time.Second), 0, time.Minute, at(50))
	b, _ := r.Book(a, assay.AttemptEnd{Why: assay.WhyCancel}, at(60), time.Minute)
	r.End(a, b, ran(time.Minute))
	if _, n, ok := r.Answer(1); ok || n != 2 {
		t.Errorf("attempt %d stands for the first: %v", n, ok)
	}
	if r.Last(true).Elapsed != 50*time.Second || r.Last(false).Elapsed != time.Minute {
		t.Errorf("kept %v, seen %v", r.Last(true).Elapsed, r.Last(false).Elapsed)
	}
	setup := &Attempt{N: 2, State: Placed}
	r.Add(setup)
	r.End(setup, assay.AttemptEnd{Why: assay.WhySetup}, assay.Measurement{})
	if a, _, ok := r.Answer(1); !ok || a != setup {
		t.Error("a setup that fails is passed over")
	}
	r.Recall(setup, assay.AttemptEnd{Why: assay.WhySetup})
	if _, n, ok := r.Answer(1); ok || n != 3 {
		t.Error("a setup that failed in an earlier session is not tried again")
	}
}

// Reports may overtake each other, and one interval of the run's own time is observed once.
func TestReports(t *testing.T) {
	r := placed(1)
	a, c := r.Attempts[0], r.Wait(1, 10*time.Second, true)
	var seen []string
	for _, s := range []float64{3, 12, 8, 19, 20, 45} {
		if a.Report(ran(at(s).Sub(began)), 0, time.Minute, at(s)) && c.Due(a.Latest) {
			seen = append(seen, c.Observed.Elapsed.String())
		}
	}
	if fmt.Sprint(seen) != "[12s 20s 45s]" || !a.Heard.Equal(at(45)) {
		t.Errorf("observed at %v, heard of at %v", seen, a.Heard)
	}
}
