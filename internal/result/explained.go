package result

import (
	"context"

	"github.com/assay-run/assay"
)

// Explain explains the study, by a model of at most some of its trials; 0 means all. The best is the configuration that
// the study recommends. Its errors are the errors of [Explain]. It also returns all trials, and the learned limits of
// the study, even with an error.
func (r *Record) Explain(ctx context.Context, most int) (
	e *Explanation, trials []assay.Trial, limits []Limit, err error,
) {
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return nil, nil, nil, err
		}
		trials = append(trials, t)
	}
	story, err := r.Story(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	best, _ := story.Recommended()
	seed := r.Definition.Search.Seed
	if e, err = Explain(r.Params, r.Goal, sparse(trials, best.ID, most), best, seed); err != nil {
		if space, serr := assay.NewSpace(r.Params); serr == nil {
			limits = Limits(space, r.Goal, trials, best.Config, seed)
		}
		return nil, trials, limits, err
	}
	e.story = story
	return e, trials, e.Limits, nil
}

// sparse returns at most that number of trials, evenly spread over the study, and the best.
func sparse(trials []assay.Trial, best int64, most int) []assay.Trial {
	if most == 0 || len(trials) <= most {
		return trials
	}
	var out []assay.Trial
	for i, t := range trials {
		if i*most/len(trials) != (i+1)*most/len(trials) || t.ID == best {
			out = append(out, t)
		}
	}
	return out
}
