// This file copies a store as a whole: into a backup while others append, and from a backup into the place of a store.
// A copy is made and checked in a directory of its own beside its place, and renamed: a crash leaves the whole copy, or
// none and a directory .tmp-*.

package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/assay-run/assay"
	driver "modernc.org/sqlite"
)

// backupPages is how many pages are copied until the context is looked at again: 4 MiB.
const backupPages = 1024

// Backup writes the store into a new file at dst and checks the file as [Store.Fsck] does. The file has everything that
// was acknowledged before the call. Other goroutines and processes append meanwhile; the log of the store grows until
// the copy is made. The error matches fs.ErrExist if dst exists, and [ErrDamaged] if the copy has the problems of the
// report. No file is at dst after an error.
func (s *Store) Backup(ctx context.Context, dst string) (r Report, err error) {
	if err := cmp.Or(ctx.Err(), s.usable(ctx), absent("back up to", dst)); err != nil {
		return r, err
	}
	return copyWhole(ctx, dst, func(tmp string) error { return s.copyPages(ctx, tmp) }, func(tmp string) error {
		return errors.Join(absent("back up to", dst), os.Rename(tmp, dst))
	})
}

// copyPages copies the pages of the store as they are at one moment. The transaction keeps the moment: without it,
// SQLite begins anew after each write of another process.
func (s *Store) copyPages(ctx context.Context, tmp string) (err error) {
	c, err := s.reads.Load().Conn(ctx)
	if err != nil {
		return classify(err)
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, "BEGIN"); err != nil {
		return classify(err)
	}
	defer func() { _, _ = c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }()
	var tables int
	if err := c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return classify(err)
	}
	return classify(c.Raw(func(conn any) error {
		source, is := conn.(interface {
			NewBackup(dst string) (*driver.Backup, error)
		})
		if !is {
			return errors.ErrUnsupported
		}
		b, err := source.NewBackup(dsn(tmp, "_synchronous=OFF")) // the whole file is synced at its end
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			if more, err = b.Step(backupPages); err == nil {
				err = ctx.Err()
			}
		}
		return errors.Join(err, b.Finish())
	}))
}

// Restore puts a copy of the backup at from in the place of a store at path, after the check of [Store.Fsck]. The
// error matches [ErrBusy] if another process has the store at path open, and fs.ErrExist if there is one and
// replace is false. With replace, the former store and its log are kept under the name that is returned. The error
// matches [ErrDamaged] if the backup has the problems of the report. Nothing is changed at path after an error of the
// check. No store of this process may be open on path: closing the file would end SQLite's locks on it.
func Restore(ctx context.Context, from, path string, replace bool) (r Report, kept string, err error) {
	if info, err := os.Stat(from + "-wal"); err == nil && info.Size() > 0 {
		return r, "", assay.WithHint(assay.Errorf(assay.ClassUsage, "%s is a store with a log, not a backup", from),
			"a backup is made of it first")
	}
	if path, err = prepareDir(path, Options{}); err != nil {
		return r, "", err
	}
	store := file{path}
	if err := store.replaceable(replace); err != nil {
		return r, "", err
	}
	r, err = copyWhole(ctx, path, func(tmp string) error { return copyBytes(from, tmp) }, func(tmp string) (err error) {
		release, err := waitFlock(ctx, store.lockPath("open"), killedWait)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		if err := store.replaceable(replace); err != nil { // since the check began
			return err
		}
		if kept, err = store.setAside(); err != nil {
			return err
		}
		return os.Rename(tmp, path)
	})
	return r, kept, err
}

// replaceable returns nil if no process has the store open, and there is none or it may be replaced. SQLite keeps a
// lock on bytes of the file as long as a connection to it is open (https://sqlite.org/lockingv3.html): F_GETLK sees
// the locks of other processes.
func (s file) replaceable(replace bool) error {
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return absent("restore to", s.path+"-wal")
	}
	if err != nil {
		return err
	}
	defer f.Close()
	const sharedFirst, sharedSize = 0x40000002, 510
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: sharedFirst, Len: sharedSize}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock); err != nil {
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	switch {
	case lock.Type != syscall.F_UNLCK:
		return fmt.Errorf("%s: %w: process %d has it open", s.path, ErrBusy, lock.Pid)
	case !replace:
		return absent("restore to", s.path)
	}
	return nil
}

// setAside renames the file of the store, and its log with it, and returns the new name, "" if there is no store. The
// log goes last: a file without its log would be taken for whole.
func (s file) setAside() (kept string, err error) {
	if err := os.Remove(s.markPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %w", ErrIO, err)
	}
	if _, err := os.Lstat(s.path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	kept = s.path + ".replaced"
	for n := 2; absent("", kept) != nil; n++ {
		kept = fmt.Sprintf("%s.replaced-%d", s.path, n)
	}
	if err := os.Rename(s.path, kept); err != nil {
		return "", err
	}
	if err := os.Rename(s.path+"-wal", kept+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kept, err
	}
	if err := os.Remove(s.path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kept, err
	}
	return kept, nil
}

// copyWhole has fill write a store into a new file beside dst, checks it, and has place put it to dst.
func copyWhole(ctx context.Context, dst string, fill, place func(tmp string) error) (r Report, err error) {
	if dst, err = filepath.Abs(dst); err != nil { // SQLite takes a URI
		return r, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(dst), ".tmp-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tmp := filepath.Join(dir, filepath.Base(dst))
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return r, err
	}
	defer f.Close()
	if err := fill(tmp); err != nil {
		return r, err
	}
	if r, err = checkCopy(ctx, tmp); err != nil {
		return r, err
	}
	if err := f.Sync(); err != nil {
		return r, fmt.Errorf("%w: %w", ErrIO, err)
	}
	if err := place(tmp); err != nil {
		return r, err
	}
	return r, syncDir(filepath.Dir(dst))
}

// checkCopy opens a copy, which migrates one of an earlier format, and checks it. No other process knows
// the file, so any file system will do.
func checkCopy(ctx context.Context, tmp string) (r Report, err error) {
	s, err := Open(ctx, tmp, Options{AnyFileSystem: true})
	if err != nil {
		return r, err
	}
	r, err = s.Fsck(ctx, FsckOptions{})
	if err = errors.Join(err, s.Close()); err != nil {
		return r, err
	}
	if info, err := os.Stat(tmp + "-wal"); err == nil && info.Size() > 0 {
		return r, fmt.Errorf("%w: the log of the copy is not in its file", ErrIO)
	}
	if !r.OK() {
		return r, fmt.Errorf("%w: %d problems", ErrDamaged, len(r.Problems))
	}
	return r, nil
}

// copyBytes writes the bytes of a file into another that is there.
func copyBytes(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return assay.WithClass(assay.ClassUsage, err)
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// absent returns an error that matches fs.ErrExist if there is something at path.
func absent(op, path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return assay.WithClass(assay.ClassUsage, &fs.PathError{Op: op, Path: path, Err: fs.ErrExist})
}
