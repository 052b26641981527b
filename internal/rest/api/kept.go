package api

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/setup"
)

// mostKeptIndexes is how many studies are indexed at once.
const mostKeptIndexes = 64

// keptIndexes know the files kept of the runs of studies, from the record: each study is read once, and later only its
// new events. They are safe for concurrent use.
type keptIndexes struct {
	mu sync.Mutex
	by map[string]*keptIndex
}

// A keptIndex is the index of one study.
type keptIndex struct {
	mu      sync.Mutex // held while it is read
	created time.Time
	at      assay.Position
	seen    kept
}

// kept is the indexed content of a study's record.
type kept struct {
	lists map[string]bool              // hashes of lists
	runs  map[int64][]assay.AttemptEnd // by trial, with a list or without
}

func newKeptIndexes() *keptIndexes { return &keptIndexes{by: map[string]*keptIndex{}} }

// of returns the current index. The caller must not change it, nor read it after the next call for the same study.
func (k *keptIndexes) of(ctx context.Context, st *setup.Store, study string) (kept, error) {
	sum, err := st.Summary(ctx, study)
	if err != nil {
		return kept{}, err
	}
	x := k.index(study)
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.created.Equal(sum.Created) || x.at > assay.Position(sum.Events) || x.seen.lists == nil {
		x.created, x.at, x.seen = sum.Created, 0, kept{map[string]bool{}, map[int64][]assay.AttemptEnd{}}
	}
	if x.at == assay.Position(sum.Events) {
		return x.seen, nil
	}
	next := kept{maps.Clone(x.seen.lists), make(map[int64][]assay.AttemptEnd, len(x.seen.runs))}
	for trial, all := range x.seen.runs {
		next.runs[trial] = all[:len(all):len(all)]
	}
	at := x.at
	for e, err := range st.Events(ctx, study, at) {
		if err != nil {
			return kept{}, err
		}
		at++
		b := e.Booked
		if b == nil || b.Worker == "" {
			continue
		}
		one := *b
		one.Measurement = assay.Measurement{Elapsed: b.Measurement.Elapsed}
		next.runs[b.Trial] = append(next.runs[b.Trial], one)
		if b.Files != "" {
			next.lists[b.Files] = true
		}
	}
	x.at, x.seen = at, next
	return next, nil
}

// index returns the index of a study, which may be empty still.
func (k *keptIndexes) index(study string) *keptIndex {
	k.mu.Lock()
	defer k.mu.Unlock()
	x := k.by[study]
	if x == nil {
		for name := range k.by {
			if len(k.by) < mostKeptIndexes {
				break
			}
			delete(k.by, name) // any one: it is read again at the next request
		}
		x = &keptIndex{}
		k.by[study] = x
	}
	return x
}

// best returns the attempt whose files represent a trial: the last attempt of the trial's own run that counts, else the
// last that left files, else the last.
func (k kept) best(trial int64) (b assay.AttemptEnd, ok bool) {
	rank := func(b assay.AttemptEnd) int {
		switch {
		case b.Counts() && b.Repeat == 0:
			return 3
		case b.Files != "":
			return 2
		}
		return 1
	}
	for _, o := range k.runs[trial] {
		if !ok || rank(o) >= rank(b) {
			b, ok = o, true
		}
	}
	return b, ok
}
