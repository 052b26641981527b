package result

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// A screen remembers the lines that it was given to show.
type screen struct {
	printed []string
	set     []string
}

func (s *screen) Print(line string) { s.printed = append(s.printed, line) }
func (s *screen) Set(line string)   { s.set = append(s.set, line) }

// status returns the line that changes, as it is now.
func (s *screen) status() string {
	if len(s.set) == 0 {
		return ""
	}
	return s.set[len(s.set)-1]
}

// liveOn returns a view of a study of n in 1..1000 on a screen.
func liveOn(t testing.TB, s *screen) *Live {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	return &Live{Space: space, Goal: assay.Goal{Metric: "elapsed", Unit: "s"}, Screen: s}
}

// trial returns a trial of n = id.
func trial(id int64, state assay.State, value float64, reason string) assay.Trial {
	return assay.Trial{
		Proposal: assay.Proposal{ID: id, Config: assay.Config{float64(id)}}, State: state, Value: value, Reason: reason,
	}
}

// Thirty stops in a row that nothing has proved right are said once, whatever comes then;
// stops at the best value, each of which is right, are not.
func TestLiveWarnsOfUnprovenStops(t *testing.T) {
	for _, c := range []struct {
		at   float64 // the value at which runs are stopped
		want int
	}{{3, 1}, {10, 0}} {
		var out screen
		l := liveOn(t, &out)
		var trials []assay.Trial
		tell := func(tr assay.Trial) {
			tr.ID, tr.Config = int64(len(trials)+1), assay.Config{float64(len(trials) + 1)}
			trials = append(trials, tr)
			l.Notify(study.Progress{Trials: trials})
		}
		stopped := assay.Trial{State: assay.Censored, Value: c.at, Decision: &assay.Decision{Stop: true}}
		tell(assay.Trial{State: assay.Done, Value: 10})
		for range unprovenMost - 1 {
			tell(stopped)
		}
		said := func() string { return strings.Join(out.printed, "\n") }
		if strings.Contains(said(), "warning") {
			t.Errorf("stopped at %v: too early:\n%s", c.at, said())
		}
		tell(stopped)
		tell(stopped)
		tell(assay.Trial{State: assay.Done, Value: 9})
		for range 2 * unprovenMost {
			tell(stopped)
		}
		l.Close()
		want := "warning: the last 30 runs were stopped on predictions, and none has shown whether these are right; " +
			"stop: {rule: ..., audit: 0.1} lets some run on, --stop incumbent predicts nothing"
		if n := strings.Count(said(), want); n != c.want {
			t.Errorf("stopped at %v: said %d times, want %d:\n%s", c.at, n, c.want, said())
		}
	}
}

// Without a terminal each trial has one line, the best so far a star, and a failure its
// reason. On a terminal a trial has a line if it is better than all before, or if it did not run to its end
// within the limits for a reason other than early stopping.
func TestLiveLines(t *testing.T) {
	stopped := trial(2, assay.Censored, 4, "worse")
	stopped.Decision = &assay.Decision{Stop: true}
	trials := []assay.Trial{
		trial(1, assay.Done, 3, ""), stopped, trial(3, assay.Failed, 0, "exit code 3"),
		trial(4, assay.Infeasible, 1, "max_rss <= 2"), trial(5, assay.Withdrawn, 0, "lost"), trial(6, assay.Done, 3, ""),
		trial(7, assay.Done, 0.5, ""), trial(8, assay.Censored, 2, "the study's time budget was spent"),
	}
	all := []string{
		"*    1  done                  3 s  n=1", "     2  stopped             > 4 s  n=2",
		"     3  failed                  –  n=3  (exit code 3)", "     4  outside limits        1 s  n=4  (max_rss <= 2)",
		"     5  withdrawn               –  n=5  (lost)", "     6  done                  3 s  n=6",
		"*    7  done               500 ms  n=7",
		"     8  stopped             > 2 s  n=8  (the study's time budget was spent)",
	}
	for _, tty := range []bool{false, true} {
		var s screen
		l := liveOn(t, &s)
		l.Terminal = tty
		for n := range trials {
			l.Notify(study.Progress{Trials: trials[:n+1]})
			l.Notify(study.Progress{Trials: trials[:n+1]}) // nothing new
		}
		want := all
		if tty {
			want = slices.Concat(all[:1], all[2:5], all[6:])
		}
		if !slices.Equal(s.printed, want) {
			t.Errorf("terminal %v: got\n%q, want\n%q", tty, s.printed, want)
		}
	}
}

