package study

import (
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// Until ten configurations of a program have run whose runs take more than a twentieth of the budget, repeated runs
// take a fifth of the time of all runs at most.
func TestThrift(t *testing.T) {
	const budget = 200 * time.Second
	s := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	for _, tt := range []struct {
		name        string
		tried       int
		each, again float64 // seconds of a trial, and of all repeated runs
		room, rest  float64
	}{
		{"a cheap default", 1, 10, 0, 200, 200},
		{"a dear default", 1, 10.1, 0, 2.525, 40},
		{"a dear default, run again", 1, 50, 50, 0, 0},
		{"three", 3, 20, 0, 15, 40},
		{"four, and as much again as may be", 4, 20, 20, 0, 20},
		{"four, and too much again", 4, 20, 60, 0, 0},
		{"nine", 9, 12, 12, 15, 28},
		{"ten", 10, 20, 90, 200, 200},
	} {
		var h thrift
		for i := range tt.tried {
			run := ran(int64(i), float64(i), tt.each)
			h.trial(run)
			h.trial(run) // the same configuration counts once
		}
		h.searched, h.trials = h.searched/2, h.trials/2
		h.again(ran(1, 1, tt.again))
		room, rest := h.room(budget), h.rest(budget)
		if room.Round(time.Millisecond) != s(tt.room) || rest != s(tt.rest) {
			t.Errorf("%s: room for %v and %v at the end, want %v and %v", tt.name, room, rest, s(tt.room), s(tt.rest))
		}
		if limited := tt.room < 200; h.limits(budget) != limited || h.races() != (tt.tried >= 4) {
			t.Errorf("%s: limited %v, races %v", tt.name, h.limits(budget), h.races())
		}
	}
}

// A run counts with the time of its service, whatever its end; a race needs complete runs.
func TestThriftCountsAllTime(t *testing.T) {
	var h thrift
	for i := range 5 {
		run := ran(int64(i), float64(i), 2)
		run.Started = time.Unix(100, 0)
		run.Ended, run.State = run.Started.Add(6*time.Second), assay.Censored
		h.trial(run)
	}
	if h.searched != 30*time.Second || h.tried.Len() != 5 || h.races() {
		t.Errorf("%v of %d configurations, a race: %v", h.searched, h.tried.Len(), h.races())
	}
}

// The default of an expensive program is not run again at once, and the one of a cheap program is.
func TestDefaultIsRunAgain(t *testing.T) {
	for budget, want := range map[time.Duration]bool{199 * time.Second: false, 200 * time.Second: true, 0: true} {
		l := newLoop(&Study{Race: true, Check: 5, Budget: Budget{Time: budget}})
		l.race.Stopper, l.race.Goal.Grows = stops{}, true
		l.judge.remember(ran(1, 1, 10))
		l.judge.choose()
		if _, doubtful := l.race.doubtful(); !doubtful {
			t.Fatal("one run is taken for the truth")
		}
		if _, again := l.race.doubted(); again != want {
			t.Errorf("a default of 10 s is run again at once within %v: %v", budget, again)
		}
		if _, again := l.race.doubted(); budget > 0 && again {
			l.control.end("search") // nothing is left to try, so nothing is to be spared
			if l.control.pressed() {
				t.Error("repeated runs are limited when the search has ended")
			}
		}
	}
}

// Few configurations keep back no more for the race than a fifth of the budget, and nothing for a race of three. All
// that noise asks for is kept back if ten configurations fit in before the race.
func TestReserveOfFew(t *testing.T) {
	const budget = 100 * time.Second
	for _, tt := range []struct {
		tried   int
		seconds float64
		again   float64 // of the first
		want    time.Duration
	}{
		{3, 20, 0, 0},
		{4, 20, 0, 0},
		{4, 15, 0, 15 * time.Second},
		{4, 15, 10, 0},
		{3, 8, 0, 15 * time.Second},
		{3, 5, 0, 15 * time.Second},
	} {
		l := newLoop(&Study{Race: true, Check: 5, Sequential: true, Budget: Budget{Time: budget}})
		for i := range tt.tried {
			l.judge.remember(ran(int64(i+1), float64(i), tt.seconds))
		}
		l.judge.thrift.repeated = time.Duration(tt.again * float64(time.Second))
		l.judge.choose()
		if got := l.race.raceReserve().Round(time.Millisecond); got != tt.want {
			t.Errorf("%d configurations of %v s keep back %v, want %v", tt.tried, tt.seconds, got, tt.want)
		}
	}
}

// stops is a rule that ends no run.
type stops struct{}

func (stops) Decide([]assay.Trial, assay.Trial) assay.Decision { return assay.Decision{} }
