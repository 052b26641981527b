package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// waitQueued waits until n writes wait for the turn, which the caller has.
func waitQueued(t *testing.T, s *Store, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.waiting.mu.Lock()
		have := len(s.waiting.jobs)
		s.waiting.mu.Unlock()
		if have == n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d writes wait, want %d", have, n)
		}
	}
}

// together makes all calls wait for the turn, and lets them go at once. It returns their
// errors and how many transactions were committed.
func together(t *testing.T, s *Store, calls ...func() error) (errs []error, commits int) {
	t.Helper()
	var n atomic.Int64
	s.opts.committing = func() { n.Add(1) }
	defer func() { s.opts.committing = nil }()
	errs = make([]error, len(calls))
	s.turn <- struct{}{}
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
		waitQueued(t, s, i+1) // in this order
	}
	<-s.turn
	wg.Wait()
	return errs, int(n.Load())
}

// Each write in a transaction has its own error, and a write that fails fails no other.
func TestGroupErrors(t *testing.T) {
	s := newTest(t)
	ctx := t.Context()
	for _, study := range []string{"b", "c"} {
		if err := s.Create(ctx, study, nil); err != nil {
			t.Fatal(err)
		}
		grow(t, s, study, 1, 3)
	}
	put := func(study string, id int64) func() error {
		return func() error { return put(ctx, s, study, id) }
	}
	half := func() error { // it has written when it fails
		return s.write(ctx, func() error {
			if _, err := s.stmts.event.Exec(1, 99, "", "{}", 0, []byte{}); err != nil {
				return err
			}
			return assay.ErrLocked
		})
	}
	cases := []struct {
		call func() error
		want error
	}{
		{put("a", 1), nil},
		{put("b", 4), nil},
		{put("b", 7), assay.ErrConflict},
		{put("nobody", 1), fs.ErrNotExist},
		{half, assay.ErrLocked},
		{put("a", 2), nil}, // behind the write of the first in this transaction
		{put("a", 2), nil}, // the same once more
		{put("b", 4), nil},
		{func() error { return s.Create(ctx, "c", nil) }, fs.ErrExist},
		{func() error { return s.Create(ctx, "d", nil) }, nil},
		{put("d", 1), nil},
		{func() error {
			_, err := s.Append(ctx, "a", 0, pair(2)...)
			return err
		}, assay.ErrConflict},
		{put("c", 4), nil},
	}
	calls := make([]func() error, len(cases))
	for i, c := range cases {
		calls[i] = c.call
	}
	errs, commits := together(t, s, calls...)
	for i, c := range cases {
		if !errors.Is(errs[i], c.want) {
			t.Errorf("call %d: got %v, want %v", i, errs[i], c.want)
		}
	}
	if commits != 1 {
		t.Errorf("got %d transactions, want 1", commits)
	}
	for study, want := range map[string]int64{"a": 2, "b": 4, "c": 4, "d": 1} {
		if n := checkPairs(t, s, study); n != want {
			t.Errorf("study %s: got %d trials, want %d", study, n, want)
		}
	}
	checkFsck(t, s)
}