// The status line has the trials, the best, the time spent and left, and the running trials. It
// goes on while nothing happens, on a terminal, unless the time is simulated.
func TestLiveStatus(t *testing.T) {
	for _, simulated := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var s screen
			l := liveOn(t, &s)
			l.Terminal, l.Simulated, l.Budget = true, simulated, spec.Budget{Trials: 9, Time: time.Minute}
			l.Start("x", true)
			best := trial(1, assay.Done, 2, "")
			running := []study.Running{{Proposal: assay.Proposal{ID: 2, Config: assay.Config{7}}}}
			l.Notify(study.Progress{Trials: []assay.Trial{best}, Best: &best, Spent: 10 * time.Second, Running: running})
			running[0].Config = assay.Config{8} // the loop uses it again
			if want := "1/9 trials · best 2 s (n=1) · 10 s, 50 s left · running n=7"; s.status() != want {
				t.Errorf("got %q, want %q", s.status(), want)
			}
			time.Sleep(5*time.Second + time.Millisecond)
			synctest.Wait()
			want := "1/9 trials · best 2 s (n=1) · 15 s, 45 s left · running n=7"
			if simulated {
				want = "1/9 trials · best 2 s (n=1) · 10 s, 50 s left · running n=7"
			}
			l.Draining()
			l.Close()
			if s.status() != want {
				t.Errorf("simulated %v, after 5 s: got %q, want %q", simulated, s.status(), want)
			}
			l.Notify(study.Progress{Trials: []assay.Trial{best}})
			if !strings.HasSuffix(s.status(), " · ending") {
				t.Errorf("after an interrupt: %q", s.status())
			}
			want = "resuming study x: minimize elapsed, 1000 configurations, " +
				"*    1  done                  2 s  n=1, interrupted: waiting for the runs in flight; again to end at once"
			if got := strings.Join(s.printed, ", "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// The trials of an earlier session have one line together, and their best value counts.
func TestLiveReplayed(t *testing.T) {
	var s screen
	l := liveOn(t, &s)
	l.Start("x", false)
	l.Notify(study.Progress{Replay: true})
	best := trial(1, assay.Done, 2, "")
	trials := []assay.Trial{best, trial(2, assay.Done, 4, "")}
	l.Notify(study.Progress{Replay: true, Trials: trials, Best: &best, Spent: time.Minute})
	l.Notify(study.Progress{Trials: append(trials, trial(3, assay.Done, 3, ""))})
	l.Notify(study.Progress{
		Trials: append(trials, trial(3, assay.Done, 3, "")), Running: []study.Running{{Proposal: best.Proposal, Again: true}},
	})
	if !strings.Contains(s.status(), " · repeating the leaders · running n=1") {
		t.Errorf("a trial that runs again: %q", s.status())
	}
	l.Notify(study.Progress{
		Trials: append(trials, trial(3, assay.Done, 3, "")), Running: []study.Running{{Proposal: best.Proposal, Again: true}},
		Checks: 1,
	})
	l.Draining()
	if !strings.Contains(s.status(), " · comparing the best with the first · running n=1") {
		t.Errorf("a trial that runs again: %q", s.status())
	}
	l.Notify(study.Progress{})
	l.Draining()
	l.Close()
	want := []string{
		"study x: minimize elapsed, 1000 configurations", "2 trials on record, 1 min spent, best 2 s",
		"     3  done                  3 s  n=3",
		"interrupted: waiting for the runs in flight; again to end at once", "interrupted",
	}
	if fmt.Sprint(s.printed) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", s.printed, want)
	}
}
