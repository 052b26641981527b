package setup

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

// This file keeps a copy of a study's record in a file on another file system, as events arrive, and restores the study
// from it.
//
// A batch system's login node has a disk of its own, on which a store can be, and a file system that all machines
// share, on which no store can be. If the disk is lost, the copy and the results of the jobs remain of the study.
//
// The copy has the bytes of the record, and their hashes. An event is in the store first; a session that is killed
// between the two, or a file system that is away for a while, leaves the copy behind, and the next event or session
// completes it.

// errAhead reports that a copy has events which the store lacks.
var errAhead = assay.Errorf(assay.ClassConflict, "the store lacks events that the copy has")

// A recordMirror is a store one study of which has a copy. It is as safe for concurrent use as the store is.
type recordMirror struct {
	store.Copier
	study, path string
	warn        func(text string)

	mu   sync.Mutex
	file *copyFile // nil if it could not be written
	said bool      // that it could not
}

// openMirror returns a store that keeps a copy of a study at a path, and completes the copy. The study must exist. The
// error matches [errAhead] if the copy has events that the store lacks, and [store.ErrOther] if it is of another
// study. A damaged copy is set aside, and made anew. warn is called with a text for people after that, when the copy
// cannot be written any more, and when it can again; Append does not fail because of it.
func openMirror(
	ctx context.Context, s store.Copier, study, path string, warn func(text string),
) (*recordMirror, error) {
	err := fitsCopy(ctx, s, study, path)
	if errors.Is(err, errDamagedCopy) {
		err = setAside(path, err, warn)
	}
	if err != nil {
		return nil, err
	}
	m := &recordMirror{Copier: s, study: study, path: path, warn: warn}
	if err := m.follow(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// errDamagedCopy reports that the copy, and not the store, is damaged.
var errDamagedCopy = errors.New("the copy is damaged")

// setAside renames a damaged copy: the records after the damage may be wanted.
func setAside(path string, why error, warn func(text string)) error {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.damaged-%d", path, n)
		if _, err := os.Lstat(to); err == nil {
			continue
		} else if !isGone(err) {
			return err
		}
		if err := os.Rename(path, to); err != nil {
			return err
		}
		warn(fmt.Sprintf("%v: it is now %s, and the copy is made anew from the store", why, to))
		return nil
	}
}

// fitsCopy returns an error if the copy is not the beginning of the record.
func fitsCopy(ctx context.Context, s store.Copier, study, path string) error {
	next, stop := iter.Pull2(s.Records(ctx, study, 0))
	defer stop()
	for c, err := range copiedRecords(path) {
		if isGone(err) {
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
			return fmt.Errorf("study %q: %w: event %d of %s", study, errAhead, c.Seq, path)
		case !bytes.Equal(r.Hash, c.Hash):
			return fmt.Errorf("study %q: %w: event %d differs in %s", study, store.ErrOther, c.Seq, path)
		}
	}
	return nil
}

// Append implements [assay.Store].
func (m *recordMirror) Append(ctx context.Context, study string, at assay.Position,
	events ...assay.Event,
) (assay.Position, error) {
	end, err := m.Copier.Append(ctx, study, at, events...)
	if err == nil && study == m.study {
		m.keep(ctx)
	}
	return end, err
}

// keep completes the copy, and warns when that begins to fail, and when it does not fail any more.
func (m *recordMirror) keep(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.follow(context.WithoutCancel(ctx)) // the event is on record
	if failed := err != nil; failed != m.said {
		m.said = failed
		if failed {
			m.warn(fmt.Sprintf("the copy of the record at %s cannot be written: %v; new events are in the store alone",
				m.path, err))
		} else {
			m.warn(fmt.Sprintf("the copy of the record at %s is complete again", m.path))
		}
	}
}

// follow appends the missing records to the copy.
func (m *recordMirror) follow(ctx context.Context) (err error) {
	if m.file == nil {
		if m.file, err = openCopy(m.path); err != nil {
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
		b = append(b, copyFrame(r)...)
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
func (m *recordMirror) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil {
		return nil
	}
	f := m.file
	m.file = nil
	return f.Close()
}

// copiedCreation returns the content of record 0 of a copy.
func copiedCreation(path string) (c store.Creation, err error) {
	for r, err := range copiedRecords(path) {
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

// recoverCopy restores a study in a store from its copy, as [store.Copy] does. From a damaged copy it restores the
// recordsIn before the damage, and the error matches [store.ErrDamaged].
func recoverCopy(ctx context.Context, path string, to store.Copier) (c store.Copied, err error) {
	made, err := copiedCreation(path)
	if err != nil {
		return c, err
	}
	var damage error
	c, err = store.Copy(ctx, copyPart(func(yield func(store.Record, error) bool) {
		for r, err := range copiedRecords(path) {
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

// copyPart is records of one study.
type copyPart iter.Seq2[store.Record, error]

// Records implements [store.Records].
func (p copyPart) Records(context.Context, string, int64) iter.Seq2[store.Record, error] {
	return iter.Seq2[store.Record, error](p)
}
