package study_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// A drifting is a floor of which worker "c" is slower from its 14th run on, until it is set aside.
type drifting struct {
	*floor
	runs  int
	aside []string
}

func (d *drifting) SetAside(where, class, reason string) {
	d.aside = append(d.aside, where+" "+class+": "+reason)
	d.workers = slices.DeleteFunc(d.workers, func(w station) bool { return w.name == where })
}

func drifts() *drifting {
	d := &drifting{floor: &floor{workers: []station{{"a", "k"}, {"b", "k"}, {"c", "k"}}}}
	d.takes = func(x float64, w station) float64 {
		v := 100 + x/100
		if w.name == "c" {
			if d.runs++; d.runs > 14 {
				v *= 1.25
			}
		}
		return v
	}
	return d
}

// watcher is a searcher that remembers the trials it observed.
type watcher struct {
	assay.Searcher
	seen []int64
}

func (w *watcher) Observe(trials ...assay.Trial) error {
	for _, t := range trials {
		w.seen = append(w.seen, t.ID)
	}
	return nil
}

// A worker that drifts is set aside, in plain words, and its last trials are run again by others. A session that
// goes on knows of it, and owes the same trials.
func TestDriftingWorkerIsSetAside(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		session := func(st assay.Store, d *drifting, die int) (*watcher, study.Result, error) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := onFloor(t, st, d.floor, 90)
			space, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 4000}})
			if err != nil {
				t.Fatal(err)
			}
			w := &watcher{Searcher: search.NewRandom(space, 3)}
			s.Space, s.Searcher, s.Runner, s.Check = space, w, d, 0
			runs := 0
			s.Command = func(c assay.Config) (assay.Job, error) {
				if runs++; runs == die {
					cancel()
				}
				return assay.Job{Config: c}, nil
			}
			r, err := s.Run(ctx)
			return w, r, err
		}
		check := func(what string, st assay.Store, w *watcher) {
			t.Helper()
			var drift *assay.Drift
			redone := map[int64]string{}
			for e, err := range st.Events(t.Context(), "s", 0) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Drifted != nil {
					if drift != nil {
						t.Errorf("%s: a second drift: %+v", what, e.Drifted)
					}
					drift = e.Drifted
				}
				if e.Checked != nil && e.Redone {
					redone[e.Checked.ID] = e.Checked.Measurement.Worker
				}
			}
			if drift == nil || drift.Worker != "c" || drift.MachineClass != "k" || drift.Ratio < 1.2 || drift.Ratio > 1.3 ||
				!strings.Contains(drift.Reason, "c is 2") || !strings.Contains(drift.Reason, "slower than its class since ") {
				t.Fatalf("%s: the drift on record is %+v", what, drift)
			}
			if n := len(drift.Trials); n < 8 || n > 16 {
				t.Errorf("%s: %d trials do not count: %v", what, n, drift.Trials)
			}
			for _, id := range drift.Trials {
				if where := redone[id]; where == "" || where == "c" {
					t.Errorf("%s: trial %d is run again by %q", what, id, where)
				}
				if !slices.Contains(w.seen, id) {
					t.Errorf("%s: the searcher does not hear of trial %d again", what, id)
				}
			}
			if len(redone) != len(drift.Trials) {
				t.Errorf("%s: %d trials are run again, %d do not count", what, len(redone), len(drift.Trials))
			}
		}
		st, d := store.NewMem(), drifts()
		w, r, err := session(st, d, 0)
		if err != nil || len(d.aside) != 1 || !strings.HasPrefix(d.aside[0], "c k: c is ") {
			t.Fatalf("%v, set aside: %q", err, d.aside)
		}
		check("whole", st, w)
		if !r.Found {
			t.Error("nothing is found")
		}
		for _, die := range []int{30, len(d.made) - 20, len(d.made) - 5} {
			st, d := store.NewMem(), drifts()
			if _, _, err := session(st, d, die); !errors.Is(err, study.ErrInterrupted) {
				t.Fatalf("killed in run %d: %v", die, err)
			}
			w, _, err := session(st, d, 0)
			if err != nil {
				t.Fatalf("killed in run %d: %v", die, err)
			}
			check(fmt.Sprintf("killed in run %d", die), st, w)
		}
	})
}

// A drift is reported for a metric that is no time too, and with the date if it began on another day.
func TestDriftInWords(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := drifts()
		s := onFloor(t, store.NewMem(), d.floor, 90)
		space, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 4000}})
		if err != nil {
			t.Fatal(err)
		}
		s.Space, s.Searcher, s.Check = space, search.NewRandom(space, 3), 0
		s.Runner = scored{d}
		s.Goal = assay.Goal{Metric: "score"}
		mustRun(t, s)
		if len(d.aside) != 1 || !strings.Contains(d.aside[0], "the score that c measures is 2") ||
			!strings.Contains(d.aside[0], "above its class since ") {
			t.Errorf("%q", d.aside)
		}
	})
}

// scored has the time of a run as a metric of its own.
type scored struct{ *drifting }

func (s scored) Run(ctx context.Context, job assay.Job, see func(assay.Measurement)) (assay.Measurement, error) {
	m, err := s.drifting.Run(ctx, job, see)
	m.Metrics = map[string]float64{"score": m.Elapsed.Seconds()}
	return m, err
}
