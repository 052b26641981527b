// This file has the store in memory. It keeps events as values, not as bytes: it copies its input and output, so that
// no caller can change a record through a slice or a map.

package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// Mem keeps studies in memory, for tests and simulations. It is lost with the process. An Append costs one small copy
// per event; Trials and Summary read all events of the study.
type Mem struct {
	projector
	// mu guards the fields below. It is never held while a caller's code runs.
	mu      sync.RWMutex
	studies map[string]*memStudy
	// locks has names of studies that need not exist.
	locks map[string]string // who holds it, by study
	// fence also counts plain locks, so there are gaps between the fences of leases.
	fence int64 // of the last lease
}

var (
	_ assay.Store     = (*Mem)(nil)
	_ assay.Remover   = (*Mem)(nil)
	_ assay.Locker    = (*Mem)(nil)
	_ assay.Leaser    = (*Mem)(nil)
	_ assay.Watcher   = (*Mem)(nil)
	_ assay.Projector = (*Mem)(nil)
)

// A memStudy is changed only by appending to events, so that a slice of them taken under the lock may be read without
// it. spec and created never change. events and moved are read and written under the lock of the store.
type memStudy struct {
	spec    []byte
	created time.Time
	events  []assay.Event
	// It carries no value, so that one event wakes any number of watchers, and a slow one delays no other.
	moved chan struct{} // closed, and another put in its place, as events come or the study goes
}

// NewMem returns an empty store.
func NewMem() *Mem {
	m := &Mem{studies: map[string]*memStudy{}, locks: map[string]string{}}
	m.projector = projector{m.history, m.Studies}
	return m
}

// Create implements [assay.Store]. The specification is copied.
func (m *Mem) Create(ctx context.Context, study string, spec []byte) error {
	return m.CreateAt(ctx, study, spec, time.Now())
}

// CreateAt is Create of a study that was made earlier, elsewhere.
func (m *Mem) CreateAt(ctx context.Context, study string, spec []byte, created time.Time) error {
	if err := cmp.Or(ctx.Err(), CheckName(study)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.studies[study] != nil {
		return Exists(study)
	}
	m.studies[study] = &memStudy{spec: slices.Clone(spec), created: created, moved: make(chan struct{})}
	return nil
}

// get returns the study and the events that it has now. op goes into the error for a study that does not exist. The
// events are the store's: they must be copied before they are given away.
func (m *Mem) get(ctx context.Context, op, study string) (*memStudy, []assay.Event, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if s := m.studies[study]; s != nil {
		return s, s.events, nil
	}
	return nil, nil, NotExist(op, study)
}

// Spec implements [assay.Store].
func (m *Mem) Spec(ctx context.Context, study string) ([]byte, error) {
	s, _, err := m.get(ctx, "read", study)
	if err != nil {
		return nil, err
	}
	return slices.Clone(s.spec), nil
}

// Studies implements [assay.Store]. The names are the names at the moment at which the iteration begins, sorted.
func (m *Mem) Studies(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, name := range m.names() {
			if err := ctx.Err(); err != nil {
				yield("", err)
				return
			}
			if !yield(name, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield("", err)
		}
	}
}

// names returns the names of all studies, sorted.
func (m *Mem) names() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Sorted(maps.Keys(m.studies))
}

