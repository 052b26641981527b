package prior

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/spec"
)

// This file decides which earlier studies serve a new one, and finds them again when that one is resumed. The decision
// is stored as the name, the number of trials and the digest of each: together they name a state of a study that may
// have grown since.

// maxStudies is the maximal number of earlier studies that serve one study; if there are more, the best representatives
// are chosen. It bounds the cost of a search.
const maxStudies = 40

// A Running is the study that earlier ones may serve.
type Running struct {
	Study *spec.Study // its definition, with the program that it runs
	Space *assay.Space
	Goal  assay.Goal
}

// Resolve finds the earlier studies that a new study requests, in their present state, so that its search can be
// repeated when they have grown. The notes list in words the studies that help, and those that cannot and the reasons:
// the new study runs without them. It is an error to request a study that is not on record. A study that requests none
// has neither studies nor notes. A study that was requested by name and does not fit is a note, not an error, because
// the search can do without. At most three of the studies that auto has refused are noted.
func (kb *Base) Resolve(ctx context.Context, r Running) (found []spec.PriorStudy, notes []string, err error) {
	asked := r.Study.Prior
	if !asked.On() {
		return nil, nil, nil
	}
	names := asked.Studies
	if asked.Auto {
		names = kb.candidates(r)
	}
	var refused []string
	refuse := func(name, why string) { refused = append(refused, fmt.Sprintf("study %q: %s", name, why)) }
	for _, name := range names {
		k := kb.studies[name]
		if k == nil {
			return nil, nil, assay.Errorf(assay.ClassUsage, "%s--prior %s: no such study (see assay study ls)",
				r.Study.At("prior"), name)
		}
		if k.Flaw != "" {
			refuse(name, k.Flaw)
			continue
		}
		// The trials are from the cache, as of Open, or else all recorded by now.
		s, digest, err := kb.study(ctx, name, -1)
		if err != nil {
			return nil, nil, err
		}
		if err := prune.Match(r.Space, r.Goal, s); err != nil {
			refuse(name, err.Error())
			continue
		}
		found = append(found, spec.PriorStudy{Name: name, Trials: len(s.Trials), Digest: digest})
	}
	if asked.Auto {
		refused = refused[:min(len(refused), 3)]
	}
	return found, say(found, refused), nil
}

// say lists the studies that serve and the requested ones that do not. The refused come first; the last note names the
// studies that help, or reports that none serves.
func say(found []spec.PriorStudy, refused []string) (notes []string) {
	for _, why := range refused {
		notes = append(notes, "not used: "+why)
	}
	switch n := len(found); n {
	case 0:
		return append(notes, "no earlier study on record serves")
	case 1:
		return append(notes, fmt.Sprintf("study %q helps", found[0].Name))
	default:
		return append(notes, fmt.Sprintf("%d earlier studies help", n))
	}
}

// candidates returns the names of the studies that auto takes: those with the same
// parameters by name and kind and the same objective, of the same program or of a
// table.
// The ranges may differ: prune.Match decides later about them. An empty program stands for a
// recorded table, which may be of any program. The studies are looked at in the order of their
// names, so that equal records give equal choices.
func (kb *Base) candidates(r Running) []string {
	program := programOf(r.Study)
	var fit []*entry
	for _, name := range slices.Sorted(maps.Keys(kb.studies)) {
		k := kb.studies[name]
		same := k.Flaw == "" && k.Metric == r.Goal.Metric && k.Maximize == r.Goal.Maximize && k.Unit == r.Goal.Unit &&
			len(k.Params) == len(r.Space.Params) && (program == "" || k.Program == "" || k.Program == program)
		for _, q := range r.Space.Params {
			same = same && slices.ContainsFunc(k.Params, func(o assay.Param) bool {
				return o.Name == q.Name &&
					o.Kind == q.Kind
			})
		}
		if same {
			fit = append(fit, k)
		}
	}
	return representatives(fit, maxStudies)
}

// Studies returns earlier studies as they were when they were resolved. It returns
// an error if one of them is gone, or is another one now.
// The first n trials of a study never change, since a record only grows. A digest that differs
// therefore means that the study was removed, and another one made under its name.
func (kb *Base) Studies(ctx context.Context, resolved []spec.PriorStudy) ([]prune.Study, error) {
	var studies []prune.Study
	for _, r := range resolved {
		s, digest, err := kb.study(ctx, r.Name, r.Trials)
		gone := ""
		switch {
		case errors.Is(err, fs.ErrNotExist):
			gone = "gone"
		case err != nil:
			return nil, err
		case digest != r.Digest:
			gone = "another one now"
		}
		if gone != "" {
			return nil, assay.Errorf(assay.ClassUsage,
				"the search of this study was helped by study %q, which is %s: it cannot be resumed",
				r.Name, gone)
		}
		studies = append(studies, s)
	}
	return studies, nil
}
