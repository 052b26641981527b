package prior

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/prune"
)

// maxStudies is how many earlier studies serve one study: those that stand for all
// others best, where there are more.
const maxStudies = 40

// A Running is the study that earlier ones may serve.
type Running struct {
	Study *config.Study // what it asks for, and what it runs
	Space *assay.Space
	Goal  assay.Goal
}

// Resolve finds the earlier studies that a new study asks for, as they are now, so
// that its search can be repeated when they have grown. The notes say in words what
// helps, and what cannot and why: a study goes on without. It is an error to ask for
// a study that is not on record. A study that asks for none has neither studies nor
// notes.
func (kb *Base) Resolve(ctx context.Context, r Running) (found []config.PriorStudy, notes []string, err error) {
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
		s, digest, err := kb.study(ctx, name, -1)
		if err != nil {
			return nil, nil, err
		}
		if err := prune.Match(r.Space, r.Goal, s); err != nil {
			refuse(name, err.Error())
			continue
		}
		found = append(found, config.PriorStudy{Name: name, Trials: len(s.Trials), Digest: digest})
	}
	if asked.Auto {
		refused = refused[:min(len(refused), 3)]
	}
	return found, say(found, refused), nil
}

// say says which studies serve and which of those asked for do not.
func say(found []config.PriorStudy, refused []string) (notes []string) {
	for _, why := range refused {
		notes = append(notes, "not used: "+why)
	}
	switch n := len(found); n {
	case 0:
		return append(notes, "no earlier study serves; the search begins without")
	case 1:
		return append(notes, fmt.Sprintf("study %q helps", found[0].Name))
	default:
		return append(notes, fmt.Sprintf("%d earlier studies help", n))
	}
}

// candidates returns the names of the studies that auto takes: those with the same
// parameters by name and kind and the same objective, of the same program or of a
// table.
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
func (kb *Base) Studies(ctx context.Context, resolved []config.PriorStudy) ([]prune.Study, error) {
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