// A failure that SQLite answers by undoing the transaction ends the call that met it. The
// others are done again, once each.
func TestGroupIsDoneAgain(t *testing.T) {
	s := newTest(t)
	ctx := t.Context()
	failing := func(text string) func() error {
		return func() error { return s.write(ctx, func() error { return s.exec(text) }) }
	}
	errs, commits := together(
		t, s,
		func() error { return put(ctx, s, "a", 1) },
		failing("ROLLBACK; SELECT * FROM nowhere"),
		func() error { return put(ctx, s, "a", 2) },
		failing("INSERT INTO heads SELECT * FROM heads"),
		func() error { return put(ctx, s, "a", 3) },
	)
	for i, err := range errs {
		if failed := i == 1 || i == 3; failed != (err != nil) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if commits != 1 {
		t.Errorf("got %d transactions, want 1", commits)
	}
	if n := checkPairs(t, s, "a"); n != 3 {
		t.Errorf("got %d trials, want 3", n)
	}
	checkFsck(t, s)
}

// No caller gets the outcome of a write before the commit that holds it: another connection to the file
// can read the events of an Append that has returned.
func TestReportedBehindCommit(t *testing.T) {
	const studies, each = 8, 6
	path := filepath.Join(fastDir(t), "a.db")
	// While a commit takes its time, an early report would be found out.
	s, err := Open(t.Context(), path, Options{committing: func() { time.Sleep(20 * time.Millisecond) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other := openTest(t, path)
	var wg sync.WaitGroup
	for i := range studies {
		study := fmt.Sprint(i)
		if err := s.Create(t.Context(), study, nil); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for id := int64(1); id <= each; id++ {
				if err := put(t.Context(), s, study, id); err != nil {
					t.Error(err)
				}
				if sum, err := other.Summary(t.Context(), study); err != nil || sum.Events != 2*id {
					t.Errorf("study %s: %d events are on the disk, %d were reported, %v", study, sum.Events, 2*id, err)
				}
				// The same is true of a conflict: the event that has moved the record is there.
				if _, err := s.Append(t.Context(), study, 0, pair(99)...); !errors.Is(err, assay.ErrConflict) {
					t.Errorf("study %s: got %v, want ErrConflict", study, err)
				}
			}
		})
	}
	wg.Wait()
	checkFsck(t, s)
}

// All callers in a commit get its error if it fails, also a caller whose own error follows from
// a write that is lost with it.
func TestGroupCommitFails(t *testing.T) {
	s := newTest(t)
	ctx := t.Context()
	var once sync.Once
	s.opts.committing = func() { once.Do(func() { _ = s.exec("ROLLBACK") }) } // so there is nothing to commit
	errs := make([]error, 3)
	var wg sync.WaitGroup
	s.turn <- struct{}{}
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = s.Append(ctx, "a", 0, pair(int64(i+1))...)
		})
		waitQueued(t, s, i+1)
	}
	<-s.turn
	wg.Wait()
	for i, err := range errs {
		if err == nil || errors.Is(err, assay.ErrConflict) {
			t.Errorf("call %d: got %v, want the error of the commit", i, err)
		}
	}
	if n := checkPairs(t, s, "a"); n != 0 {
		t.Errorf("got %d trials, want 0", n)
	}
	if err := put(ctx, s, "a", 1); err != nil { // the file is opened again
		t.Error(err)
	}
	checkFsck(t, s)
}

