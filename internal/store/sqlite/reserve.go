package sqlite

import (
	"errors"
	"os"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"golang.org/x/sys/unix"
)

// reserveSize is the room that is kept for the last writes on a disk that becomes full. A result takes a few pages,
// and the log needs as much again.
const reserveSize = 1 << 20

// reservePath is the file that holds the room. All processes that have the store open share it.
func (s file) reservePath() string { return s.lockPath("reserve") }

// keepReserve takes the room, if it is not there and the disk has four times as much. A failure costs the reserve
// only.
func (s file) keepReserve() {
	if info, err := os.Stat(s.reservePath()); err == nil && info.Size() >= reserveSize {
		return
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(s.path, &fs); err != nil {
		return
	}
	if fs.Bavail*uint64(fs.Bsize) < 4*reserveSize {
		return
	}
	f, err := os.OpenFile(s.reservePath(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	err = unix.Fallocate(int(f.Fd()), 0, 0, reserveSize)
	if errors.Join(err, f.Close()) != nil {
		_ = os.Remove(f.Name())
	}
}

// spendReserve gives the room back to the disk; it returns false if there was none.
func (s file) spendReserve() bool { return os.Remove(s.reservePath()) == nil }

// isFull reports whether an error of a write means that the disk is full.
func isFull(err error) bool {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return true
	}
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_FULL
}
