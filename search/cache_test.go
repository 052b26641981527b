package search

import (
	"errors"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// repeating proposes rounds of four drawn configurations, of which the last is
// the first again, and waits for the whole round, as direct searches do.
type repeating struct {
	random *Random
	ledger
	round []assay.Config
	told  []assay.Trial // all trials that it ever got
}

func newRepeating(s *assay.Space) *repeating { return &repeating{random: NewRandom(s, 3)} }

func (r *repeating) Ask(n int) ([]assay.Proposal, error) {
	if len(r.round) == 0 && r.proposals.Len() == 0 {
		for range 3 {
			if c, ok := r.random.draw(); ok {
				r.round = append(r.round, c)
			}
		}
		if len(r.round) == 0 {
			return nil, assay.ErrDone
		}
		r.round = append(r.round, r.round[0])
	}
	var ps []assay.Proposal
	for len(ps) < n && len(r.round) > 0 {
		ps = append(ps, r.propose(r.round[0]))
		r.round = r.round[1:]
	}
	return ps, nil
}

func (r *repeating) Tell(trials ...assay.Trial) error {
	r.told = append(r.told, trials...)
	return r.settle(trials)
}

func oneParam(n int) *assay.Space {
	s, err := assay.NewSpace([]assay.Param{{Name: "i", Kind: assay.Integer, Lo: 0, Hi: float64(n - 1)}})
	if err != nil {
		panic(err)
	}
	return s
}

func mustAsk(t *testing.T, s assay.Searcher, n int) []assay.Proposal {
	t.Helper()
	ps, err := s.Ask(n)
	if err != nil {
		t.Fatalf("Ask(%d): %v", n, err)
	}
	return ps
}

func mustTell(t *testing.T, s assay.Searcher, trials ...assay.Trial) {
	t.Helper()
	if err := s.Tell(trials...); err != nil {
		t.Fatalf("Tell: %v", err)
	}
}

func doneTrial(p assay.Proposal, v float64) assay.Trial {
	return assay.Trial{Proposal: p, State: assay.Done, Value: v}
}

// script proposes given configurations, whatever it is told.
type script struct {
	ledger
	configs []float64
	told    []assay.Trial
	seen    []assay.Trial // observed
}

func (s *script) Ask(n int) ([]assay.Proposal, error) {
	if len(s.configs) == 0 {
		return nil, assay.ErrDone
	}
	var ps []assay.Proposal
	for len(ps) < n && len(s.configs) > 0 {
		ps = append(ps, s.propose(assay.Config{s.configs[0]}))
		s.configs = s.configs[1:]
	}
	return ps, nil
}

func (s *script) Tell(trials ...assay.Trial) error {
	s.told = append(s.told, trials...)
	return s.settle(trials)
}

func (s *script) Observe(trials ...assay.Trial) error {
	s.seen = append(s.seen, trials...)
	return nil
}

func TestCacheSkipsKnown(t *testing.T) {
	inner := &script{configs: []float64{5, 5, 6, 5, 6, 7}}
	c := Cache(inner)
	p := mustAsk(t, c, 1)[0]
	mustTell(t, c, doneTrial(p, 50))
	q := mustAsk(t, c, 1)[0] // 5 is known, 6 is next
	if q.ID != 2 || q.Config[0] != 6 {
		t.Fatalf("got proposal %+v, want ID 2 at 6", q)
	}
	if len(inner.told) != 2 || inner.told[1].ID != 2 || inner.told[1].Value != 50 {
		t.Errorf("inner was told %+v, want the known trial under ID 2", inner.told)
	}
	r := mustAsk(t, c, 1)[0] // 5 is known, 6 is outstanding, 7 is next
	if r.ID != 3 || r.Config[0] != 7 {
		t.Fatalf("got proposal %+v, want ID 3 at 7", r)
	}
	mustTell(t, c, doneTrial(q, 60))
	if n := len(inner.told); n != 5 || inner.told[3].ID != 3 || inner.told[4].ID != 5 || inner.told[4].Value != 60 {
		t.Errorf("inner was told %+v, want the result of 6 under IDs 3 and 5", inner.told)
	}
	if _, err := c.Ask(1); !errors.Is(err, assay.ErrDone) {
		t.Errorf("got %v, want ErrDone of inner", err)
	}
}

func TestCacheRunsFailuresAgain(t *testing.T) {
	for state, again := range map[assay.State]bool{
		assay.Done: false, assay.Infeasible: false, assay.Failed: true,
		assay.Censored: true,
	} {
		c := Cache(&script{configs: []float64{1, 1, 2}})
		p := mustAsk(t, c, 1)[0]
		mustTell(t, c, assay.Trial{Proposal: p, State: state, Value: 3})
		if got := mustAsk(t, c, 1)[0].Config[0] == 1; got != again {
			t.Errorf("%v: run again is %v, want %v", state, got, again)
		}
	}
}

// loop proposes one configuration for ever.
type loop struct{ ledger }

func (l *loop) Ask(n int) ([]assay.Proposal, error) {
	var ps []assay.Proposal
	for range n {
		ps = append(ps, l.propose(assay.Config{1}))
	}
	return ps, nil
}

func (l *loop) Tell(trials ...assay.Trial) error { return l.settle(trials) }

func TestCacheGivesUp(t *testing.T) {
	inner := &loop{}
	c := Cache(inner)
	ps := mustAsk(t, c, 3)
	if len(ps) != 1 {
		t.Fatalf("got %d proposals, want 1", len(ps))
	}
	for range 3 {
		if ps, err := c.Ask(1); len(ps) > 0 || !errors.Is(err, assay.ErrDone) {
			t.Fatalf("got %v and %v, want ErrDone", ps, err)
		}
	}
	mustTell(t, c, doneTrial(ps[0], 1))
	if inner.proposals.Len() != 0 || inner.proposals.Last() < maxCached {
		t.Errorf("after %d proposals %d are not told", inner.proposals.Last(), inner.proposals.Len())
	}
	if _, err := c.Ask(1); !errors.Is(err, assay.ErrDone) {
		t.Errorf("got %v after the result, want ErrDone", err)
	}
}

func TestCacheObserves(t *testing.T) {
	inner := &script{configs: []float64{1, 2}}
	c := Cache(inner).(assay.Observer)
	seen := doneTrial(assay.Proposal{ID: 77, Config: assay.Config{1}}, 9)
	if err := c.Observe(seen); err != nil {
		t.Fatal(err)
	}
	if p := mustAsk(t, c.(assay.Searcher), 1)[0]; p.Config[0] != 2 {
		t.Errorf("proposed %v, which was observed", p.Config)
	}
	if len(inner.seen) != 1 || len(inner.told) != 1 || inner.told[0].Value != 9 || inner.told[0].ID != 1 {
		t.Errorf("inner observed %+v and was told %+v", inner.seen, inner.told)
	}
	if err := c.Observe(assay.Trial{Proposal: assay.Proposal{Config: assay.Config{1}}}); err == nil {
		t.Error("a running trial can be observed")
	}
	plain := Cache(&loop{}).(assay.Observer) // inner is no Observer
	if err := plain.Observe(seen); err != nil {
		t.Errorf("got %v", err)
	}
	if _, err := plain.(assay.Searcher).Ask(1); !errors.Is(err, assay.ErrDone) {
		t.Errorf("got %v, want ErrDone: the only configuration is known", err)
	}
}

func TestCacheInnerError(t *testing.T) {
	if _, err := Cache(failing{}).Ask(2); err == nil || err.Error() != "broken" {
		t.Errorf("got %v, want the error of inner", err)
	}
}

type failing struct{}

func (failing) Ask(int) ([]assay.Proposal, error) { return nil, errors.New("broken") }
func (failing) Tell(...assay.Trial) error         { return nil }

// An inner searcher is asked for the missing proposals, not for more, if some of its proposals are known.
func TestCacheAsksForTheRest(t *testing.T) {
	inner := &listed{of: []float64{1, 1, 2, 1, 3, 4, 5}}
	c := Cache(inner)
	first := mustAsk(t, c, 1)
	mustTell(t, c, doneTrial(first[0], 7))
	var got []float64
	for _, p := range mustAsk(t, c, 3) { // 1 2 1, then 3 4
		got = append(got, p.Config[0])
	}
	if want := []float64{2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := []int{1, 3, 2}; !slices.Equal(inner.asked, want) {
		t.Errorf("asked for %v, want %v", inner.asked, want)
	}
}

// A listed searcher proposes the configurations of its list, as many as it is asked for.
type listed struct {
	of    []float64
	asked []int
	last  int64
}

func (l *listed) Ask(n int) (ps []assay.Proposal, err error) {
	l.asked = append(l.asked, n)
	for _, x := range l.of[:min(n, len(l.of))] {
		l.last++
		ps = append(ps, assay.Proposal{ID: l.last, Config: assay.Config{x}})
	}
	l.of = l.of[len(ps):]
	return ps, nil
}

func (l *listed) Tell(...assay.Trial) error { return nil }