// Append implements [assay.Store]. It keeps copies, without the output of trials. After an error nothing has been
// added. It does not encode the events, so a coordinate that is not finite is found only when the same Append is
// repeated.
func (m *Mem) Append(
	ctx context.Context, study string, at assay.Position, events ...assay.Event,
) (assay.Position, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	kept := make([]assay.Event, len(events))
	for i, e := range events {
		if err := checkEvent(e); err != nil {
			return 0, err
		}
		// A state that has no name could not be written by any other store.
		if t := cmp.Or(e.Told, e.Checked); t != nil && int(t.State) >= len(assay.States()) {
			return 0, fmt.Errorf("trial %d has the unknown state %v", t.ID, t.State)
		}
		kept[i] = cloneEvent(e)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.studies[study]
	if s == nil {
		return 0, NotExist("append to", study)
	}
	end := assay.Position(len(s.events))
	if at == end {
		s.events = append(s.events, kept...)
		close(s.moved)
		s.moved = make(chan struct{})
		return end + assay.Position(len(kept)), nil
	}
	// The position is not the end: either all events stand there already, or this is a conflict.
	if at < 0 || at > end-assay.Position(len(kept)) {
		return 0, Conflict(study, at, end)
	}
	behind := at + assay.Position(len(kept))
	same, err := samePayloads(s.events[at:behind], kept)
	if err == nil && !same {
		err = Conflict(study, at, end)
	}
	if err != nil {
		return 0, err
	}
	return behind, nil
}

// samePayloads reports whether a and b, of the same length, are stored as the same bytes. It compares the same data
// as the other stores, so that a repetition is the same thing in each.
func samePayloads(a, b []assay.Event) (bool, error) {
	for i := range a {
		x, err := EncodeEvent(a[i])
		if err != nil {
			return false, err
		}
		y, err := EncodeEvent(b[i])
		if err != nil {
			return false, err
		}
		if !bytes.Equal(x, y) {
			return false, nil
		}
	}
	return true, nil
}

// cloneEvent returns a copy of e that shares no memory with it, without the output of the trial. The memo is copied
// with a proposal only: elsewhere checkEvent refuses one.
func cloneEvent(e assay.Event) assay.Event {
	if e.Asked != nil {
		e.Asked = &assay.Proposal{ID: e.Asked.ID, Config: e.Asked.Config.Clone()}
		e.Memo = bytes.Clone(e.Memo)
	}
	e.Told, e.Checked = cloneTrial(e.Told), cloneTrial(e.Checked)
	if e.Pruned != nil {
		cut := *e.Pruned
		cut.Values = slices.Clone(cut.Values)
		e.Pruned = &cut
	}
	e.Started, e.Ordered = cloneOf(e.Started), cloneOf(e.Ordered)
	e.Withdrawn, e.Ended = cloneOf(e.Withdrawn), cloneOf(e.Ended)
	e.Steered = cloneOf(e.Steered)
	if e.Drifted != nil {
		drifted := *e.Drifted
		drifted.Trials = slices.Clone(drifted.Trials)
		e.Drifted = &drifted
	}
	if e.Booked != nil {
		booked := *e.Booked
		booked.Measurement = cloneTrial(bookedTrial(e.Booked)).Measurement
		e.Booked = &booked
	}
	if e.Given != nil {
		given := *e.Given
		given.Configs = slices.Clone(given.Configs)
		for i, c := range given.Configs {
			given.Configs[i] = c.Clone()
		}
		e.Given = &given
	}
	return e
}

// cloneOf returns a copy of the value that p points to, or nil.
func cloneOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// cloneTrial returns a copy of a trial without its output, or nil.
func cloneTrial(of *assay.Trial) *assay.Trial {
	if of == nil {
		return nil
	}
	t := *of
	t.Config = t.Config.Clone()
	t.Measurement.Metrics, t.Measurement.Missing = maps.Clone(t.Measurement.Metrics), maps.Clone(t.Measurement.Missing)
	t.Measurement.Stdout, t.Measurement.Stderr = nil, nil
	t.Decision = cloneOf(t.Decision)
	return &t
}

// Events implements [assay.Store]. It yields the events that there are when the iteration begins. No lock is held
// between events, so that the caller may append in its loop.
func (m *Mem) Events(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error] {
	return func(yield func(assay.Event, error) bool) {
		_, events, err := m.get(ctx, "read", study)
		if err != nil {
			yield(assay.Event{}, err)
			return
		}
		for _, e := range events[min(max(after, 0), assay.Position(len(events))):] {
			if err := ctx.Err(); err != nil {
				yield(assay.Event{}, err)
				return
			}
			if !yield(cloneEvent(e), nil) {
				return
			}
		}
	}
}

// history returns when a study was made, and copies of its events. It is the history of projector.
func (m *Mem) history(ctx context.Context, study string) (time.Time, []assay.Event, error) {
	s, events, err := m.get(ctx, "read", study)
	if err != nil {
		return time.Time{}, nil, err
	}
	copies := make([]assay.Event, len(events))
	for i, e := range events {
		copies[i] = cloneEvent(e)
	}
	return s.created, copies, nil
}

// Remove implements [assay.Remover]. It returns an error that matches [assay.ErrLocked] while the study is locked.
func (m *Mem) Remove(ctx context.Context, study string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.studies[study] == nil {
		return NotExist("remove", study)
	}
	if _, locked := m.locks[study]; locked {
		return fmt.Errorf("%w: %q", assay.ErrLocked, study)
	}
	// Watchers wake up and find that the study is gone. Nothing is appended to it any more.
	close(m.studies[study].moved)
	delete(m.studies, study)
	return nil
}

// Lock implements [assay.Locker]. The study need not exist yet.
// The second call of release does nothing: by then another may have the lock.
func (m *Mem) Lock(ctx context.Context, study string) (release func() error, err error) {
	if err := cmp.Or(ctx.Err(), CheckName(study)); err != nil {
		return nil, err
	}
	if _, err := m.lock(study, "this process"); err != nil {
		return nil, err
	}
	return sync.OnceValue(func() error { return m.unlock(study) }), nil
}

// lock takes the lock of a study and returns the next fence. It does not wait: if the study is locked, the error
// matches [assay.ErrLocked] and names the holder.
func (m *Mem) lock(study, holder string) (fence int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if by, locked := m.locks[study]; locked {
		return 0, fmt.Errorf("%w: %q, by %s", assay.ErrLocked, study, by)
	}
	m.locks[study] = holder
	m.fence++
	return m.fence, nil
}

// unlock ends the lock of a study for any holder: callers make sure that it is theirs.
func (m *Mem) unlock(study string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.locks, study)
	return nil
}

