package api

import (
	"context"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/study"
)

// patience is how many times as long as it took to work it out what early stopping saved stands
// while the study goes on.
const patience = 20

// savings are what early stopping saved, by study. To know it all trials are read: with many of
// them, and somebody who looks after every event, a server would do little else.
type savings struct {
	store *setup.Store
	mu    sync.Mutex
	known map[string]*saving
}

// A saving is that of one study.
type saving struct {
	mu      sync.Mutex // held by who works it out
	created time.Time  // of the study
	events  int64      // of which it is
	saved   time.Duration
	until   time.Time // it is good enough while the study goes on
}

// of returns what early stopping has saved a study: exactly, or somewhat behind while it goes on.
func (s *savings) of(ctx context.Context, sum assay.Summary) (time.Duration, error) {
	if sum.Counts[assay.Censored] == 0 {
		return 0, nil
	}
	s.mu.Lock()
	k := s.known[sum.Study]
	if k == nil || !k.created.Equal(sum.Created) {
		k = &saving{created: sum.Created, events: -1}
		s.known[sum.Study] = k
	}
	s.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.events == sum.Events || k.events >= 0 && sum.Ended == "" && time.Now().Before(k.until) {
		return k.saved, nil
	}
	began := time.Now()
	var trials []assay.Trial
	for row, err := range s.store.Trials(ctx, sum.Study, 0, 0) {
		if err != nil {
			return 0, err
		}
		trials = append(trials, row.Trial)
	}
	k.events, k.saved = sum.Events, study.Saved(trials)
	k.until = time.Now().Add(patience * time.Since(began))
	return k.saved, nil
}
