package search

import (
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/workereffect"
)

// CorrectWorkers returns a searcher that corrects each trial for its worker before inner gets it: its value becomes the
// estimate for the average worker of one class of machines, by m at that time, since the worker is no property of the
// configuration. m learns from the trials, and must be new.
//
// A trial that inner got is not corrected again when m learns more. Trials that name no worker are passed on as they
// are. Observed trials are corrected too, but m learns nothing from them. Runs of a worker that drifted do not count
// for m.
//
// It must be the outermost wrapper except for observers: wrappers that compare runs with each other, such as
// [Adaptive], then compare corrected values.
func CorrectWorkers(inner assay.Searcher, m *workereffect.Model) assay.Searcher {
	return &blocks{inner, m}
}

type blocks struct {
	inner assay.Searcher      // gets the corrected values
	model *workereffect.Model // of the effects of workers
}

var _ assay.Masker = (*blocks)(nil)

// Unwrap implements [assay.Unwrapper].
func (b *blocks) Unwrap() assay.Searcher { return b.inner }

// Hides implements [assay.Masker].
func (b *blocks) Hides(ability any) bool { return assay.HidesWith[assay.Observer](ability, b.inner) }

// Observe implements [assay.Observer].
func (b *blocks) Observe(trials ...assay.Trial) error {
	o, ok := assay.As[assay.Observer](b.inner)
	if !ok {
		return nil
	}
	return o.Observe(b.corrected(trials)...)
}

func (b *blocks) corrected(trials []assay.Trial) []assay.Trial {
	all := slices.Clone(trials)
	for i := range all {
		all[i].Value = b.model.Correct(all[i])
	}
	return all
}

// Ask implements [assay.Searcher].
func (b *blocks) Ask(n int) ([]assay.Proposal, error) { return b.inner.Ask(n) }

// Tell implements [assay.Searcher].
func (b *blocks) Tell(trials ...assay.Trial) error {
	for _, t := range trials {
		b.model.Add(t)
		if d, ok := b.model.Drift(); ok {
			b.model.SetAside(d.Worker, d.MachineClass, d.Since)
		}
	}
	return b.inner.Tell(b.corrected(trials)...)
}
