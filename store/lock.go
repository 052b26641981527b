package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/assay-run/assay"
)

// lockDir is the directory of the lock files, beside the store.
const lockDir = "locks"

// A holder is the content of a lock file, for people: who has the lock. The
// lock itself is the kernel's (flock) and ends with the process; content that a
// killed process left means nothing.
type holder struct {
	Study string    `json:"study,omitempty"`
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

func (h holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s since %s", h.PID, h.Host, h.Since.Local().Format(time.DateTime))
}

// Lock implements [assay.Locker]. The study need not exist yet, so that a name
// can be reserved. It does not wait. Reading needs no lock.
func (s *SQLite) Lock(ctx context.Context, study string) (release func() error, err error) {
	if err := cmp.Or(ctx.Err(), s.usable(ctx), checkName(study)); err != nil {
		return nil, err
	}
	f, err := tryFlock(s.lockPath(fmt.Sprintf("%.16x", sha256.Sum256([]byte(study)))), holder{Study: study})
	if err != nil {
		return nil, fmt.Errorf("study %q: %w", study, err)
	}
	return f, nil
}

// lockPath returns the path of one of the store's lock files.
func (s *SQLite) lockPath(name string) string {
	return filepath.Join(filepath.Dir(s.path), lockDir, filepath.Base(s.path)+"."+name)
}

// waitFlock takes the lock of the file at path, waiting for at most that long.
func waitFlock(ctx context.Context, path string, wait time.Duration) (release func() error, err error) {
	for end := time.Now().Add(wait); ; {
		release, err := tryFlock(path, holder{})
		if !errors.Is(err, assay.ErrLocked) {
			return release, err
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

// tryFlock takes the lock of the file at path and writes the holder into it, or
// returns an error that matches [assay.ErrLocked] and says who has it. An open
// file has the lock, so that a process also locks itself out.
func tryFlock(path string, h holder) (release func() error, err error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrIO, err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			defer f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, fmt.Errorf("%w: by %v", assay.ErrLocked, readHolder(f))
			}
			return nil, fmt.Errorf("%w: flock %s: %w", ErrIO, path, err)
		}
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
		return sync.OnceValue(func() error {
			// In this order, so that who opens the file afterwards makes a new one.
			return errors.Join(os.Remove(path), f.Close())
		}), nil
	}
}

// isAt reports whether f is still the file at path.
func isAt(f *os.File, path string) bool {
	mine, err1 := f.Stat()
	theirs, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(mine, theirs)
}

func readHolder(r io.Reader) (h holder) {
	b, err := io.ReadAll(io.LimitReader(r, 1<<14))
	if err != nil || json.Unmarshal(b, &h) != nil {
		return holder{}
	}
	return h
}
