package meterfs

import (
	"encoding/binary"
	"path"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// serve executes a request, and appends the body of the reply to out.
func (s *Server) serve(q *request, out []byte) ([]byte, syscall.Errno) {
	switch q.op {
	case opRead, opWrite, opFlush, opFsync, opRelease, opAllocate, opSeek:
		return s.serveFile(q, out)
	case opSetattr:
		return s.setattr(q, out)
	case opStat:
		if q.handle != 0 {
			return s.fstat(q, out)
		}
	case opStatfs:
		return s.statfs(out)
	}
	dir, name, errno := s.at(q.path)
	if errno != 0 {
		return out, errno
	}
	defer unix.Close(dir)
	switch q.op {
	case opStat:
		return s.appendStat(dir, name, out)
	case opReaddir:
		return s.readdir(dir, name, out)
	case opOpen, opCreate:
		return s.openAt(q, dir, name, out)
	case opSyncdir:
		return out, syncdir(dir, name)
	case opReadlink:
		return readlink(dir, name, out)
	case opUnlink:
		return out, errnoOf(unix.Unlinkat(dir, name, 0))
	case opRmdir:
		return out, errnoOf(unix.Unlinkat(dir, name, unix.AT_REMOVEDIR))
	case opRename:
		return out, s.rename(q, dir, name)
	}
	return s.make(q, dir, name, out)
}

// at returns a descriptor of the directory that holds a path of the client, and
// the name in it, "." for the root. No component is followed if it is a link: the
// client has resolved them. Nothing outside the root can be reached.
func (s *Server) at(p string) (dir int, name string, errno syscall.Errno) {
	if p == "" {
		dir, err := unix.Openat(s.root, ".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return dir, ".", errnoOf(err)
	}
	if p != path.Clean(p) || p[0] == '/' || p == ".." || strings.HasPrefix(p, "../") || strings.IndexByte(p, 0) >= 0 {
		return -1, "", syscall.EINVAL
	}
	parent, name := path.Split(p)
	if parent == "" {
		parent = "."
	}
	dir, err := unix.Openat2(s.root, parent, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	return dir, name, errnoOf(err)
}

// serveFile serves the requests of open files.
func (s *Server) serveFile(q *request, out []byte) ([]byte, syscall.Errno) {
	if q.op == opRelease {
		return out, s.release(q.handle)
	}
	f, errno := s.open(q.handle)
	if errno != 0 {
		return out, errno
	}
	defer f.mu.RUnlock()
	switch q.op {
	case opRead:
		return s.read(f, q, out)
	case opWrite:
		return out, s.write(f, q)
	case opFlush:
		if !s.opts.Commit || !f.written.Load() {
			return out, 0
		}
		f.written.Store(false)
		return out, errnoOf(unix.Fdatasync(f.fd))
	case opFsync:
		f.written.Store(false)
		if q.flags != 0 {
			return out, errnoOf(unix.Fdatasync(f.fd))
		}
		return out, errnoOf(unix.Fsync(f.fd))
	case opAllocate:
		return out, errnoOf(unix.Fallocate(f.fd, uint32(q.mode), q.off, q.size))
	}
	n, err := unix.Seek(f.fd, q.off, int(q.flags))
	return binary.AppendVarint(out, n), errnoOf(err)
}

func (s *Server) read(f *file, q *request, out []byte) ([]byte, syscall.Errno) {
	if q.size < 0 || q.size > maxData {
		return out, syscall.EINVAL
	}
	start := len(out)
	if cap(out)-start < int(q.size) {
		out = append(make([]byte, 0, start+int(q.size)), out...)
	}
	room := out[start : start+int(q.size)]
	cached := 0
	if s.rate != nil { // reads from the storage's cache are free
		cached = max(0, readCached(f.fd, room, q.off))
	}
	n := cached
	for n < len(room) {
		k, err := unix.Pread(f.fd, room[n:], q.off+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return out, errnoOf(err)
		}
		if k == 0 {
			break
		}
		n += k
	}
	s.rate.wait(n - cached)
	return out[:start+n], 0
}

// readCached reads the part from the start of the range that is in the page cache.
func readCached(fd int, b []byte, off int64) int {
	n, err := unix.Preadv2(fd, [][]byte{b}, off, unix.RWF_NOWAIT)
	if err != nil {
		return 0
	}
	return n
}

func (s *Server) write(f *file, q *request) syscall.Errno {
	f.written.Store(true)
	s.rate.wait(len(q.data))
	for done := 0; done < len(q.data); {
		n, err := unix.Pwrite(f.fd, q.data[done:], q.off+int64(done))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return errnoOf(err)
		}
		done += n
	}
	return 0
}

// openAt opens or creates a file: the reply is its attr and its handle. A file
// that is only to be written is opened for reading too, if we may, because the
// client reads the pages that it changes in part.
func (s *Server) openAt(q *request, dir int, name string, out []byte) ([]byte, syscall.Errno) {
	flags := int(q.flags) & (unix.O_ACCMODE | unix.O_TRUNC | unix.O_EXCL | unix.O_DIRECT)
	if q.op == opCreate {
		flags |= unix.O_CREAT
	}
	flags |= unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	try := flags
	if flags&unix.O_ACCMODE == unix.O_WRONLY {
		try = flags&^unix.O_ACCMODE | unix.O_RDWR
	}
	fd, err := unix.Openat(dir, name, try, uint32(q.mode)&0o7777)
	if err == unix.EACCES && try != flags {
		fd, err = unix.Openat(dir, name, flags, uint32(q.mode)&0o7777)
	}
	if err != nil {
		return out, errnoOf(err)
	}
	var st unix.Stat_t
	if q.op == opCreate {
		own(fd, "", q)
	}
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return out, errnoOf(err)
	}
	if s.rate != nil { // if s.rate != nil { // data read ahead would be taken for cached
		_ = unix.Fadvise(fd, 0, 0, unix.FADV_RANDOM)
	}
	out = s.attrOf(&st).append(out)
	return binary.AppendVarint(out, s.add(fd)), 0
}

// own gives a new file to the caller, if we may; else it stays ours.
func own(dir int, name string, q *request) {
	if int(q.uid) == unix.Geteuid() && int(q.gid) == unix.Getegid() {
		return
	}
	_ = unix.Fchownat(dir, name, int(q.uid), int(q.gid), unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH)
}

// make makes a directory, a special file, or a link: the reply is its attr.
func (s *Server) make(q *request, dir int, name string, out []byte) ([]byte, syscall.Errno) {
	var err error
	switch q.op {
	case opMkdir:
		err = unix.Mkdirat(dir, name, uint32(q.mode)&0o7777)
	case opMknod:
		err = unix.Mknodat(dir, name, uint32(q.mode), int(q.size))
	case opSymlink:
		err = unix.Symlinkat(q.other, dir, name)
	case opLink:
		from, old, errno := s.at(q.other)
		if errno != 0 {
			return out, errno
		}
		defer unix.Close(from)
		err = unix.Linkat(from, old, dir, name, 0)
	default:
		return out, syscall.ENOSYS
	}
	if err != nil {
		return out, errnoOf(err)
	}
	if q.op != opLink {
		own(dir, name, q)
	}
	return s.appendStat(dir, name, out)
}

func (s *Server) rename(q *request, dir int, name string) syscall.Errno {
	to, newName, errno := s.at(q.other)
	if errno != 0 {
		return errno
	}
	defer unix.Close(to)
	return errnoOf(unix.Renameat2(dir, name, to, newName, uint(q.flags)))
}

// syncdir makes the names in a directory durable.
func syncdir(dir int, name string) syscall.Errno {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return errnoOf(err)
	}
	defer unix.Close(fd)
	return errnoOf(unix.Fsync(fd))
}

