// Package mirror keeps a copy of a study's record in a file on another file system, as events come, and brings
// the study back from it.
//
// A batch system's login node has a disk of its own, on which a store can be, and a file system that all machines
// share, on which none can be. If the disk is lost, the copy and the results of the jobs are what is left of the study.
//
// The copy has the bytes of the record, and their hashes. An event is in the store first; a session that is killed
// between the two, or a file system that is away for a while, leaves the copy behind, and the next event or
// session completes it.
package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// ErrAhead says that a copy has events which the store lacks.
var ErrAhead = assay.Errorf(assay.ClassConflict, "the store lacks events that the copy has")

// A Store is a store one study of which has a copy. It is as safe for concurrent use as the store is.
type Store struct {
	store.Copier
	study, path string
	warn        func(text string)

	mu   sync.Mutex
	file *file // nil if it could not be written
	said bool  // that it could not
}

// Open returns a store that keeps a copy of a study at a path, and completes the copy. The study is there. Its error
// matches [ErrAhead] if the copy has events that the store lacks, and [store.ErrOther] if it is of another study. A
// copy that is damaged is set aside, and made anew. warn is told of that, for people, and when the copy cannot be
// written any more, and when it can again; Append does not fail by that.
func Open(ctx context.Context, s store.Copier, study, path string, warn func(text string)) (*Store, error) {
	err := fits(ctx, s, study, path)
	if errors.Is(err, errDamagedCopy) {
		err = setAside(path, err, warn)
	}
	if err != nil {
		return nil, err
	}
	m := &Store{Copier: s, study: study, path: path, warn: warn}
	if err := m.follow(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// errDamagedCopy says that it is the copy, and not the store, that is damaged.
var errDamagedCopy = errors.New("the copy is damaged")

// setAside renames a copy that is damaged: what stands behind the damage may be wanted.
func setAside(path string, why error, warn func(text string)) error {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.damaged-%d", path, n)
		if _, err := os.Lstat(to); err == nil {
			continue
		} else if !gone(err) {
			return err
		}
		if err := os.Rename(path, to); err != nil {
			return err
		}
		warn(fmt.Sprintf("%v: it is now %s, and the copy is made anew from the store", why, to))
		return nil
	}
}

// fits returns an error if what a copy has is not the beginning of the record.
func fits(ctx context.Context, s store.Copier, study, path string) error {
	next, stop := iter.Pull2(s.Records(ctx, study, 0))
	defer stop()
	for c, err := range Records(path) {
		if gone(err) {
			return nil
		}
		if errors.Is(err, store.ErrDamaged) {
			return fmt.Errorf("%w: %w", errDamagedCopy, err)
		}
		if err != nil {
			return err
		}
		r, err, more := next()
		switch {
		case err != nil:
			return err
		case !more:
			return fmt.Errorf("study %q: %w: event %d of %s", study, ErrAhead, c.Seq, path)
		case !bytes.Equal(r.Hash, c.Hash):
			return fmt.Errorf("study %q: %w: event %d differs in %s", study, store.ErrOther, c.Seq, path)
		}
	}
	return nil
}

// Append implements [assay.Store].
func (m *Store) Append(ctx context.Context, study string, at assay.Position,
	events ...assay.Event,
) (assay.Position, error) {
	end, err := m.Copier.Append(ctx, study, at, events...)
	if err == nil && study == m.study {
		m.keep(ctx)
	}
	return end, err
}

// keep completes the copy, and says when that begins to fail, and when it does not fail any more.
func (m *Store) keep(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.follow(context.WithoutCancel(ctx)) // the event is on record
	if failed := err != nil; failed != m.said {
		m.said = failed
		if failed {
			m.warn(fmt.Sprintf("the copy of the record at %s cannot be written: %v; what happens now is in the store alone",
				m.path, err))
		} else {
			m.warn(fmt.Sprintf("the copy of the record at %s is complete again", m.path))
		}
	}
}

// follow appends to the copy what it lacks.
func (m *Store) follow(ctx context.Context) (err error) {
	if m.file == nil {
		if m.file, err = open(m.path); err != nil {
			return err
		}
	}
	f := m.file
	var b []byte
	next, hash := f.next, f.hash
	for r, err := range m.Records(ctx, m.study, f.next) {
		if err != nil {
			return err
		}
		b = append(b, frame(r)...)
		next, hash = r.Seq+1, r.Hash
	}
	if len(b) == 0 {
		return nil
	}
	if err := f.write(b); err != nil {
		m.file = nil
		return errors.Join(err, f.Close())
	}
	f.next, f.hash = next, hash
	return nil
}

// Close closes the copy, and not the store.
func (m *Store) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil {
		return nil
	}
	f := m.file
	m.file = nil
	return f.Close()
}

// Creation returns what record 0 of a copy says.
func Creation(path string) (c store.Creation, err error) {
	for r, err := range Records(path) {
		if err != nil {
			return c, err
		}
		c, err := store.DecodeCreation(r.Payload)
		if err != nil {
			return c, fmt.Errorf("%s: %w: %w", path, store.ErrDamaged, err)
		}
		return c, nil
	}
	return c, fmt.Errorf("%s: %w: there is no study in it", path, store.ErrDamaged)
}

// Recover brings a study back into a store from its copy, as [store.Copy] does. Of a copy that is damaged what stands
// before the damage is brought back, and the error matches [store.ErrDamaged].
func Recover(ctx context.Context, path string, to store.Copier) (c store.Copied, err error) {
	made, err := Creation(path)
	if err != nil {
		return c, err
	}
	var damage error
	c, err = store.Copy(ctx, part(func(yield func(store.Record, error) bool) {
		for r, err := range Records(path) {
			if errors.Is(err, store.ErrDamaged) {
				damage = err
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}), to, made.Study)
	return c, errors.Join(err, damage)
}

// part is records of one study.
type part iter.Seq2[store.Record, error]

// Records implements [store.Records].
func (p part) Records(context.Context, string, int64) iter.Seq2[store.Record, error] {
	return iter.Seq2[store.Record, error](p)
}
