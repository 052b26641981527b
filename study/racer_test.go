package study

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// reruns is all that a racer knows of. A run takes 4 s, and is in made.
type reruns struct {
	limit   Budget
	stopped bool
	best1   *assay.Trial
	first1  *assay.Trial
	broken  []int64
	lost    bool
	over    bool // the search has nothing more to try
	made    []string
	queue   []assay.Trial // of the race
	races   int
	slow    time.Duration // how long a run of the first takes, if that is another time
}

func (r *reruns) budget() Budget                   { return r.limit }
func (r *reruns) interrupted(context.Context) bool { return r.stopped }
func (r *reruns) exhausted() bool                  { return false }
func (r *reruns) timed() bool                      { return r.over }
func (r *reruns) pressed() bool                    { return false }
func (r *reruns) repeats(assay.Config) bool        { return false }
func (r *reruns) least() time.Duration             { return time.Second }
func (r *reruns) best() *assay.Trial               { return r.best1 }
func (r *reruns) first() *assay.Trial              { return r.first1 }
func (r *reruns) holds(t assay.Trial) bool         { return r.checked(t.ID) > 0 || len(r.broken) == 0 }
func (r *reruns) broke(t assay.Trial) bool         { return slices.Contains(r.broken, t.ID) }
func (r *reruns) rule(assay.Config) assay.Stopper  { return nil }
func (r *reruns) noise() (float64, bool)           { return 0.05, false }
func (r *reruns) counts() (trials, races int)      { return 10, r.races }

func (r *reruns) typical(c assay.Config) time.Duration {
	if r.slow > 0 && r.first1 != nil && c.Equal(r.first1.Config) {
		return r.slow
	}
	return 4 * time.Second
}

func (r *reruns) doubt(func(assay.Config) bool) (t assay.Trial, ok bool) { return t, false }

func (r *reruns) next() (t assay.Trial, ok bool) {
	if len(r.queue) == 0 {
		return t, false
	}
	return r.queue[0], true
}

func (r *reruns) checked(id int64) (n int) {
	for _, m := range r.made {
		if m == fmt.Sprint("check ", id) {
			n++
		}
	}
	return n
}

func (r *reruns) again(_ context.Context, t assay.Trial, _ time.Duration, _ assay.Stopper) outcome {
	t.State = assay.Done
	return outcome{trial: t, again: true, lost: r.lost}
}

func (r *reruns) settleAgain(_ context.Context, o outcome) error {
	r.made, r.races, r.queue = append(r.made, fmt.Sprint("race ", o.trial.ID)), r.races+1, r.queue[min(1, len(r.queue)):]
	return nil
}

func (r *reruns) compared(_ context.Context, t assay.Trial) error {
	r.made = append(r.made, fmt.Sprint("check ", t.ID))
	return nil
}

func racing(s Study, r *reruns) *racer {
	return &racer{
		session: newSession(&s), limits: r, runs: r, took: r, contest: r, duel: r, thrift: &thrift{},
		redoing: map[int64]bool{},
	}
}

func trialOf(id int64, seconds float64) *assay.Trial {
	t := ran(id, float64(id), seconds)
	return &t
}

// The best and the first run in turn until each has Check runs. Nothing runs if there is nothing to
// compare, and a comparison that was cut short has a reason.
func TestRacerChecks(t *testing.T) {
	seven, one := trialOf(7, 4), trialOf(1, 5)
	for _, tt := range []struct {
		name string
		r    reruns
		want []string
		says bool
	}{
		{"in turn", reruns{best1: seven, first1: one}, []string{"check 7", "check 1", "check 7", "check 1"}, false},
		{"no best", reruns{first1: trialOf(1, 5)}, nil, false},
		{"one configuration", reruns{best1: trialOf(1, 4), first1: trialOf(1, 4)}, nil, false},
		{"the first broke", reruns{best1: seven, first1: one, broken: []int64{1}}, []string{"check 7"}, false},
		{"interrupted", reruns{best1: seven, first1: one, stopped: true}, nil, false},
		{"no time", reruns{best1: seven, first1: one, limit: Budget{Time: 3 * time.Second}}, nil, true},
		{"cut off", reruns{best1: seven, first1: one, lost: true}, nil, false},
	} {
		r := racing(Study{Race: true, Check: 2}, &tt.r)
		if err := r.check(t.Context()); err != nil || !slices.Equal(tt.r.made, tt.want) || (r.missed() != "") != tt.says {
			t.Errorf("%s: %v, %v, %q", tt.name, err, tt.r.made, r.missed())
		}
	}
}

// A run that does not count is made again first, then the contenders' runs, as often as a fifth of the trials.
func TestRacerRaces(t *testing.T) {
	runs := &reruns{queue: []assay.Trial{*trialOf(3, 4), *trialOf(4, 4), *trialOf(5, 4), *trialOf(6, 4)}}
	r := racing(Study{Race: true, Check: 1}, runs)
	r.spoil([]assay.Proposal{{ID: 9, Config: assay.Config{9}}})
	runs.queue = append([]assay.Trial{{}}, runs.queue...) // settleAgain takes one for the trial that is redone
	if err := r.race(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"race 9", "race 3"}; !slices.Equal(runs.made[:2], want) || len(runs.made) != 2 {
		t.Errorf("ran %v, want %v: two are a fifth of ten", runs.made, want)
	}
	if _, more := r.toRedo(); more || !r.redoes(9) || !r.redone(9) || r.owes() || r.redone(9) {
		t.Error("a trial that was run again is owed")
	}
}
