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
