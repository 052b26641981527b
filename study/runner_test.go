package study

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
)

// unseen has no trial to compare a run with.
type unseen struct{}

func (unseen) past() ([]assay.Trial, bool)                 { return nil, true }
func (unseen) asSeen(t assay.Trial) (assay.Trial, float64) { return t, 1 }
func (unseen) interval(every time.Duration) time.Duration  { return every }

// sleeper takes as many seconds as its configuration has.
type sleeper struct{ held []bool }

func (s *sleeper) Hold(on bool) { s.held = append(s.held, on) }

func (s *sleeper) Run(ctx context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	d := time.Duration(job.Config[0]) * time.Second
	select {
	case <-time.After(d):
		return assay.Measurement{Elapsed: d}, nil
	case <-ctx.Done():
		return assay.Measurement{}, context.Cause(ctx)
	}
}

func newSleeping(parallel int) (*runner, *sleeper) {
	made := &sleeper{}
	s := newSession(&Study{
		Name: "s", Goal: assay.Goal{Metric: "elapsed", Grows: true}, Runner: made, Parallel: parallel,
		Command: func(c assay.Config) (assay.Job, error) { return assay.Job{Config: c}, nil },
	})
	return newRunner(s, unseen{}, &assay.ConfigIndex{}), made
}

func (r *runner) launched(ctx context.Context, id int64, x float64) {
	p := assay.Proposal{ID: id, Config: assay.Config{x}}
	r.note(p, false)
	r.start(ctx, launch{Proposal: p, id: r.first(p)})
}

// Outcomes come in the order in which runs end. A run is in flight until its outcome is taken and dropped.
func TestRunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, made := newSleeping(2)
		r.launched(t.Context(), 1, 5)
		r.launched(t.Context(), 2, 3)
		if !r.runs(1) || !r.has(assay.Config{3}) || r.repeats(assay.Config{3}) || r.searching() != 2 || r.capacity() != 2 {
			t.Errorf("in flight: %v", r.inFlight())
		}
		for _, want := range []int64{2, 1} {
			o, _, what := r.wait(signals{})
			if what != ended || o.trial.ID != want || o.trial.State != assay.Done {
				t.Errorf("%v: %+v, want trial %d", what, o, want)
			}
			if r.dropOne(want); r.runs(want) {
				t.Errorf("trial %d runs on", want)
			}
		}
		if r.hold(true); len(made.held) != 1 || !made.held[0] {
			t.Errorf("the Runner was held: %v", made.held)
		}
	})
}

// A trial that is withdrawn is cancelled and lost; each of several who asked is answered, once.
func TestRunnerWithdraws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newSleeping(2)
		r.launched(t.Context(), 1, 100)
		answers := 0
		for range 2 {
			r.withdraw(assay.Withdrawal{Trial: 1}, func(error) { answers++ })
		}
		began := time.Now()
		o, _, _ := r.wait(signals{})
		if !o.lost || time.Since(began) > 0 || !r.leaves(1) {
			t.Errorf("after %v: %+v", time.Since(began), o)
		}
		w, ok := r.left(1)
		if w.ended(nil); !ok || answers != 2 || r.leaves(1) {
			t.Errorf("%v, %d answers", ok, answers)
		}
		if _, again := r.left(1); again {
			t.Error("it leaves twice")
		}
	})
}

// A wait ends by a signal as well, and leaves the runs as they are.
func TestRunnerWaitsForSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newSleeping(2)
		ctx, cancel := context.WithCancelCause(t.Context())
		r.launched(ctx, 1, 100)
		closed := make(chan struct{})
		close(closed)
		commands := make(chan command, 1)
		commands <- command{answer: make(chan error)}
		if _, _, what := r.wait(signals{drain: closed}); what != drained {
			t.Errorf("drained: %v", what)
		}
		if _, _, what := r.wait(signals{broken: closed}); what != roomy {
			t.Errorf("broken: %v", what)
		}
		if _, c, what := r.wait(signals{commands: commands}); what != roomy || c.answer == nil {
			t.Errorf("a command: %v, %v", what, c)
		}
		cancel(errors.New("over"))
		if o, _, what := r.wait(signals{}); what != ended || !o.lost || len(r.inFlight()) != 1 {
			t.Errorf("%v, %+v", what, o)
		}
	})
}
