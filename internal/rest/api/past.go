package api

import (
	"context"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
)

// A moment is the position of an event that concerns a trial, besides its proposal and its end.
type moment struct {
	trial int64
	at    assay.Position // of the event
}

// restores are trials that are run in the place of others.
type restores struct {
	waits []restored      // given and not yet proposed
	of    map[int64]int64 // the trial in whose place one is run
	by    map[int64]int64 // the trial that is run in the place of one
}

// A restored configuration is run in the place of a trial.
type restored struct {
	of     int64
	config assay.Config
}

// take notes whose place a proposal takes.
func (r *restores) take(e assay.Event) {
	if g := e.Given; g != nil {
		for i, of := range g.Restores {
			if i < len(g.Configs) {
				r.waits = append(r.waits, restored{of, g.Configs[i]})
			}
		}
	}
	if p := e.Asked; p != nil {
		i := slices.IndexFunc(r.waits, func(w restored) bool { return w.config.Equal(p.Config) })
		if i >= 0 {
			r.of[p.ID], r.by[r.waits[i].of] = r.waits[i].of, p.ID
			r.waits = slices.Delete(r.waits, i, i+1)
		}
	}
}

// about yields the events that concern a trial besides its proposal and its end. It returns the trial that id replaces,
// and the trial that replaces id, each 0 if none. It reads only the events that are new since the last look at the
// study, and the events of the trial.
func (ts *tallies) about(
	ctx context.Context, r *result.Record, id int64, note func(assay.Event),
) (of, by int64, err error) {
	t, err := ts.lock(ctx, r)
	if err != nil {
		return 0, 0, err
	}
	var places []assay.Position
	for _, m := range t.past {
		if m.trial == id {
			places = append(places, m.at)
		}
	}
	of, by = t.restores.of[id], t.restores.by[id]
	t.mu.Unlock()
	for _, at := range places {
		for e, err := range ts.store.Events(ctx, r.Name, at-1) {
			if err != nil {
				return 0, 0, err
			}
			note(e)
			break
		}
	}
	return of, by, nil
}
