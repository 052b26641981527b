package assaytest

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

func searcherSequential(b searcherBench) error {
	return b.start().sequence(b.opts.Trials, b.finished)
}

// mess asks for 1 to 5 proposals or reports a random outstanding trial, at random, until about n trials were proposed.
// With skip, it leaves out the calls of those numbers; it returns the numbers of the Asks without proposals.
func (r *searcherRun) mess(n int, seed uint64, result func(assay.Proposal) assay.Trial, skip []int) (empty []int,
	err error,
) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for call := 0; call < 4*n && len(r.proposals) < n; call++ {
		if len(r.outstanding) > 0 && rng.IntN(2) == 0 {
			if err := r.tell(rng.IntN(len(r.outstanding)), result); err != nil {
				return empty, err
			}
			continue
		}
		k := 1 + rng.IntN(5)
		if slices.Contains(skip, call) {
			continue
		}
		if err := r.ask(k); err != nil {
			return empty, err
		}
		if r.empty {
			empty = append(empty, call)
		}
	}
	return empty, nil
}

// orders is the number of random orders of calls that a case plays: two, and one in go test -short.
func orders() uint64 {
	if testing.Short() {
		return 1
	}
	return 2
}

func searcherBatches(b searcherBench) error {
	for seed := range orders() {
		if _, err := b.start().mess(b.opts.Trials, seed, b.finished, nil); err != nil {
			return err
		}
	}
	// Ask for many, and report them last to first.
	r := b.start()
	for range 4 {
		if err := r.ask(b.opts.Trials / 2); err != nil {
			return err
		}
		for len(r.outstanding) > 0 {
			if err := r.tell(len(r.outstanding)-1, b.finished); err != nil {
				return err
			}
		}
	}
	return nil
}

func searcherGreedy(b searcherBench) error {
	r := b.start()
	for range b.opts.Trials / 2 {
		if err := r.ask(3); err != nil {
			return err
		}
		if len(r.proposals) > b.opts.Trials {
			break
		}
	}
	for len(r.outstanding) > 0 {
		if err := r.tell(len(r.outstanding)/2, b.finished); err != nil {
			return err
		}
	}
	return r.ask(2)
}

func searcherReplay(b searcherBench) error {
	for seed := range orders() {
		one, two := b.start(), b.start()
		if _, err := one.mess(b.opts.Trials, seed, b.finished, nil); err != nil {
			return err
		}
		if _, err := two.mess(b.opts.Trials, seed, b.finished, nil); err != nil {
			return err
		}
		if err := same(one, two); err != nil {
			return err
		}
	}
	return nil
}

func searcherEmptyAsk(b searcherBench) error {
	for seed := range orders() {
		one, two := b.start(), b.start()
		empty, err := one.mess(b.opts.Trials, seed, b.finished, nil)
		if err != nil {
			return err
		}
		if _, err := two.mess(b.opts.Trials, seed, b.finished, empty); err != nil {
			return err
		}
		if err := same(one, two); err != nil {
			return fmt.Errorf("without the %d Asks that returned nothing: %w", len(empty), err)
		}
	}
	return nil
}

func searcherDone(b searcherBench) error {
	r := b.start()
	// Ask for many at once, so that ErrDone comes with trials outstanding.
	for range 4 * b.opts.Trials {
		if err := r.ask(b.opts.Trials); err != nil {
			return err
		}
		if r.done || len(r.proposals) > 4*b.opts.Trials {
			break
		}
		if r.empty || len(r.outstanding) > b.opts.Trials {
			if err := r.tell(0, b.finished); err != nil {
				return err
			}
		}
	}
	if !r.done {
		return nil
	}
	for {
		// ask returns an error if a searcher that is done proposes again.
		if err := r.ask(1); err != nil {
			return err
		}
		if len(r.outstanding) == 0 {
			return nil
		}
		if err := r.tell(0, b.finished); err != nil {
			return err
		}
	}
}

// untouched runs two searchers, disturbs one of them after some trials, and
// checks that both go on alike.
func (b searcherBench) untouched(disturb func(r *searcherRun) error) error {
	one, two := b.start(), b.start()
	for _, r := range []*searcherRun{one, two} {
		if err := r.sequence(b.opts.Trials/4, b.finished); err != nil {
			return err
		}
		if err := r.ask(1); err != nil {
			return err
		}
	}
	if err := disturb(one); err != nil {
		return err
	}
	for _, r := range []*searcherRun{one, two} {
		for len(r.outstanding) > 0 {
			if err := r.tell(0, b.finished); err != nil {
				return err
			}
		}
		if err := r.sequence(b.opts.Trials/4, b.finished); err != nil {
			return err
		}
	}
	if err := same(one, two); err != nil {
		return fmt.Errorf("after a call that should change nothing: %w", err)
	}
	return nil
}

