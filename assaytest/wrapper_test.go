package assaytest

import (
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// through is a correct wrapper with no ability of its own. The broken ones below
// differ from it in one point.
type through struct{ inner assay.Searcher }

func (w through) Unwrap() assay.Searcher              { return w.inner }
func (w through) Ask(n int) ([]assay.Proposal, error) { return w.inner.Ask(n) }
func (w through) Tell(ts ...assay.Trial) error        { return w.inner.Tell(ts...) }

// closed is a wrapper without Unwrap.
type closed struct{ assay.Searcher }

// swallows is an Observer that passes no trial to its inner searcher.
type swallows struct{ through }

func (swallows) Observe(...assay.Trial) error { return nil }

// narrows has a limit of its own, and passes it on.
type narrows struct{ through }

func (w narrows) Narrow(keep func(assay.Config) bool) {
	if n, ok := assay.As[assay.Narrower](w.inner); ok {
		n.Narrow(keep)
	}
}

// sharing is narrows as it should be: a Narrower if its inner searcher is one.
type sharing struct{ narrows }

func (w sharing) Hides(ability any) bool { return assay.HidesWith[assay.Narrower](ability, w.inner) }

// hides ends an ability and does not declare it.
type hides struct{ through }

func (hides) Hides(ability any) bool {
	_, hinter := ability.(*assay.Hinter)
	return hinter
}

func wrapping[W assay.Searcher](wrap func(through) W) func(*assay.Space, assay.Searcher) assay.Searcher {
	return func(_ *assay.Space, in assay.Searcher) assay.Searcher { return wrap(through{in}) }
}

func TestWrappersAcceptsCorrectOnes(t *testing.T) {
	TestWrappers(t, []Wrapper{
		{Name: "through", Wrap: wrapping(func(w through) through { return w })},
		{Name: "sharing", Wrap: wrapping(func(w through) sharing { return sharing{narrows{w}} })},
		{Name: "hides", Wrap: wrapping(func(w through) hides { return hides{w} }), Ends: []any{(*assay.Hinter)(nil)}},
		{
			Name: "needs", Wrap: wrapping(func(w through) through { return w }),
			Needs: []any{(*assay.Narrower)(nil)},
		},
	}, NamedSearcher{"plain", func(s *assay.Space) assay.Searcher { return newPlain(s) }})
}

// Each fault must be found, and named.
func TestWrappersFindsFaults(t *testing.T) {
	for _, c := range []struct {
		fault string
		Wrapper
		want string
	}{
		{"no Unwrap", Wrapper{Wrap: wrapping(func(w through) closed { return closed{w.inner} })}, "no assay.Unwrapper"},
		{"keeps what is observed to itself", Wrapper{
			Wrap: wrapping(func(w through) swallows { return swallows{w} }), Own: []any{(*assay.Observer)(nil)},
		}, "one trial was observed"},
		{
			"an ability that nothing inside has",
			Wrapper{Wrap: wrapping(func(w through) narrows { return narrows{w} })},
			"should be none",
		},
		{
			"an ability that ends in silence",
			Wrapper{Wrap: wrapping(func(w through) hides { return hides{w} })},
			"should be an assay.Hinter",
		},
		{"an ability that was to end", Wrapper{
			Wrap: wrapping(func(w through) through { return w }), Ends: []any{(*assay.Resumer)(nil)},
		}, "is an assay.Resumer"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			space := searcherSpaces()[wrapperSpace].space
			var got []string
			for _, in := range ableSearchers() {
				if err := (wrapperChain{c.Wrapper}).check(space, in.Make); err != nil {
					got = append(got, err.Error())
				}
			}
			if !slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, c.want) }) {
				t.Errorf("found %q, want %q among them", got, c.want)
			}
		})
	}
}
