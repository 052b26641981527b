package search

import "github.com/assay-run/assay"

// forwarding returns outer, which wraps inner, as a searcher that is an
// Observer if and only if inner is one.
func forwarding(outer, inner assay.Searcher) assay.Searcher {
	if o, ok := inner.(assay.Observer); ok {
		return observing{outer, o}
	}
	return outer
}

type observing struct {
	assay.Searcher
	assay.Observer
}

// limiting returns outer, which wraps inner, as a searcher that is a Narrower if
// and only if inner is one, and an Observer if outer is one. renew is called
// before inner is narrowed.
func limiting(outer, inner assay.Searcher, renew func(keep func(assay.Config) bool)) assay.Searcher {
	n, ok := inner.(assay.Narrower)
	if !ok {
		return outer
	}
	narrow := narrow(func(keep func(assay.Config) bool) {
		renew(keep)
		n.Narrow(keep)
	})
	if o, ok := outer.(assay.Observer); ok {
		return observingNarrower{outer, o, narrow}
	}
	return narrower{outer, narrow}
}

type narrower struct {
	assay.Searcher
	narrow
}

type observingNarrower struct {
	assay.Searcher
	assay.Observer
	narrow
}

// A narrow is the method of an assay.Narrower as a function.
type narrow func(keep func(assay.Config) bool)

// Narrow implements [assay.Narrower].
func (f narrow) Narrow(keep func(assay.Config) bool) { f(keep) }
