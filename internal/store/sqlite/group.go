// This file has the group commit: the writes that wait for the turn become one transaction, and so cost one
// synchronous write together. The promise of each stays the same: no caller gets an answer before the commit that
// holds its write, and each gets its own error.

package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"

	driver "modernc.org/sqlite"
)

// groupMost is how many writes one transaction holds at the most: other processes wait meanwhile.
const groupMost = 64

// A job is a write that a caller waits for.
type job struct {
	do func() error
	// err is written before done is closed, and read behind that.
	err  error
	done chan struct{}
}

func newJob(do func() error) *job { return &job{do: do, done: make(chan struct{})} }

// finish gives the waiting caller the result of the job.
func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}

// finished reports whether the job is done.
func (j *job) finished() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// A queue has the jobs that wait, the first first. Jobs leave it in two ways:
//   - drop, by the caller that waits for the job
//   - take, by the holder of the turn; then they are finished or put back before the turn ends
//
// So the holder of the turn finds its own unfinished job in the queue.
type queue struct {
	mu   sync.Mutex
	jobs []*job
}

func (q *queue) add(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, j)
}

// take returns the first jobs, most at the most.
func (q *queue) take(most int) []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(most, len(q.jobs))
	jobs := slices.Clone(q.jobs[:n])
	q.jobs = slices.Delete(q.jobs, 0, n)
	return jobs
}

// putBack returns jobs that were taken to their place, before all others.
func (q *queue) putBack(jobs []*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = slices.Insert(q.jobs, 0, jobs...)
}

// drop removes a job that was not taken, and reports whether it has.
func (q *queue) drop(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.jobs, j)
	if i < 0 {
		return false
	}
	q.jobs = slices.Delete(q.jobs, i, i+1)
	return true
}

// write runs f in a transaction that excludes writes of other processes, together with waiting writes of this
// process. It returns ctx.Err() if ctx ends before the transaction begins; from then on it finishes. An error of
// class [ErrIO], and any error of the commit, breaks the store.
//
// f must use s.conn and s.stmts and nothing else of the store, for the turn is taken; it may run in another
// goroutine. If write returns an error, then:
//   - from f or from begin: f has written nothing
//   - from the commit: the outcome is unknown until the file is opened again
//
// f runs again if a failure behind it, in the same transaction, has undone it.
func (s *Store) write(ctx context.Context, f func() error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.readOnly {
		return ErrReadOnly
	}
	j := newJob(f)
	s.waiting.add(j)
	for ended := ctx.Done(); ; {
		select {
		case <-j.done:
			return j.err
		case s.turn <- struct{}{}:
			s.lead(ctx, j)
			<-s.turn
		case <-ended:
			if s.waiting.drop(j) {
				return ctx.Err()
			}
			ended = nil // it has been taken, and may come back
		}
	}
}

// lead writes the jobs that wait, for one of them, whose context is ctx. An error on the way to the transaction is that
// of mine alone: the others wait as they did, with contexts and times of their own. The caller has the turn.
func (s *Store) lead(ctx context.Context, mine *job) {
	if mine.finished() {
		return
	}
	err := s.heal(ctx)
	if err == nil {
		if err = s.begin(ctx); err != nil {
			err = s.failed(err)
		}
	}
	if err != nil {
		s.waiting.drop(mine)
		mine.finish(err)
		return
	}
	s.waiting.putBack(s.transact(s.waiting.take(s.opts.groupMost)))
}

// alone runs f as write does, in a transaction of its own. It is for work that takes long, or needs the file as other
// processes have left it.
func (s *Store) alone(ctx context.Context, f func() error) error {
	if s.readOnly {
		return ErrReadOnly
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := s.heal(ctx); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return s.failed(err)
	}
	j := newJob(f)
	s.transact([]*job{j})
	return j.err
}

// transact does jobs in the transaction that has begun, and ends it. It returns jobs that are to be done again. All
// are finished after the commit, failed ones too: that a record has moved on is only true once the transaction that
// moved it is on the disk. Without a commit the outcome is unknown, so all get its error. A failure that undoes the
// whole transaction ends one job, and the others are returned.
func (s *Store) transact(jobs []*job) (again []*job) {
	errs := make([]error, len(jobs))
	for i, j := range jobs {
		undone := true
		before := s.tail
		if len(jobs) == 1 {
			errs[i] = j.do()
		} else {
			errs[i], undone = s.apart(j.do)
		}
		if errs[i] != nil {
			s.tail = before
		}
		if errs[i] != nil && undone {
			s.tail = s.marked
			err := s.failed(errs[i])
			_ = s.exec("ROLLBACK") // which SQLite has done by itself after some errors
			j.finish(err)
			return slices.Delete(jobs, i, i+1)
		}
	}
	if s.opts.committing != nil {
		s.opts.committing()
	}
	var failed error
	if err := s.exec("COMMIT"); err != nil {
		failed = s.broke(err)
		_ = s.exec("ROLLBACK")
	} else {
		s.keepMark()
	}
	for i, j := range jobs {
		if failed != nil {
			errs[i] = failed
		}
		j.finish(classify(errs[i]))
	}
	return nil
}

// apart runs f in a savepoint, so that a failure undoes its writes and no others. undone means that the whole
// transaction is lost, or must be given up: SQLite rolls it back by itself after some errors, without reporting it.
func (w *writer) apart(f func() error) (err error, undone bool) {
	if _, err := w.stmts.savepoint.Exec(); err != nil {
		return err, true
	}
	err = f()
	if err == nil {
		if _, err := w.stmts.release.Exec(); err != nil {
			return err, true
		}
		return nil, false
	}
	if _, of := errors.AsType[*driver.Error](err); of {
		return err, true
	}
	if _, failed := w.stmts.rollback.Exec(); failed != nil {
		return errors.Join(err, failed), true
	}
	if _, failed := w.stmts.release.Exec(); failed != nil {
		return errors.Join(err, failed), true
	}
	return err, false
}
