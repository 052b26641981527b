package assaytest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// A Wrapper is a wrapper of searchers, with its documented handling of the abilities of searchers. A nil pointer to its
// interface names an ability, such as (*assay.Narrower)(nil).
type Wrapper struct {
	Name string
	// Wrap returns a new wrapper of inner, a searcher of the space.
	Wrap  func(space *assay.Space, inner assay.Searcher) assay.Searcher
	Needs []any // a searcher that lacks one of these cannot be wrapped
	Ends  []any // abilities of the wrapped searcher that end at the wrapper
	Own   []any // abilities of the wrapper with any searcher
}

// A NamedSearcher makes a searcher of a space.
type NamedSearcher struct {
	Name string
	Make func(*assay.Space) assay.Searcher
}

// TestWrappers checks that a wrapper ends only the abilities in its Ends and keeps all others of the wrapped searcher.
// The abilities are the ones of [assay.As]: [assay.Observer], [assay.Hinter], [assay.Narrower], [assay.Resumer] and
// [assay.Enqueuer].
//
// It wraps a searcher with every ability, with each alone and with none, and each of the searchers, in every wrapper
// and in every wrapper of a wrapper. A call of an ability that has not ended must reach the searcher inside.
func TestWrappers(t *testing.T, wrappers []Wrapper, searchers ...NamedSearcher) {
	t.Helper()
	space := searcherSpaces()[wrapperSpace].space
	for _, outer := range wrappers {
		t.Run(outer.Name, func(t *testing.T) {
			for _, chain := range wrapperChains(outer, wrappers) {
				for _, in := range append(ableSearchers(), searchers...) {
					if err := chain.check(space, in.Make); err != nil {
						t.Errorf("%s of %s: %v", chain.name(), in.Name, err)
					}
				}
			}
		})
	}
}

// wrapperSpace is the number of the space of the wrapped searchers: categories.
const wrapperSpace = 2

// A wrapperChain is wrappers of each other, the innermost first.
type wrapperChain []Wrapper

// wrapperChains returns a wrapper alone, and around each.
func wrapperChains(outer Wrapper, all []Wrapper) []wrapperChain {
	chains := []wrapperChain{{outer}}
	for _, w := range all {
		chains = append(chains, wrapperChain{w, outer})
	}
	return chains
}

func (w wrapperChain) name() string {
	name := w[len(w)-1].Name
	for i := len(w) - 2; i >= 0; i-- {
		name += " of " + w[i].Name
	}
	return name
}

// check returns the first flaw of the chain around a searcher, nil too if that
// cannot be wrapped.
func (w wrapperChain) check(space *assay.Space, build func(*assay.Space) assay.Searcher) error {
	inner := build(space)
	has := make([]bool, len(abilities))    // the abilities that there should be
	passes := make([]bool, len(abilities)) // and those that should reach inner
	for i, a := range abilities {
		has[i] = a.of(inner)
		passes[i] = has[i]
	}
	s := inner
	for _, wrapper := range w {
		for i, a := range abilities {
			if slices.Contains(wrapper.Needs, a.key) && !has[i] {
				return nil
			}
			if slices.Contains(wrapper.Ends, a.key) {
				has[i], passes[i] = false, false
			}
			if slices.Contains(wrapper.Own, a.key) {
				has[i] = true
			}
		}
		wrapped := wrapper.Wrap(space, s)
		if !wraps(wrapped, s) {
			return fmt.Errorf("%s is no assay.Unwrapper of its searcher", wrapper.Name)
		}
		s = wrapped
	}
	for i, a := range abilities {
		switch got := a.of(s); {
		case got && !has[i]:
			return fmt.Errorf("it is an %s and should be none", a.name)
		case !got && has[i]:
			return fmt.Errorf("it should be an %s and is not", a.name)
		}
		if probe, ok := inner.(*able); ok && passes[i] {
			if err := a.reach(s, probe, anyConfig(space)); err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
		}
	}
	return nil
}

// wraps reports whether Unwrap, repeated, leads from s to inner.
func wraps(s, inner assay.Searcher) bool {
	for s != nil {
		u, ok := s.(assay.Unwrapper)
		if !ok {
			return false
		}
		if s = u.Unwrap(); s == inner {
			return true
		}
	}
	return false
}

// A searcherAbility is an ability of a searcher that wrappers are to keep.
type searcherAbility struct {
	name string
	key  any
	of   func(assay.Searcher) bool
	// reach returns an error unless a call of the ability of s reaches inner. c is
	// a member of the space.
	reach func(s assay.Searcher, inner *able, c assay.Config) error
}

