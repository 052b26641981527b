// This file has the owners of studies. An owner is a row with a time at which it ends, by the server's clock. The
// promise is that a holder learns of the loss before another process gets the study: the holder's time runs from
// before its question was sent, and the server's, which is also longer, from its arrival.

package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// lockTime is the lease behind a Lock, which renews itself: after the end of a process that
// could not release it, others on another machine wait that long.
const lockTime = 30 * time.Second

// grace is how much longer than the holder the server waits, for a timer that fires late.
func grace(ttl time.Duration) time.Duration {
	return min(max(ttl/10, 100*time.Millisecond), 2*time.Second)
}

// An owner is a row of owners.
type owner struct {
	fence       int64
	holder      string
	host, place string
	pid         int
	since       time.Time
}

func (o owner) String() string {
	text := fmt.Sprintf("process %d on %s since %s", o.pid, o.host, o.since.Local().Format(time.DateTime))
	if o.holder != "" {
		text = o.holder + ", " + text
	}
	return text
}

// place identifies the scope of process numbers: this start of this kernel, and the namespace. It is "" if that is
// not known.
var place = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + ns
})

// gone reports whether the owner is a process that has ended, as only who runs beside it can know. In doubt it is not.
func (o owner) gone() bool {
	// Signal 0 only tests for the process (kill(2)).
	return o.place != "" && o.place == place() && o.pid > 0 && errors.Is(syscall.Kill(o.pid, 0), syscall.ESRCH)
}

// Lease implements [assay.Leaser]. Fences count for each name of a study, also beyond its removal.
func (s *Store) Lease(ctx context.Context, study, holder string, ttl time.Duration) (assay.Lease, error) {
	if err := store.CheckLease(ctx, study, ttl); err != nil {
		return nil, err
	}
	return s.lease(ctx, study, holder, ttl)
}

