package meterfs

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// setattr changes the attributes in q.valid, in the order in which the kernel would: an error ends it.
// The reply is the attr.
func (s *Server) setattr(q *request, out []byte) ([]byte, syscall.Errno) {
	if q.handle != 0 {
		f, errno := s.open(q.handle)
		if errno != 0 {
			return out, errno
		}
		defer f.mu.RUnlock()
		if errno := change(q, f.fd, ""); errno != 0 {
			return out, errno
		}
		return s.fstat(q, out)
	}
	dir, name, errno := s.at(q.path)
	if errno != 0 {
		return out, errno
	}
	defer unix.Close(dir)
	// A descriptor of the file itself, that is not followed if it is a link.
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return out, errnoOf(err)
	}
	defer unix.Close(fd)
	if errno := change(q, fd, self(fd)); errno != 0 {
		return out, errno
	}
	return s.appendStat(dir, name, out)
}

// self returns a path to the file of a descriptor that cannot be exchanged.
func self(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// change makes the changes by descriptor, or by path if the descriptor only
// names a file.
func change(q *request, fd int, path string) syscall.Errno {
	var err error
	if q.valid&setMode != 0 {
		if mode := uint32(q.mode) & 0o7777; path == "" {
			err = unix.Fchmod(fd, mode)
		} else {
			err = unix.Chmod(path, mode)
		}
	}
	if err == nil && q.valid&(setUID|setGID) != 0 {
		err = chown(q, fd)
	}
	if err == nil && q.valid&setSize != 0 {
		if path == "" {
			err = unix.Ftruncate(fd, q.size)
		} else {
			err = unix.Truncate(path, q.size)
		}
	}
	if err == nil && q.valid&(setAtime|setMtime) != 0 {
		err = setTimes(q, fd)
	}
	return errnoOf(err)
}

func chown(q *request, fd int) error {
	uid, gid := -1, -1
	if q.valid&setUID != 0 {
		uid = int(q.uid)
	}
	if q.valid&setGID != 0 {
		gid = int(q.gid)
	}
	return unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH)
}

// setTimes sets the times of the file, also of a link.
func setTimes(q *request, fd int) error {
	omit := unix.Timespec{Nsec: unix.UTIME_OMIT}
	ts := []unix.Timespec{omit, omit}
	if q.valid&setAtime != 0 {
		ts[0] = unix.NsecToTimespec(q.atime)
	}
	if q.valid&setMtime != 0 {
		ts[1] = unix.NsecToTimespec(q.mtime)
	}
	return unix.UtimesNanoAt(fd, "", ts, unix.AT_EMPTY_PATH)
}
