package server

import (
	"context"
	"slices"
	"sync"

	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/queue"
)

// audited is a Control that has it on record when a worker offers other applications than before.
type audited struct {
	queue.Control
	audit *access.Audit

	mu   sync.Mutex
	apps map[string][]string // by worker
}

// newAudited returns a Control that continues the audit on record.
func newAudited(c queue.Control, audit *access.Audit) (*audited, error) {
	all, err := audit.Entries(0)
	if err != nil {
		return nil, err
	}
	a := &audited{Control: c, audit: audit, apps: map[string][]string{}}
	for _, e := range all {
		if e.Do == access.AppsOffered {
			a.apps[e.On] = e.Apps
		}
	}
	return a, nil
}

// Hello implements [queue.Control].
func (a *audited) Hello(ctx context.Context, w queue.Worker) (queue.Order, error) {
	o, err := a.Control.Hello(ctx, w)
	if err != nil {
		return o, err
	}
	apps := slices.Sorted(slices.Values(w.Apps))
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.Equal(a.apps[w.ID], apps) {
		return o, nil
	}
	if err := a.audit.Add(access.Decision{By: w.Label(), Do: access.AppsOffered, On: w.ID, Apps: apps}); err != nil {
		return queue.Order{}, err
	}
	a.apps[w.ID] = apps
	return o, nil
}