func readlink(dir int, name string, out []byte) ([]byte, syscall.Errno) {
	var buf [4096]byte // PATH_MAX
	n, err := unix.Readlinkat(dir, name, buf[:])
	if err != nil {
		return out, errnoOf(err)
	}
	return append(out, buf[:n]...), 0
}

func (s *Server) readdir(dir int, name string, out []byte) ([]byte, syscall.Errno) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return out, errnoOf(err)
	}
	defer unix.Close(fd)
	buf := make([]byte, 32<<10)
	for len(out) <= maxReply {
		n, err := unix.Getdents(fd, buf)
		if err != nil {
			return out, errnoOf(err)
		}
		if n == 0 {
			break
		}
		out = appendDirents(out, buf[:n])
	}
	return out, 0
}

// appendDirents appends the entries in b, in the format of getdents64(2): ino
// u64, off u64, length u16, type u8, name, NUL. "." and ".." are left out.
func appendDirents(out, b []byte) []byte {
	const nameAt = 19
	for len(b) > nameAt {
		n := int(binary.NativeEndian.Uint16(b[16:]))
		if n <= nameAt || n > len(b) {
			break
		}
		e := entry{ino: int64(binary.NativeEndian.Uint64(b)), mode: int64(b[18]) << 12}
		e.name, _, _ = strings.Cut(string(b[nameAt:n]), "\x00")
		b = b[n:]
		if e.name != "." && e.name != ".." {
			out = appendEntry(out, e)
		}
	}
	return out
}

func (s *Server) statfs(out []byte) ([]byte, syscall.Errno) {
	// O_PATH descriptors can be asked since Linux 3.12.
	var st unix.Statfs_t
	if err := unix.Fstatfs(s.root, &st); err != nil {
		return out, errnoOf(err)
	}
	f := statfs{
		blocks: int64(st.Blocks), bfree: int64(st.Bfree), bavail: int64(st.Bavail), files: int64(st.Files),
		ffree: int64(st.Ffree), bsize: st.Bsize, namelen: st.Namelen, frsize: st.Frsize,
	}
	return f.append(out), 0
}

func (s *Server) appendStat(dir int, name string, out []byte) ([]byte, syscall.Errno) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return out, errnoOf(err)
	}
	return s.attrOf(&st).append(out), 0
}

func (s *Server) fstat(q *request, out []byte) ([]byte, syscall.Errno) {
	f, errno := s.open(q.handle)
	if errno != 0 {
		return out, errno
	}
	defer f.mu.RUnlock()
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return out, errnoOf(err)
	}
	return s.attrOf(&st).append(out), 0
}

// attrOf translates st. Inode numbers of other file systems below the root are
// mixed with their device, so that they differ from ours.
func (s *Server) attrOf(st *unix.Stat_t) *attr {
	swap := func(d uint64) uint64 { return d<<32 | d>>32 }
	return &attr{
		ino: int64(swap(st.Dev) ^ swap(s.dev) ^ st.Ino), size: st.Size, blocks: st.Blocks,
		atime: time.Unix(st.Atim.Unix()).UnixNano(), mtime: time.Unix(st.Mtim.Unix()).UnixNano(),
		ctime: time.Unix(st.Ctim.Unix()).UnixNano(),
		mode:  int64(st.Mode), nlink: int64(st.Nlink), uid: int64(st.Uid), gid: int64(st.Gid),
		rdev: int64(st.Rdev), blksize: int64(st.Blksize), //nolint:unconvert // 32 bits on ARM
	}
}
