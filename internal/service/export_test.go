package service

import (
	"time"

	"github.com/assay-run/assay"
)

// wrecked is a searcher that panics at the n-th Tell.
type wrecked struct {
	assay.Searcher
	left int
}

func (w *wrecked) Unwrap() assay.Searcher { return w.Searcher }

func (w *wrecked) Tell(ts ...assay.Trial) error {
	if w.left--; w.left <= 0 {
		var none []int
		_ = none[w.left+len(ts)]
	}
	return w.Searcher.Tell(ts...)
}

// hanging is a searcher whose Ask takes a while.
type hanging struct {
	assay.Searcher
	takes time.Duration
}

func (h *hanging) Unwrap() assay.Searcher { return h.Searcher }

func (h *hanging) Ask(n int) ([]assay.Proposal, error) {
	time.Sleep(h.takes)
	return h.Searcher.Ask(n)
}

// Hang has each Ask of one study take a while.
func Hang(o *Options, study string, takes time.Duration) {
	o.wrap = func(name string, s assay.Searcher) assay.Searcher {
		if name != study {
			return s
		}
		return &hanging{s, takes}
	}
}

// Wreck has the searcher of one study panic when it is told the n-th time.
func Wreck(o *Options, study string, n int) {
	o.wrap = func(name string, s assay.Searcher) assay.Searcher {
		if name != study {
			return s
		}
		return &wrecked{s, n}
	}
}