// Held implements [Holder].
func (m *Mem) Held(ctx context.Context, study string) (by string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.locks[study], ctx.Err()
}

// Lease implements [assay.Leaser]. Fences count for the whole store.
func (m *Mem) Lease(ctx context.Context, study, holder string, ttl time.Duration) (assay.Lease, error) {
	if err := CheckLease(ctx, study, ttl); err != nil {
		return nil, err
	}
	fence, err := m.lock(study, holder)
	if err != nil {
		return nil, err
	}
	// No other process can take the lock away, so it is held until it is freed.
	return NewLease(study, fence, ttl, func() bool { return true }, func() error { return m.unlock(study) }), nil
}

// Watch implements [assay.Watcher]. It ends without an error when ctx does. It ends with an error that matches
// fs.ErrNotExist in three cases:
//   - there is no such study
//   - the study is removed
//   - the study was removed and made again: its events are others
func (m *Mem) Watch(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error] {
	return func(yield func(assay.Event, error) bool) {
		first, _, _ := m.now(study)
		for after := max(after, 0); ctx.Err() == nil; {
			// Events and channel are of one moment, so no event can come between them unnoticed.
			s, events, moved := m.now(study)
			if s == nil || s != first {
				yield(assay.Event{}, NotExist("watch", study))
				return
			}
			for ; after < assay.Position(len(events)) && ctx.Err() == nil; after++ {
				if !yield(cloneEvent(events[after]), nil) {
					return
				}
			}
			select {
			case <-moved:
			case <-ctx.Done():
			}
		}
	}
}

// now returns a study, its events, and a channel that is closed when there are more; nil if no such study exists.
func (m *Mem) now(study string) (*memStudy, []assay.Event, <-chan struct{}) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s := m.studies[study]
	if s == nil {
		return nil, nil, nil
	}
	return s, s.events, s.moved
}
