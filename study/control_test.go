package study

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
)

// whereabout is a study that is somewhere.
type whereabout struct {
	best        float64
	left        int // trials that a budget has room for
	given, redo bool
	kept        time.Duration
	over        []assay.Trial
}

func (a *whereabout) reached(target float64) bool { return a.best <= target }
func (a *whereabout) room(int) int                { return a.left }
func (a *whereabout) pending() (given, redo bool) { return a.given, a.redo }
func (a *whereabout) reserve() time.Duration      { return a.kept }
func (a *whereabout) trials() []assay.Trial       { return a.over }

// enoughAfter ends a study after so many trials.
type enoughAfter int

func (n enoughAfter) Least() float64 { return 0.1 }

func (n enoughAfter) Enough(trials []assay.Trial, _ float64) (string, bool) {
	return "enough", len(trials) >= int(n)
}

// A study with several reasons to end ends by the user's, then by its purpose, then by its cost.
func TestControlEnds(t *testing.T) {
	target := 3.0
	closed := make(chan struct{})
	close(closed)
	three := make([]assay.Trial, 3)
	for _, tt := range []struct {
		name  string
		study Study
		at    whereabout
		want  string
	}{
		{"nothing", Study{}, whereabout{}, ""},
		{"drained", Study{Drain: closed, Budget: Budget{Target: &target}}, whereabout{best: 2}, "interrupt"},
		{"target", Study{Budget: Budget{Target: &target, Trials: 1}}, whereabout{best: 3}, "target"},
		{"no target", Study{Budget: Budget{Target: &target}}, whereabout{best: 4}, ""},
		{"trials", Study{Budget: Budget{Trials: 9, Time: time.Nanosecond}}, whereabout{kept: time.Second}, "trials"},
		{"one more", Study{Budget: Budget{Trials: 9}}, whereabout{left: 1}, ""},
		{"one again", Study{Budget: Budget{Trials: 9}}, whereabout{redo: true}, ""},
		{"time", Study{Budget: Budget{Time: time.Second}}, whereabout{kept: time.Second}, "budget"},
		{"time left", Study{Budget: Budget{Time: time.Second}}, whereabout{kept: time.Second - 1}, ""},
		{"gain", Study{StudyStopper: enoughAfter(3)}, whereabout{over: three}, "gain"},
		{"gain, but given", Study{StudyStopper: enoughAfter(3)}, whereabout{over: three, given: true}, ""},
		{"gain to come", Study{StudyStopper: enoughAfter(4)}, whereabout{over: three}, ""},
	} {
		c := newControl(recorded(t, &tt.study), &tt.at, func(bool) {}, nil)
		if got := c.over(t.Context()); got != tt.want {
			t.Errorf("%s: ended by %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A pause is on record once, holds the runs, and takes no time of the study. More budget has a search go on.
func TestControlObeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held []bool
		c := newControl(recorded(t, &Study{Control: NewControl(), Budget: Budget{Trials: 5}}), &whereabout{best: math.Inf(1)},
			func(on bool) { held = append(held, on) }, nil)
		c.goLive()
		c.start(c.clock.Now())
		do := func(s assay.StudyCommand, want bool) {
			t.Helper()
			if changed, err := c.steer(t.Context(), s); err != nil || changed != want {
				t.Errorf("%+v: %v, %v", s, changed, err)
			}
		}
		time.Sleep(time.Second)
		do(assay.StudyCommand{Do: steerPause}, true)
		do(assay.StudyCommand{Do: steerPause}, false)
		time.Sleep(time.Hour)
		do(assay.StudyCommand{Do: steerRun}, true)
		time.Sleep(time.Second)
		if got := c.record.spent(); got != 2*time.Second || !slices.Equal(held, []bool{true, false}) {
			t.Errorf("%v were spent, held %v", got, held)
		}
		c.end("trials")
		do(assay.StudyCommand{Do: steerBudget, Trials: 8}, true)
		if c.endedBy() != "" || !c.goesOn() || c.budget().Trials != 8 {
			t.Errorf("ended by %q, goes on %v, %+v", c.endedBy(), c.goesOn(), c.budget())
		}
		_, err := c.steer(t.Context(), assay.StudyCommand{Do: steerBudget, Trials: -1})
		if assay.ClassOf(err) != assay.ClassUsage {
			t.Error(err)
		}
		if got := kinds(t, c.session); len(got) != 3 {
			t.Errorf("on record: %v", got)
		}
	})
}

// A command ends the wait of the race in a pause.
func TestControlWaitsInAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewControl()
		var c *control
		c = newControl(recorded(t, &Study{Control: h}), &whereabout{}, func(bool) {}, func(ctx context.Context, do command) {
			_, err := c.steer(ctx, assay.StudyCommand{Do: steerRun})
			do.answer <- err
		})
		c.goLive()
		if _, err := c.steer(t.Context(), assay.StudyCommand{Do: steerPause}); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Minute)
			if err := h.Resume(t.Context(), "ada", ""); err != nil {
				t.Error(err)
			}
		}()
		began := time.Now()
		if c.interrupted(t.Context()) || time.Since(began) != time.Minute {
			t.Errorf("after %v", time.Since(began))
		}
		synctest.Wait()
	})
}
