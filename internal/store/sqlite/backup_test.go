package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// childBackup makes one backup after the other, DIR/1.db and so on, until it is killed.
func childBackup(args []string) error {
	ctx := context.Background()
	s, err := Open(ctx, args[0], Options{})
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		if _, err := s.Backup(ctx, filepath.Join(args[1], fmt.Sprint(n, ".db"))); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// Each trial that was acknowledged before a backup began is in the store that is restored from it, and the copy is the
// beginning of the record. The trials are appended by other processes meanwhile.
func TestBackup(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.db")
	var children []*running
	var lines []chan string
	for _, study := range []string{"one", "two"} {
		out := make(chan string, 1<<20)
		lines = append(lines, out)
		children = append(children, start(t, child(t, "append", path, study, "FULL", -1), out))
	}
	for _, out := range lines {
		<-out // both have made their study
	}
	s := openTest(t, path)
	acked := []int64{1, 1}
	during := 0
	for n := range testbed.Times(8, 40) {
		for i, out := range lines {
			for more := true; more; {
				select {
				case line := <-out:
					_, _ = fmt.Sscan(line, &acked[i])
				default:
					more = false
				}
			}
		}
		before := len(lines[0]) + len(lines[1])
		file := filepath.Join(dir, fmt.Sprint(n, ".db"))
		if r, err := s.Backup(t.Context(), file); err != nil || r.Studies != 2 {
			t.Fatal(r, err)
		}
		during += len(lines[0]) + len(lines[1]) - before
		at := filepath.Join(dir, fmt.Sprint("restored-", n), "a.db")
		if _, kept, err := Restore(t.Context(), file, at, false); err != nil || kept != "" {
			t.Fatal(kept, err)
		}
		restored := openTest(t, at)
		for i, study := range []string{"one", "two"} {
			if has := checkPairs(t, restored, study); has < acked[i] {
				t.Errorf("backup %d has %d trials of %s; %d were acknowledged before it", n, has, study, acked[i])
			}
			sum, err := restored.Summary(t.Context(), study)
			if err == nil {
				err = put(t.Context(), restored, study, sum.Trials()+1)
			}
			if err != nil {
				t.Errorf("the restored study cannot be appended to: %v", err)
			}
		}
	}
	for _, c := range children {
		_ = c.cmd.Process.Kill()
		<-c.done
	}
	if during == 0 {
		t.Error("nothing was appended while backups were made")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".tmp-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	t.Logf("counted: %d trials were acknowledged while backups were made, %d and %d before the last",
		during, acked[0], acked[1])
}

// A backup that is killed leaves the whole file or none under its name.
func TestBackupKilled(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	dir := fastDir(t)
	path := filepath.Join(dir, "a.db")
	s := openTest(t, path)
	if err := s.Create(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	const trials = 2000
	grow(t, s, "a", 1, trials)
	files, cut := 0, 0
	for cycle := range testbed.Times(10, 50) {
		to := filepath.Join(dir, fmt.Sprint("to-", cycle))
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		lines := make(chan string, 1<<16)
		r := start(t, child(t, "backup", path, to), lines)
		select {
		case <-lines:
		case <-r.done:
		}
		time.Sleep(time.Duration(rng.IntN(100)) * time.Millisecond)
		_ = r.cmd.Process.Kill()
		if <-r.done; r.err == nil || !strings.Contains(r.err.Error(), "signal: killed") {
			t.Fatalf("cycle %d: the child ended by itself: %v", cycle, r.err)
		}
		made, err := filepath.Glob(filepath.Join(to, "*.db"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range made {
			whole := openTest(t, file)
			if n := checkPairs(t, whole, "a"); n != trials {
				t.Errorf("%s has %d trials, want %d", file, n, trials)
			}
			_ = whole.Close()
			files++
		}
		left, _ := filepath.Glob(filepath.Join(to, ".tmp-*"))
		cut += len(left)
		_ = os.RemoveAll(to)
	}
	if files == 0 || cut == 0 {
		t.Errorf("%d files, %d backups were cut off: want some of both", files, cut)
	}
	t.Logf("counted: %d whole files, %d backups cut off", files, cut)
}

// No store is replaced unless that is asked for, and none that a process has open.
func TestRestoreRefuses(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	ctx := t.Context()
	s := newTest(t)
	grow(t, s, "a", 1, 10)
	dir := t.TempDir()
	backup, at := filepath.Join(dir, "backup.db"), filepath.Join(dir, "state", "a.db")
	if _, err := s.Backup(ctx, backup); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Backup(ctx, backup); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second backup to the same file: got %v, want fs.ErrExist", err)
	}
	if _, _, err := Restore(ctx, s.path, at, false); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("a store that is open, in place of a backup: got %v, want an error of usage", err)
	}
	if _, _, err := Restore(ctx, backup, at, false); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1)
	holder := start(t, child(t, "hold", at, "b"), lines)
	<-lines
	for _, replace := range []bool{false, true} {
		if _, _, err := Restore(ctx, backup, at, replace); !errors.Is(err, ErrBusy) {
			t.Errorf("a store in use, replace %v: got %v, want ErrBusy", replace, err)
		}
	}
	_ = holder.cmd.Process.Kill()
	<-holder.done
	if _, _, err := Restore(ctx, backup, at, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a store that is there: got %v, want fs.ErrExist", err)
	}
	former, err := Open(ctx, at, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(put(ctx, former, "a", 11), former.Close()); err != nil {
		t.Fatal(err)
	}
	_, kept, err := Restore(ctx, backup, at, true)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int64{at: 10, kept: 11} {
		if n := checkPairs(t, openTest(t, path), "a"); n != want {
			t.Errorf("%s has %d trials, want %d", path, n, want)
		}
	}
}

// A damaged store makes no backup, and a damaged backup no store.
func TestBackupDamaged(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	ctx := t.Context()
	s := newTest(t)
	grow(t, s, "a", 1, 100)
	dir := t.TempDir()
	whole, damaged, at := filepath.Join(dir, "whole.db"), filepath.Join(dir, "damaged.db"), filepath.Join(dir, "a.db")
	if _, err := s.Backup(ctx, whole); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	i := strings.LastIndex(string(b), `"told"`)
	if i < 0 {
		t.Fatal("no event is in the file")
	}
	b[i+1] = 'X'
	if err := os.WriteFile(damaged, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, _, err := Restore(ctx, damaged, at, false); !errors.Is(err, ErrDamaged) || r.OK() {
		t.Errorf("restoring: got %v, %v; want ErrDamaged with the problems", r, err)
	}
	open := openTest(t, damaged)
	if r, err := open.Backup(ctx, at); !errors.Is(err, ErrDamaged) || r.OK() {
		t.Errorf("backing up: got %v, %v; want ErrDamaged with the problems", r, err)
	}
	if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file after two errors: %v", err)
	}
	short := filepath.Join(dir, "short.db")
	if err := os.WriteFile(short, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Restore(ctx, short, at, false); !errors.Is(err, ErrDamaged) {
		t.Errorf("half a backup: got %v, want ErrDamaged", err)
	}
}