// Held implements [store.Holder].
func (s *Store) Held(ctx context.Context, study string) (by string, err error) {
	live := false
	err = s.retry(ctx, away, func(ctx context.Context) error {
		err := s.db.QueryRowContext(ctx, `SELECT expires > clock_timestamp() FROM owners WHERE study = $1`, study).Scan(&live)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil || !live {
		return "", err
	}
	o, err := s.ownerOf(ctx, study)
	if errors.Is(err, sql.ErrNoRows) || err == nil && o.gone() {
		return "", nil
	}
	return o.String(), err
}

func (s *Store) lease(ctx context.Context, study, holder string, ttl time.Duration) (*lease, error) {
	l := &lease{s: s, study: study, ttl: ttl, lost: make(chan struct{})}
	host, _ := os.Hostname()
	token := rand.Text() // of this call: if its answer is lost, it finds that the lease is its own
	var ends time.Time
	err := s.retry(ctx, away, func(ctx context.Context) error {
		killed := int64(-1) // the fence of an owner that has ended; fences count from 1
		for {
			ends = time.Now().Add(ttl)
			err := s.db.QueryRowContext(ctx, `INSERT INTO owners AS o
					(study, fence, holder, host, pid, place, token, since, expires)
				VALUES ($1, 1, $2, $3, $4, $5, $8, clock_timestamp(),
					clock_timestamp() + $6 * interval '1 microsecond')
				ON CONFLICT (study) DO UPDATE SET fence = o.fence + 1, holder = EXCLUDED.holder, host = EXCLUDED.host,
					pid = EXCLUDED.pid, place = EXCLUDED.place, token = EXCLUDED.token,
					since = EXCLUDED.since, expires = EXCLUDED.expires
				WHERE o.expires <= clock_timestamp() OR o.fence = $7 OR o.token = $8 RETURNING fence`,
				study, text(holder), text(host), os.Getpid(), place(), (ttl + grace(ttl)).Microseconds(), killed, token).
				Scan(&l.fence)
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			o, err := s.ownerOf(ctx, study)
			switch {
			case err != nil:
				return err
			case o.gone() && o.fence != killed:
				killed = o.fence
			default:
				return fmt.Errorf("study %q: %w: by %v", study, assay.ErrLocked, o)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	l.mu.Lock() // expire may come before the timer has its place
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(time.Until(ends), l.expire)
	return l, nil
}

// ownerOf returns who has a study, or had it last.
func (s *Store) ownerOf(ctx context.Context, study string) (o owner, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT fence, holder, host, pid, place, since FROM owners WHERE study = $1`, study).
		Scan(&o.fence, &o.holder, &o.host, &o.pid, &o.place, &o.since)
	return o, err
}

// A lease ends in one of three ways:
//   - Release: the holder knows, so lost stays open
//   - the timer: expire runs in a goroutine of its own
//   - Renew finds that the row belongs to another owner
type lease struct {
	s     *Store
	study string
	fence int64
	ttl   time.Duration
	lost  chan struct{}

	renewing sync.Mutex // held for as long as a Renew runs
	mu       sync.Mutex // guards the fields below, and is held for no call of the server
	timer    *time.Timer
	over     bool
}

func (l *lease) Fence() int64          { return l.fence }
func (l *lease) Lost() <-chan struct{} { return l.lost }

// expire ends a lease that was not renewed, the holder first.
func (l *lease) expire() {
	if !l.finish(true) {
		return
	}
	// Others need not wait for the grace; if this fails, they do.
	ctx, cancel := context.WithTimeout(l.s.alive, time.Second)
	defer cancel()
	_ = l.free(ctx)
}

// finish marks the lease as ended, and reports whether it was not before.
func (l *lease) finish(lost bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.over = true
	l.timer.Stop()
	if lost {
		close(l.lost)
	}
	return true
}

// free ends the lease for the server, if it is still ours.
func (l *lease) free(ctx context.Context) error {
	_, err := l.s.db.ExecContext(ctx, `UPDATE owners SET expires = '-infinity' WHERE study = $1 AND fence = $2`,
		l.study, l.fence)
	return err
}

func (l *lease) ended() error {
	return fmt.Errorf("study %q: the lease has ended: %w", l.study, assay.ErrLocked)
}

// Renew implements [assay.Lease]. An error other than ErrLocked leaves the time as it was. A
// server that is away is asked until the lease has ended.
func (l *lease) Renew(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.renewing.Lock()
	defer l.renewing.Unlock()
	select {
	case <-l.lost:
		return l.ended()
	default:
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // no question outlives the lease
		select {
		case <-l.lost:
			cancel()
		case <-ctx.Done():
		}
	}()
	var ends time.Time
	var held int64
	err := l.s.retry(ctx, away, func(ctx context.Context) error {
		ends = time.Now().Add(l.ttl)
		r, err := l.s.db.ExecContext(ctx, `UPDATE owners SET expires = clock_timestamp() + $3 * interval '1 microsecond'
			WHERE study = $1 AND fence = $2 AND expires > clock_timestamp()`,
			l.study, l.fence, (l.ttl + grace(l.ttl)).Microseconds())
		if err == nil {
			held, err = r.RowsAffected()
		}
		return err
	})
	if err == nil && held == 0 {
		l.finish(true)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over:
		return l.ended()
	case err != nil:
		return err
	case !l.timer.Stop(): // it has fired and waits for the mutex
		l.over = true
		close(l.lost)
		return l.ended()
	}
	l.timer.Reset(time.Until(ends))
	return nil
}

// Release implements [assay.Lease]. It returns nil for a lease that was lost. After an error
// the lease has ended all the same; others wait until its time is over.
func (l *lease) Release() error {
	if !l.finish(false) {
		return nil
	}
	return l.s.retry(context.Background(), away, l.free)
}

// Lock implements [assay.Locker]. The study need not exist yet. The lock is a lease that is renewed until release; the
// study of a process that has ended is free at once for one beside it, and elsewhere after half a minute.
func (s *Store) Lock(ctx context.Context, study string) (release func() error, err error) {
	if err := cmp.Or(ctx.Err(), store.CheckName(study)); err != nil {
		return nil, err
	}
	l, err := s.lease(ctx, study, "", lockTime)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	s.tasks.Go(func() {
		tick := time.NewTicker(lockTime / 6)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-s.alive.Done():
				return
			case <-l.lost:
				return
			case <-tick.C:
				_ = l.Renew(s.alive) // if it fails, the next may not
			}
		}
	})
	return sync.OnceValue(func() error {
		close(done)
		return l.Release()
	}), nil
}
