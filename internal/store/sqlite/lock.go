// This file has the locks between processes. They are flock(2) on files of their own, because SQLite locks its file
// for a transaction only. There are two kinds:
//   - NAME.open, while a process opens, makes or migrates the file
//   - NAME.HASH, for as long as a study has an owner
//
// A lock ends with its process, so that a crash needs no cleaning up.

package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// lockDir is the directory of the lock files, beside the store.
const lockDir = "locks"

// A holder is the content of a lock file, for people: who has the lock. The lock itself is the kernel's (flock) and
// ends with the process; content that a killed process left means nothing.
type holder struct {
	// Study is "" in the lock for opening.
	Study string    `json:"study,omitempty"`
	By    string    `json:"by,omitempty"` // its own name
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// A file may be read before its holder is written; then nothing is known.
func (h holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	text := fmt.Sprintf("process %d on %s since %s", h.PID, h.Host, h.Since.Local().Format(time.DateTime))
	if h.By != "" {
		text = h.By + ", " + text
	}
	return text
}

// Lock implements [assay.Locker]. The study need not exist yet, so that a name can be reserved. It waits only for a
// process that has been killed. Reading needs no lock.
func (s *Store) Lock(ctx context.Context, study string) (release func() error, err error) {
	if err := cmp.Or(ctx.Err(), s.usable(ctx), store.CheckName(study)); err != nil {
		return nil, err
	}
	f, err := s.lockStudy(ctx, study, "")
	if err != nil {
		return nil, err
	}
	return f.release, nil
}

// killedWait is how long a lock outlives the process that had it at the most: a child that was between fork and exec
// when the process was killed has the file open until it has called exec.
const killedWait = 2 * time.Second

// lockStudy takes the lock of a study. It does not wait for a holder that lives. After a kill only a last child may
// still have the lock open, so lockStudy waits until the kernel has released it. An error that is not the context's
// matches [assay.ErrLocked] or [ErrIO]. If two names had the same hash, one would lock the other out, which does no
// harm.
func (s *Store) lockStudy(ctx context.Context, study, by string) (*fileLock, error) {
	if s.readOnly {
		return nil, fmt.Errorf("study %q: %w", study, ErrReadOnly)
	}
	path := s.studyLock(study)
	for end := time.Now().Add(killedWait); ; {
		f, err := tryFlock(path, holder{Study: study, By: by})
		if err == nil {
			return f, nil
		}
		locked, is := errors.AsType[*lockedError](err)
		if !is || !locked.by.killed() || time.Now().After(end) {
			return nil, fmt.Errorf("study %q: %w", study, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// studyLock returns the path of the lock file of a study.
func (s file) studyLock(study string) string {
	return s.lockPath(fmt.Sprintf("%.16x", sha256.Sum256([]byte(study))))
}

// Held implements [store.Holder] by the content of the lock file: to try the lock would shut out other owners at that
// moment. A process of another machine may have left its file behind.
func (s *Store) Held(ctx context.Context, study string) (by string, err error) {
	f, err := os.Open(s.studyLock(study))
	if errors.Is(err, fs.ErrNotExist) {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrIO, err)
	}
	defer f.Close()
	h := readHolder(f)
	if here, err := os.Hostname(); err != nil || h.Host != here || h.Study != study || h.killed() {
		return "", ctx.Err()
	}
	return h.String(), ctx.Err()
}

// killed reports whether the process of the holder has ended, as far as this machine can find out. The answer only
// decides whether to wait, so a wrong one, as from another PID namespace, gives away no lock: the kernel decides
// that.
func (h holder) killed() bool {
	here, err := os.Hostname()
	if err != nil || h.Host != here || h.PID <= 0 {
		return false
	}
	// Signal 0 only tests for the process (kill(2)). EPERM means that the process lives and has another user.
	return errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH)
}

// A lockedError is [assay.ErrLocked] with who has the lock.
type lockedError struct{ by holder }

func (e *lockedError) Error() string { return fmt.Sprintf("%v: by %v", assay.ErrLocked, e.by) }
func (e *lockedError) Unwrap() error { return assay.ErrLocked }

// Lease implements [assay.Leaser] over the lock of the study. The kernel keeps others out until this process has closed
// Lost or ended, however late its clock is: a process that is stopped loses nothing. Fences count for the whole file.
func (s *Store) Lease(ctx context.Context, study, holder string, ttl time.Duration) (assay.Lease, error) {
	if err := store.CheckLease(ctx, study, ttl); err != nil {
		return nil, err
	}
	f, err := s.lockStudy(ctx, study, holder)
	if err != nil {
		return nil, err
	}
	// The lock comes before the fence: among two successive holders, the later has the higher one. A crash after the
	// write leaves an unused number; fences need only grow.
	var fence int64
	err = s.write(ctx, func() error {
		return s.conn.QueryRowContext(context.WithoutCancel(ctx),
			`INSERT INTO fence (id, last) VALUES (1, 1)
			ON CONFLICT (id) DO UPDATE SET last = last + 1 RETURNING last`).Scan(&fence)
	})
	if err != nil {
		return nil, errors.Join(err, f.release())
	}
	// The lease counts as held while the lock file exists: if it was removed, another process can make and lock a new
	// one.
	return store.NewLease(study, fence, ttl, func() bool { return isAt(f.file, f.path) }, f.release), nil
}

// lockPath returns the path of one of the store's lock files.
// It begins with the name of the store, so that several stores share a directory.
func (s file) lockPath(name string) string {
	return filepath.Join(filepath.Dir(s.path), lockDir, filepath.Base(s.path)+"."+name)
}

// waitFlock takes the lock of the file at path, waiting for at most that long.
// The error matches [ErrBusy] if the time is over. It looks every 5 ms, because flock itself
// cannot be ended by a context. No holder is named in the file but this process.
func waitFlock(ctx context.Context, path string, wait time.Duration) (release func() error, err error) {
	for end := time.Now().Add(wait); ; {
		f, err := tryFlock(path, holder{})
		if err == nil {
			return f.release, nil
		}
		if !errors.Is(err, assay.ErrLocked) {
			return nil, err
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%w: %w", ErrBusy, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A fileLock is a lock that this process has.
type fileLock struct {
	file    *os.File
	path    string
	release func() error // the second call does nothing
}

// tryFlock takes the lock of the file at path and writes the holder into it, or returns an error that matches
// [assay.ErrLocked] and names the holder. An open file has the lock, so that a process also locks itself out. It
// never waits. If it returns an error, it has left no lock, but maybe an empty file.
func tryFlock(path string, h holder) (*fileLock, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrIO, err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			defer f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, &lockedError{readHolder(f)}
			}
			return nil, fmt.Errorf("%w: flock %s: %w", ErrIO, path, err)
		}
		// A lock on a file that has been removed does not exclude anyone: the next process makes a new file.
		if !isAt(f, path) {
			f.Close() // its last holder has removed it
			continue
		}
		h.PID, h.Since = os.Getpid(), time.Now().UTC()
		h.Host, _ = os.Hostname()
		// The content is a courtesy: a full disk does not prevent the lock.
		if b, err := json.Marshal(h); err == nil && f.Truncate(0) == nil {
			_, _ = f.Write(append(b, '\n')) // for people; the lock does not need it
		}
		return &fileLock{f, path, sync.OnceValue(func() error {
			// In this order, so that who opens the file afterwards makes a new one. If the lock ended first, another could take
			// it in between, and lose its file to our Remove.
			return errors.Join(os.Remove(path), f.Close())
		})}, nil
	}
}

// isAt reports whether f is still the file at path. If either cannot be looked at, the answer is no.
func isAt(f *os.File, path string) bool {
	mine, err1 := f.Stat()
	theirs, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(mine, theirs)
}

// readHolder returns the content of a lock file, or the zero holder if that is not whole. 16 KiB are enough for the
// longest name with every byte escaped.
func readHolder(r io.Reader) (h holder) {
	b, err := io.ReadAll(io.LimitReader(r, 1<<14))
	if err != nil || json.Unmarshal(b, &h) != nil {
		return holder{}
	}
	return h
}
