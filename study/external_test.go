package study_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// deskStudy is a study of one number whose runs a test makes.
func deskStudy(t *testing.T, st assay.Store) *study.Study {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 0, Hi: 99}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Spec(t.Context(), "s"); err != nil {
		if err := st.Create(t.Context(), "s", nil); err != nil {
			t.Fatal(err)
		}
	}
	bayes := search.NewBayes(space, search.BayesOptions{Learner: model.Forest{Trees: 10}, Initial: 4, Seed: 1})
	return &study.Study{
		Name: "s", Space: space, Store: st, Searcher: bayes, Goal: assay.Goal{Metric: "loss"},
		Budget: study.Budget{Trials: 12},
	}
}

func openDesk(t *testing.T, st assay.Store) *study.ExternalSession {
	t.Helper()
	d, err := deskStudy(t, st).ExternalSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func askDesk(t *testing.T, d *study.ExternalSession, n int) study.Answer {
	t.Helper()
	a, err := d.Ask(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func reportOf(id int64, value float64) study.Report { return study.Report{ID: id, Value: &value} }

func loss(c assay.Config) float64 { return (c[0] - 40) * (c[0] - 40) }

func deskEvents(t *testing.T, st assay.Store) (all []assay.Event) {
	t.Helper()
	for e, err := range st.Events(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// A process that ends after every call, and one that goes on, hand out the same trials.
func TestDeskGoesOnWhereItWas(t *testing.T) {
	play := func(t *testing.T, reopen bool) (said []string) {
		st := store.NewMem()
		d := openDesk(t, st)
		again := func() {
			if reopen {
				d = openDesk(t, st)
			}
		}
		for {
			a := askDesk(t, d, 2)
			again()
			if len(a.Trials) == 0 {
				said = append(said, a.Ended)
				return said
			}
			var reports []study.Report
			for _, h := range slices.Backward(a.Trials) {
				said = append(said, fmt.Sprint(h.ID, h.Config))
				reports = append(reports, reportOf(h.ID, loss(h.Config)))
			}
			r, err := d.Tell(t.Context(), reports)
			if err != nil || r.Told != len(a.Trials) {
				t.Fatal(r, err)
			}
			again()
		}
	}
	kept, reopened := play(t, false), play(t, true)
	if !slices.Equal(kept, reopened) {
		t.Errorf("handed out\n%v\nand by new processes\n%v", kept, reopened)
	}
	if len(kept) != 13 || kept[12] != "trials" {
		t.Errorf("%d trials, then %q; want 12 and the number of trials", len(kept)-1, kept[len(kept)-1])
	}
}

// The end is on record once, however often a client asks again.
func TestDeskEndsOnce(t *testing.T) {
	st := store.NewMem()
	for _, h := range askDesk(t, openDesk(t, st), 20).Trials {
		if _, err := openDesk(t, st).Tell(t.Context(), []study.Report{reportOf(h.ID, loss(h.Config))}); err != nil {
			t.Fatal(err)
		}
	}
	n := len(deskEvents(t, st))
	for range 3 {
		if a := askDesk(t, openDesk(t, st), 1); a.Ended != "trials" || len(a.Trials) > 0 {
			t.Errorf("asked again: %+v", a)
		}
	}
	all := deskEvents(t, st)
	if last := all[len(all)-1].Ended; len(all) != n || last == nil || last.By != "trials" {
		t.Errorf("%d events, then %d; the last is %+v", n, len(all), all[len(all)-1])
	}
	if r := openDesk(t, st).Result(); !r.Found || r.EndedBy != "trials" || len(r.Trials) != 12 {
		t.Errorf("result %+v", r)
	}
}

// Nothing is told if one report cannot be, and the desk goes on.
func TestDeskTellsAllOrNothing(t *testing.T) {
	st := store.NewMem()
	d := openDesk(t, st)
	a := askDesk(t, d, 3)
	before := len(deskEvents(t, st))
	one := 1.0
	for name, c := range map[string]struct {
		report study.Report
		class  assay.Class
	}{
		"not asked":      {reportOf(9, 1), assay.ClassNotFound},
		"no value":       {study.Report{ID: 2}, assay.ClassUsage},
		"not a number":   {reportOf(2, math.NaN()), assay.ClassUsage},
		"no state":       {study.Report{ID: 2, Value: &one, State: "running"}, assay.ClassUsage},
		"two values":     {study.Report{ID: 2, Value: &one, Metrics: map[string]float64{"loss": 2}}, assay.ClassUsage},
		"told otherwise": {reportOf(1, 6), assay.ClassConflict},
	} {
		c.report.Place = "in:2"
		_, err := d.Tell(t.Context(), []study.Report{reportOf(1, 5), c.report})
		if err == nil || assay.ClassOf(err) != c.class || !strings.HasPrefix(err.Error(), "in:2: ") {
			t.Errorf("%s: %v of class %v, want class %v", name, err, assay.ClassOf(err), c.class)
		}
	}
	if n := len(deskEvents(t, st)); n != before || len(d.Open()) != 3 {
		t.Errorf("%d events, %d before; %d trials in flight", n, before, len(d.Open()))
	}
	same := []study.Report{reportOf(1, 5), reportOf(1, 5), reportOf(2, 4)}
	if r, err := d.Tell(t.Context(), same); err != nil || r.Told != 2 || r.Known != 1 || r.Open != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := openDesk(t, st).Tell(t.Context(), same); err != nil || r.Told != 0 || r.Known != 3 {
		t.Errorf("told again: %+v, %v", r, err)
	}
	if b := d.Result().Best; b.ID != 2 || b.Value != 4 {
		t.Errorf("best %+v of %v", b, a.Trials)
	}
}

// A metric that no client measured keeps no limit, though every measurement has an elapsed time.
func TestDeskLimits(t *testing.T) {
	st := store.NewMem()
	s := deskStudy(t, st)
	s.Goal.Limits = []assay.Limit{{Text: "elapsed <= 3", Holds: func(metric func(string) (float64, bool)) (bool, error) {
		x, ok := metric("elapsed")
		if !ok {
			return false, errors.New("not measured")
		}
		return x <= 3, nil
	}}}
	d, err := s.ExternalSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	askDesk(t, d, 2)
	if _, err := d.Tell(t.Context(), []study.Report{reportOf(1, 5)}); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("a limit on what was not told: %v", err)
	}
	slow := reportOf(1, 5)
	slow.Metrics = map[string]float64{"elapsed": 4}
	if _, err := d.Tell(t.Context(), []study.Report{slow}); err != nil {
		t.Fatal(err)
	}
	if got := d.Result().Trials[0]; got.State != assay.Infeasible || got.Measurement.Elapsed != 4*time.Second {
		t.Errorf("%+v", got)
	}
}

// A trial without a result is handed out again or withdrawn after a time, also by another process.
func TestDeskAgainAndWithdraw(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		askDesk(t, openDesk(t, st), 1)
		time.Sleep(time.Minute)
		askDesk(t, openDesk(t, st), 2)
		again := func(age time.Duration) string {
			a, err := openDesk(t, st).Again(t.Context(), 9, age)
			if err != nil {
				t.Fatal(err)
			}
			s := ""
			for _, h := range a.Trials {
				s += fmt.Sprintf("%d/%d ", h.ID, h.Attempt)
			}
			return s
		}
		for _, step := range []struct {
			age  time.Duration
			want string
		}{{time.Minute, "1/2 "}, {time.Minute, ""}, {0, "1/3 2/2 3/2 "}} {
			if got := again(step.age); got != step.want {
				t.Errorf("older than %v: %q, want %q", step.age, got, step.want)
			}
		}
		time.Sleep(time.Hour)
		back, err := openDesk(t, st).Withdraw(t.Context(), time.Hour, "me", "lost")
		if err != nil || len(back) != 3 {
			t.Fatal(back, err)
		}
		d := openDesk(t, st)
		if _, err := d.Tell(t.Context(), []study.Report{reportOf(2, 1)}); assay.ClassOf(err) != assay.ClassConflict {
			t.Errorf("a result of a trial that was taken back: %v", err)
		}
		if a := askDesk(t, d, 20); len(a.Trials) != 12 || a.Open != 12 {
			t.Errorf("%d trials, want the whole budget: what was withdrawn uses up nothing of it", len(a.Trials))
		}
	})
}

// fullStore is a store whose disk is full.
type fullStore struct {
	assay.Store
	full bool
}

func (f *fullStore) Append(ctx context.Context, name string, at assay.Position, es ...assay.Event) (assay.Position,
	error,
) {
	if f.full {
		return 0, errors.New("disk is full")
	}
	return f.Store.Append(ctx, name, at, es...)
}

// A proposal that cannot be recorded is not handed out, and counts for nothing.
func TestDeskStoreFails(t *testing.T) {
	st := &fullStore{Store: store.NewMem()}
	open := func() *study.ExternalSession {
		s := deskStudy(t, st)
		s.Patience = -1
		d, err := s.ExternalSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := open()
	askDesk(t, d, 1)
	st.full = true
	if a, err := d.Ask(t.Context(), 1); err == nil || len(a.Trials) > 0 || d.Err() == nil {
		t.Errorf("asked of a full disk: %+v, %v", a, err)
	}
	d = open()
	if _, err := d.Tell(t.Context(), []study.Report{reportOf(1, 1)}); err == nil || len(d.Result().Trials) > 0 {
		t.Errorf("told to a full disk: %v, %+v", err, d.Result())
	}
	st.full = false
	if a := askDesk(t, open(), 1); len(a.Trials) != 1 || a.Trials[0].ID != 2 {
		t.Errorf("after it: %+v", a)
	}
}

// The decision of a person holds for the desks that come after, and a trial in flight may be told all the same.
func TestDeskObeys(t *testing.T) {
	st := store.NewMem()
	d := openDesk(t, st)
	a := askDesk(t, d, 2)
	for _, s := range []assay.StudyCommand{
		{Do: "run"},
		{Do: "run"},
		{Do: "budget", Trials: 3},
		{Do: "budget", Trials: 3},
		{Do: "pause"},
	} {
		if err := d.Steer(t.Context(), s); err != nil {
			t.Fatal(s, err)
		}
	}
	if n := len(deskEvents(t, st)); n != 5 {
		t.Errorf("%d events; want 2 trials and the 3 decisions that change something", n)
	}
	d = openDesk(t, st)
	if _, err := d.Ask(t.Context(), 1); assay.ClassOf(err) != assay.ClassConflict {
		t.Errorf("asked in a pause: %v", err)
	}
	if r, err := d.Tell(t.Context(), []study.Report{reportOf(a.Trials[0].ID, 1)}); err != nil || r.Told != 1 {
		t.Errorf("told in a pause: %+v, %v", r, err)
	}
	if err := d.Steer(t.Context(), assay.StudyCommand{Do: "run"}); err != nil {
		t.Fatal(err)
	}
	if a := askDesk(t, d, 5); len(a.Trials) != 1 || a.Open != 2 {
		t.Errorf("asked for 5 of 3 trials with 2 asked: %+v", a)
	}
	open, err := study.InFlight(t.Context(), st, "s")
	if err != nil || len(open) != 2 || open[0].ID != 2 || open[1].ID != 3 {
		t.Errorf("in flight by the record: %+v, %v", open, err)
	}
	for _, s := range []assay.StudyCommand{
		{Do: "budget"},
		{Do: "budget", Trials: 3, Time: time.Second},
		{Do: "budget", Trials: -1},
	} {
		if err := d.Steer(t.Context(), s); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
