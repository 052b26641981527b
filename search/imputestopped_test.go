package search

import (
	"errors"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/model"
)

func TestPresumeConformance(t *testing.T) {
	for name, build := range map[string]func(*assay.Space) assay.Searcher{
		"random": func(s *assay.Space) assay.Searcher { return ImputeStopped(NewRandom(s, 1)) },
		"bayes": func(s *assay.Space) assay.Searcher {
			return ImputeStopped(lightBayes(s, BayesOptions{
				Learner: model.Impute(model.Forest{Trees: 4}, 1),
				Initial: 4, Censored: true,
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			assaytest.TestSearcher(t, build, light(assaytest.SearcherOptions{Exhausts: true, Trials: 20}))
		})
	}
}

// A stop before the best value is told as one at the best value of then; all else is
// told as it is.
func TestPresume(t *testing.T) {
	stopped := func(value float64) assay.Trial {
		return assay.Trial{State: assay.Censored, Value: value, Decision: &assay.Decision{Stop: true}}
	}
	done := func(value float64) assay.Trial { return assay.Trial{State: assay.Done, Value: value} }
	last := func(value float64) assay.Trial {
		t := stopped(value)
		t.Decision.Last = true
		return t
	}
	r := &recorder{}
	s := ImputeStopped(r)
	for i, c := range []struct {
		told assay.Trial
		want float64
	}{
		{stopped(3), 3}, // nothing to compare it with
		{done(20), 20},
		{stopped(3), 20},
		{stopped(20), 20},
		{stopped(25), 25},
		{done(30), 30}, // no new best
		{stopped(3), 20},
		{assay.Trial{State: assay.Censored, Value: 3}, 3}, // by its time limit
		{assay.Trial{State: assay.Infeasible, Value: 1}, 1},
		{assay.Trial{State: assay.Failed, Value: 2}, 2},
		{stopped(4), 20},
		{done(10), 10},
		{stopped(4), 10},
		{last(4), 10},
		{last(40), 10},
	} {
		before := c.told
		if err := s.Tell(c.told); err != nil {
			t.Fatal(err)
		}
		if got := r.told[i]; got.Value != c.want || got.State != before.State {
			t.Errorf("trial %d, %v %v, was told as %v %v, want %v", i, before.State, before.Value, got.State, got.Value, c.want)
		}
	}
}

// Observed trials count: their best is the best, and their stops are told alike. A Tell that fails changes nothing.
func TestPresumeObserves(t *testing.T) {
	in := &deaf{}
	s := ImputeStopped(in)
	o, ok := assay.As[assay.Observer](s)
	if !ok {
		t.Fatal("it does not observe")
	}
	early := assay.Trial{State: assay.Censored, Value: 1, Decision: &assay.Decision{Stop: true}}
	if err := o.Observe(assay.Trial{State: assay.Done, Value: 8}, early); err != nil || in.told[1].Value != 8 {
		t.Errorf("observed %+v, %v", in.told, err)
	}
	in.err = errors.New("no")
	if err := s.Tell(assay.Trial{State: assay.Done, Value: 5}); err == nil {
		t.Error("the error is lost")
	}
	in.err = nil
	if err := s.Tell(early); err != nil || in.told[len(in.told)-1].Value != 8 {
		t.Errorf("after a Tell that failed: %+v, %v", in.told, err)
	}
	if _, ok := assay.As[assay.Observer](ImputeStopped(&recorder{Searcher: NewRandom(twoLevels(t), 1)})); ok {
		t.Error("it observes for one that cannot")
	}
}

// A deaf searcher fails when it is told to.
type deaf struct {
	recorder
	err error
}

func (d *deaf) Tell(ts ...assay.Trial) error {
	if d.err != nil {
		return d.err
	}
	return d.recorder.Tell(ts...)
}

func (d *deaf) Observe(ts ...assay.Trial) error { return d.Tell(ts...) }

func twoLevels(t *testing.T) *assay.Space {
	t.Helper()
	s, err := assay.NewSpace([]assay.Param{{Name: "b", Kind: assay.Categorical, Levels: []string{"x", "y"}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
