package api

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/study"
	"github.com/assay-run/assay/view"
)

// patience limits recomputation: a cached value of a running study is reused for patience times as long as it took to
// compute.
const patience = 20

// mostCurve is how many places a curve has.
const mostCurve = 32

// savings caches the time saved by early stopping, the curve of the best value and the answer of each study. Computing
// them reads all trials, which is too expensive to repeat for every event of a large study.
type savings struct {
	store *setup.Store
	mu    sync.Mutex
	known map[string]*saving
}

// A saving is the cached value of one study.
type saving struct {
	mu      sync.Mutex // held while it is computed
	created time.Time  // of the study
	owned   bool       // the owner is known
	events  int64      // at which the rest was computed
	until   time.Time  // it is reused until then while the study runs
	gist
}

// A gist is the part that takes reading a study. The caller must not change the curve or the answer.
type gist struct {
	owner  string        // who submitted it here, "" if it began elsewhere
	saved  time.Duration // by early stopping
	curve  []float64     // the best value so far, as minimized, at places evenly spaced over the trials
	answer *view.Answer  // nil if nothing was found, or of several objectives
}

// of returns the gist of a study. All but the owner may lag behind while the study is running.
func (s *savings) of(ctx context.Context, sum assay.Summary) (gist, error) {
	s.mu.Lock()
	k := s.known[sum.Study]
	if k == nil || !k.created.Equal(sum.Created) {
		k = &saving{created: sum.Created, events: -1}
		s.known[sum.Study] = k
	}
	s.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.owned && sum.Events > 0 {
		if err := s.own(ctx, k, sum.Study); err != nil {
			return gist{}, err
		}
	}
	if sum.Best == 0 && sum.Counts[assay.Censored] == 0 {
		return gist{owner: k.owner}, nil
	}
	if k.events == sum.Events || k.events >= 0 && sum.Ended == "" && time.Now().Before(k.until) {
		return k.gist, nil
	}
	began := time.Now()
	var trials []assay.Trial
	for row, err := range s.store.Trials(ctx, sum.Study, 0, 0) {
		if err != nil {
			return gist{}, err
		}
		trials = append(trials, row.Trial)
	}
	r, err := result.Read(ctx, s.store, sum.Study)
	if err != nil {
		return gist{}, err
	}
	if k.answer, _, err = r.Answer(ctx); err != nil {
		return gist{}, err
	}
	k.events, k.saved, k.curve = sum.Events, study.Saved(trials), curveOf(trials)
	k.until = time.Now().Add(patience * time.Since(began))
	return k.gist, nil
}

// own finds the owner: a submission is the first event of a study.
func (s *savings) own(ctx context.Context, k *saving, study string) error {
	for e, err := range s.store.Events(ctx, study, 0) {
		if err != nil {
			return err
		}
		if k.owned = true; e.Steered != nil {
			k.owner = e.Steered.By
		}
		return nil
	}
	return nil
}

// curveOf returns the best so far, of trials in the order in which they ended, from the first that has
// a value on: at most mostCurve places.
func curveOf(trials []assay.Trial) []float64 {
	trials = slices.DeleteFunc(slices.Clone(trials), func(t assay.Trial) bool { return !t.State.Final() })
	slices.SortStableFunc(trials, func(a, b assay.Trial) int { return a.Ended.Compare(b.Ended) })
	best := math.Inf(1)
	var all []float64
	for _, t := range trials {
		if t.State == assay.Done {
			best = min(best, t.Value)
		}
		if !math.IsInf(best, 0) {
			all = append(all, best)
		}
	}
	if len(all) <= mostCurve {
		return all
	}
	out := make([]float64, mostCurve)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(mostCurve-1)]
	}
	return out
}