func searcherTellUnknown(b searcherBench) error {
	unasked := ended(assay.Proposal{ID: 1, Config: anyConfig(b.space)}, assay.Done, 1)
	if err := b.build(b.space).Tell(unasked); err == nil {
		return fmt.Errorf("a result of trial 1 is accepted before any Ask")
	}
	return b.untouched(func(r *searcherRun) error {
		for _, id := range []int64{int64(len(r.proposals)) + 1, 0, -1, math.MaxInt64} {
			if err := r.s.Tell(ended(assay.Proposal{ID: id, Config: anyConfig(b.space)}, assay.Done, 1)); err == nil {
				return fmt.Errorf("a result of trial %d, which was not proposed, is accepted", id)
			}
		}
		return nil
	})
}

func searcherTellTwice(b searcherBench) error {
	return b.untouched(func(r *searcherRun) error {
		for _, p := range r.proposals {
			if slices.ContainsFunc(r.outstanding, func(q assay.Proposal) bool { return q.ID == p.ID }) {
				t := b.finished(p)
				if err := r.s.Tell(t, t); err == nil {
					return fmt.Errorf("two results of trial %d are accepted in one call", p.ID)
				}
				continue
			}
			if err := r.s.Tell(b.finished(p)); err == nil {
				return fmt.Errorf("a second result of trial %d is accepted", p.ID)
			}
		}
		return nil
	})
}

func searcherTellRunning(b searcherBench) error {
	return b.untouched(func(r *searcherRun) error {
		for _, p := range r.outstanding {
			if err := r.s.Tell(ended(p, assay.Running, 1)); err == nil {
				return fmt.Errorf("trial %d is accepted as a result while it is running", p.ID)
			}
		}
		return nil
	})
}

func searcherTellNothing(b searcherBench) error {
	if err := b.build(b.space).Tell(); err != nil {
		return err
	}
	return b.untouched(func(r *searcherRun) error { return r.s.Tell() })
}

func searcherImmutable(b searcherBench) error {
	r := b.start()
	var told, copies []assay.Trial
	result := func(p assay.Proposal) assay.Trial {
		t := b.finished(p)
		told = append(told, t)
		c := t
		c.Config = t.Config.Clone()
		c.Measurement.Metrics = maps.Clone(t.Measurement.Metrics)
		copies = append(copies, c)
		return t
	}
	if err := r.sequence(b.opts.Trials, result); err != nil {
		return err
	}
	for i, p := range r.proposals {
		if !p.Config.Equal(r.copies[i]) {
			return fmt.Errorf("proposal %d was %s and is %s now", p.ID, b.space.Text(r.copies[i]),
				b.space.Text(p.Config))
		}
	}
	for i, t := range told {
		if !t.Config.Equal(copies[i].Config) || !maps.Equal(t.Measurement.Metrics, copies[i].Measurement.Metrics) {
			return fmt.Errorf("trial %d was changed", t.ID)
		}
	}
	return nil
}

func searcherStates(b searcherBench) error {
	states := []assay.State{assay.Done, assay.Censored, assay.Failed, assay.Infeasible, assay.Withdrawn}
	result := func(state assay.State, p assay.Proposal) assay.Trial {
		t := b.finished(p)
		if t.State = state; state == assay.Failed || state == assay.Withdrawn {
			t.Value = math.Inf(1)
			t.Measurement.Metrics = nil
		}
		return t
	}
	for _, s := range states[1:] { // nothing but these
		if err := b.start().sequence(b.opts.Trials/2,
			func(p assay.Proposal) assay.Trial { return result(s, p) }); err != nil {
			return fmt.Errorf("every trial is %v: %w", s, err)
		}
	}
	mixture := func(p assay.Proposal) assay.Trial { return result(states[p.ID*7%11%5], p) }
	if _, err := b.start().mess(b.opts.Trials, 1, mixture, nil); err != nil {
		return fmt.Errorf("states mixed: %w", err)
	}
	return nil
}

func searcherValues(b searcherBench) error {
	for _, c := range []struct {
		name  string
		value func(p assay.Proposal, v float64) float64 // v is positive
	}{
		{"equal", func(assay.Proposal, float64) float64 { return 5 }},
		{"zero", func(assay.Proposal, float64) float64 { return 0 }},
		{"negative", func(_ assay.Proposal, v float64) float64 { return -v }},
		{"of both signs", func(_ assay.Proposal, v float64) float64 { return v - 1.5 }},
		{"huge", func(_ assay.Proposal, v float64) float64 { return v * 1e300 }},
		{"hugely negative", func(_ assay.Proposal, v float64) float64 { return -v * 1e300 }},
		{"tiny", func(_ assay.Proposal, v float64) float64 { return v * 1e-300 }},
		{"of every magnitude", func(p assay.Proposal, v float64) float64 {
			return v * math.Pow(10, float64(p.ID*37%601-300)) * float64(1-p.ID%2*2)
		}},
	} {
		result := func(p assay.Proposal) assay.Trial {
			return ended(p, assay.Done, c.value(p, b.finished(p).Value))
		}
		if err := b.start().sequence(b.opts.Trials/2, result); err != nil {
			return fmt.Errorf("values %s: %w", c.name, err)
		}
	}
	return nil
}