var abilities = []searcherAbility{
	{"assay.Observer", (*assay.Observer)(nil), is[assay.Observer], reachObserver},
	{"assay.Hinter", (*assay.Hinter)(nil), is[assay.Hinter], reachHinter},
	{"assay.Narrower", (*assay.Narrower)(nil), is[assay.Narrower], reachNarrower},
	{"assay.Resumer", (*assay.Resumer)(nil), is[assay.Resumer], reachResumer},
	{"assay.Enqueuer", (*assay.Enqueuer)(nil), is[assay.Enqueuer], reachGiver},
}

func is[A any](s assay.Searcher) bool {
	_, ok := assay.As[A](s)
	return ok
}

func reachObserver(s assay.Searcher, inner *able, c assay.Config) error {
	err := observer(s).Observe(ended(assay.Proposal{ID: 7, Config: c}, assay.Done, 2))
	if err != nil {
		return err
	}
	if len(inner.observed) != 1 || !inner.observed[0].Config.Equal(c) {
		return fmt.Errorf("one trial was observed, and the searcher inside saw %d", len(inner.observed))
	}
	return nil
}

func reachHinter(s assay.Searcher, inner *able, c assay.Config) error {
	ability[assay.Hinter](s).Hint(func(assay.Config) float64 { return 0.25 })
	if inner.hint == nil || inner.hint(c) != 0.25 {
		return fmt.Errorf("the hint does not reach the searcher inside")
	}
	return nil
}

func reachNarrower(s assay.Searcher, inner *able, c assay.Config) error {
	asked := false
	narrower(s).Narrow(func(assay.Config) bool { asked = true; return true })
	if inner.keep == nil || !inner.keep(c) || !asked {
		return fmt.Errorf("the limit does not reach the searcher inside")
	}
	if narrower(s).Narrow(nil); inner.keep != nil {
		return fmt.Errorf("the limit of the searcher inside is not lifted")
	}
	return nil
}

func reachResumer(s assay.Searcher, inner *able, _ assay.Config) error {
	r := ability[assay.Resumer](s)
	if got := r.Memo(); !bytes.Equal(got, ableMemo) {
		return fmt.Errorf("the memo %q is not from the searcher inside", got)
	}
	if err := r.Recall([][]byte{ableMemo}); err != nil {
		return err
	}
	if len(inner.recalled) != 1 {
		return fmt.Errorf("one memo was recalled, and the searcher inside saw %d", len(inner.recalled))
	}
	return nil
}

func reachGiver(s assay.Searcher, inner *able, c assay.Config) error {
	ability[assay.Enqueuer](s).Enqueue([]assay.Config{c})
	if len(inner.given) != 1 || !inner.given[0].Equal(c) {
		return fmt.Errorf("one configuration was given, and the searcher inside saw %d", len(inner.given))
	}
	return nil
}

// An able is a searcher that has any of the abilities and keeps the arguments of their calls.
type able struct {
	assay.Searcher // nil: it is never asked
	lacks          []any

	observed []assay.Trial
	hint     func(assay.Config) float64
	keep     func(assay.Config) bool
	recalled [][]byte
	given    []assay.Config
}

var ableMemo = []byte("memo")

func (a *able) Unwrap() assay.Searcher      { return nil }
func (a *able) Hides(ability any) bool      { return slices.Contains(a.lacks, ability) }
func (a *able) Memo() []byte                { return ableMemo }
func (a *able) Enqueue(cs []assay.Config)   { a.given = append(a.given, cs...) }
func (a *able) Recall(memos [][]byte) error { a.recalled = memos; return nil }

func (a *able) Observe(ts ...assay.Trial) error     { a.observed = append(a.observed, ts...); return nil }
func (a *able) Hint(h func(assay.Config) float64)   { a.hint = h }
func (a *able) Narrow(keep func(assay.Config) bool) { a.keep = keep }

// ableSearchers returns searchers with every ability, with each alone, and with none.
func ableSearchers() []NamedSearcher {
	var keys []any
	for _, a := range abilities {
		keys = append(keys, a.key)
	}
	lacking := func(name string, lacks []any) NamedSearcher {
		return NamedSearcher{name, func(*assay.Space) assay.Searcher { return &able{lacks: lacks} }}
	}
	all := []NamedSearcher{lacking("one with every ability", nil), lacking("one with no ability", keys)}
	for i, a := range abilities {
		all = append(all, lacking("one that is an "+a.name+" alone", slices.Delete(slices.Clone(keys), i, i+1)))
	}
	return all
}
