package api

import "sync"

// mostRecent is how many values a [recent] has.
const mostRecent = 8

// A recent caches values that take long to compute from studies, by number of events. It is safe for concurrent use.
type recent[T any] struct {
	mu   sync.Mutex
	kept []computed[T] // the most recently used first
}

// A computed is a value of a study.
type computed[T any] struct {
	study  string
	events int64
	value  T
}

// find returns the value of a study if it is up to date.
func (r *recent[T]) find(study string, events int64) (value T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range r.kept {
		if c.study == study && c.events == events {
			copy(r.kept[1:i+1], r.kept[:i])
			r.kept[0] = c
			return c.value, true
		}
	}
	return value, false
}

// keep replaces the older value of the same study, or the least recently used value.
func (r *recent[T]) keep(study string, events int64, value T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []computed[T]{{study, events, value}}
	for _, old := range r.kept {
		if old.study != study && len(all) < mostRecent {
			all = append(all, old)
		}
	}
	r.kept = all
}