func searcherRepeats(b searcherBench) error {
	if !b.opts.NoRepeats {
		return nil
	}
	for seed := range uint64(2) {
		r := b.start()
		if _, err := r.mess(b.opts.Trials, seed, b.finished, nil); err != nil {
			return err
		}
		if err := distinct(r); err != nil {
			return err
		}
	}
	return nil
}

func distinct(r *searcherRun) error {
	first := map[string]int64{}
	for _, p := range r.proposals {
		if id, ok := first[p.Config.Key()]; ok {
			return fmt.Errorf("proposals %d and %d are both %s", id, p.ID, r.space.Text(p.Config))
		}
		first[p.Config.Key()] = p.ID
	}
	return nil
}

// maxExhausted is the size up to which a space is exhausted by the suite.
const maxExhausted = 100

func searcherExhaustion(b searcherBench) error {
	n := b.space.Size().N
	if !b.opts.Exhausts || n == 0 || n > maxExhausted {
		return nil
	}
	for _, batch := range []int{1, 7, maxExhausted + 1} {
		r := b.start()
		for calls := int64(0); !r.done; calls++ {
			if calls > 4*n+4 {
				return fmt.Errorf("no ErrDone after %d Asks in a space of %d", calls, n)
			}
			if err := r.ask(batch); err != nil {
				return err
			}
			for len(r.outstanding) > batch/2 || r.empty && len(r.outstanding) > 0 {
				if err := r.tell(0, b.finished); err != nil {
					return err
				}
			}
		}
		if int64(len(r.proposals)) != n {
			return fmt.Errorf("%d proposals by %d in a space of %d before ErrDone", len(r.proposals), batch, n)
		}
		if err := distinct(r); err != nil {
			return err
		}
	}
	return nil
}

func searcherObserve(b searcherBench) error {
	if _, ok := assay.As[assay.Observer](b.build(b.space)); !ok {
		return nil
	}
	seen := assay.Proposal{ID: 1, Config: anyConfig(b.space)}
	r := b.start()
	observe := func(t assay.Trial) error {
		if err := observer(r.s).Observe(t); err != nil {
			return fmt.Errorf("observing a trial that is %v: %w", t.State, err)
		}
		return nil
	}
	if err := observe(b.finished(seen)); err != nil {
		return err
	}
	if err := r.sequence(b.opts.Trials/4, b.finished); err != nil {
		return err
	}
	for i, s := range []assay.State{assay.Done, assay.Censored, assay.Infeasible, assay.Failed} {
		t := ended(assay.Proposal{ID: int64(i), Config: seen.Config}, s, 2)
		if s == assay.Failed {
			t.Value = math.Inf(1)
		}
		if err := observe(t); err != nil {
			return err
		}
	}
	if err := r.sequence(b.opts.Trials/4, b.finished); err != nil {
		return err
	}
	if err := observer(r.s).Observe(ended(seen, assay.Running, 1)); err == nil {
		return fmt.Errorf("a running trial can be observed")
	}
	if b.opts.NoRepeats {
		r.proposals = append(r.proposals, seen)
		if err := distinct(r); err != nil {
			return fmt.Errorf("after it was observed: %w", err)
		}
	}
	// Two that observe the same behave alike.
	one, two := b.start(), b.start()
	for _, r := range []*searcherRun{one, two} {
		if err := observer(r.s).Observe(b.finished(seen), ended(seen, assay.Failed, math.Inf(1))); err != nil {
			return err
		}
		if err := r.sequence(b.opts.Trials/4, b.finished); err != nil {
			return err
		}
	}
	return same(one, two)
}

// anyConfig returns a member of the space.
func anyConfig(s *assay.Space) assay.Config {
	c, ok := s.Draw(rand.New(rand.NewPCG(11, 0)))
	if !ok {
		panic("assaytest: nothing can be drawn from the space")
	}
	return c
}

// observer returns the Observer that s is.
func observer(s assay.Searcher) assay.Observer { return ability[assay.Observer](s) }

// narrower returns the Narrower that s is.
func narrower(s assay.Searcher) assay.Narrower { return ability[assay.Narrower](s) }

// ability returns the ability A of s, and panics if it lacks it.
func ability[A any](s assay.Searcher) A {
	a, ok := assay.As[A](s)
	if !ok {
		panic(fmt.Sprintf("assaytest: %T lacks the ability %T", s, (*A)(nil)))
	}
	return a
}