// 32 studies at once need a third of the commits at the most: how many times faster that is
// depends on the disk, and BenchmarkStudies measures it.
func TestGroupSaves(t *testing.T) {
	const studies, each = 32, 10
	var commits atomic.Int64
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), Options{committing: func() { commits.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range studies {
		if err := s.Create(t.Context(), fmt.Sprint(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	commits.Store(0)
	var wg sync.WaitGroup
	for i := range studies {
		wg.Go(func() {
			for id := int64(1); id <= each; id++ {
				if err := put(t.Context(), s, fmt.Sprint(i), id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d appends in %d commits", studies*each, commits.Load())
	if commits.Load() > studies*each/3 {
		t.Errorf("%d appends took %d commits, want a third at the most", studies*each, commits.Load())
	}
}

// A caller that does not want to wait any more leaves no trace, and keeps no other waiting.
func TestGroupWithoutOne(t *testing.T) {
	s := newTest(t)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	s.turn <- struct{}{}
	go func() { left <- put(ctx, s, "a", 1) }()
	waitQueued(t, s, 1)
	stayed := make(chan error, 1)
	go func() { stayed <- put(t.Context(), s, "a", 1) }()
	waitQueued(t, s, 2)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	waitQueued(t, s, 1)
	<-s.turn
	if err := <-stayed; err != nil {
		t.Error(err)
	}
	if n := checkPairs(t, s, "a"); n != 1 {
		t.Errorf("got %d trials, want 1", n)
	}
}

// kill -9 of a process whose studies share their commits loses no acknowledged trial.
func TestKillGroup(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	const studies = 12
	cycles := 8
	if soak() {
		cycles = 200
	}
	rng := rand.New(rand.NewPCG(3, 4))
	acks := 0
	var path string
	var acked map[string]int64
	for cycle := range cycles {
		if cycle%4 == 0 {
			path, acked = filepath.Join(t.TempDir(), "a.db"), map[string]int64{}
		}
		lines := make(chan string, 1<<16)
		r := start(t, child(t, "many", path, studies), lines)
		select {
		case <-lines:
		case <-r.done:
		}
		time.AfterFunc(time.Duration(5+rng.IntN(80))*time.Millisecond, func() { r.cmd.Process.Kill() })
		<-r.done
		if r.err == nil || !strings.Contains(r.err.Error(), "signal: killed") {
			t.Fatalf("cycle %d: the child ended by itself: %v", cycle, r.err)
		}
		acks += collectAcks(t, r.out, acked)
		checkAcked(t, path, acked)
	}
	if acks < cycles {
		t.Errorf("only %d trials were acknowledged", acks)
	}
	t.Logf("%d kills, %d trials acknowledged, none lost or doubled", cycles, acks)
}

// A failed fsync under a group of writes loses no acknowledged trial.
func TestFailedSyncGroup(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	needStrace(t)
	for _, when := range []int{24, 31} {
		path := filepath.Join(t.TempDir(), "a.db")
		c, _ := strace(t, child(t, "many", path, 12),
			"-e", "trace=fsync,fdatasync", "-e", fmt.Sprintf("inject=fsync,fdatasync:error=EIO:when=%d", when))
		r := start(t, c, nil)
		<-r.done
		if r.err == nil || !strings.Contains(r.err.Error(), ErrIO.Error()) {
			t.Fatalf("fsync %d fails: got %v, want %v", when, r.err, ErrIO)
		}
		acked := map[string]int64{}
		if collectAcks(t, r.out, acked) == 0 {
			t.Errorf("fsync %d fails: nothing was acknowledged before", when)
		}
		checkAcked(t, path, acked)
	}
}

// collectAcks adds the lines "STUDY ID" of a child to the last acknowledged trial by study,
// and returns how many there are.
func collectAcks(t *testing.T, lines []string, acked map[string]int64) (n int) {
	t.Helper()
	for _, line := range lines {
		var study string
		var id int64
		if _, err := fmt.Sscan(line, &study, &id); err != nil {
			continue // cut off by the kill
		}
		acked[study] = max(acked[study], id)
		n++
	}
	return n
}

// checkAcked fails unless the store has all that was acknowledged.
func checkAcked(t *testing.T, path string, acked map[string]int64) {
	t.Helper()
	s := openTest(t, path)
	defer s.Close()
	for study, id := range acked {
		if n := checkPairs(t, s, study); n < id {
			t.Errorf("study %s: got %d trials, %d were acknowledged", study, n, id)
		}
	}
	checkFsck(t, s)
}

func TestApart(t *testing.T) {
	s := openTest(t, filepath.Join(fastDir(t), "a.db"))
	errWhy := errors.New("why")
	put := func(id int64, then error) func() error {
		return func() error {
			_, err := s.conn.ExecContext(t.Context(), `INSERT INTO studies VALUES ($1, $2, x'', '')`, id, fmt.Sprint(id))
			return errors.Join(err, then)
		}
	}
	err := s.alone(t.Context(), func() error {
		for id, then := range []error{nil, errWhy, nil, errWhy} {
			if err, undone := s.apart(put(int64(id+1), then)); !errors.Is(err, then) || undone {
				t.Errorf("%d: got %v and undone %v, want %v", id+1, err, undone, then)
			}
		}
		return nil
	})
	var ids string
	scan := s.conn.QueryRowContext(t.Context(), `SELECT group_concat(id) FROM studies`).Scan(&ids)
	if err != nil || scan != nil || ids != "1,3" {
		t.Errorf("there are %s, %v, %v", ids, err, scan)
	}
}
