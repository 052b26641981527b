package meterfs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ServerOptions configure a Server. The zero value is usable.
type ServerOptions struct {
	// Commit makes the close of a file that was written wait until it is on the
	// disk, as with NFS. Without it only fsync waits.
	Commit bool
	// Rate is how many bytes a second the storage reads and writes, beyond the contents of its cache; 0
	// means no limit. It is for machines on which the kernel cannot limit it. Only whole requests are
	// delayed.
	Rate float64
	// Varies allows the rate to be set anew, by [Server.SetRate].
	Varies bool
	// Around, which may be nil, is called with each request that opens or changes something, one at a
	// time and in the order in which they take effect. It calls do to have it done, or refuses it.
	Around func(c Change, do func() syscall.Errno) syscall.Errno
	// Workers is how many requests are served at a time; 0 means 16.
	Workers int
}

// A Server exports a directory. It serves one client: connections share open
// files.
type Server struct {
	opts  ServerOptions
	root  int // descriptor
	dev   uint64
	rate  *bucket // nil without a limit
	slots chan struct{}

	mu    sync.Mutex
	files map[int64]*file
	last  int64

	turn sync.Mutex // of Around
}

// A file is open.
type file struct {
	fd      int
	written atomic.Bool // since the last commit
	mu      sync.RWMutex
	closed  bool
}

// NewServer returns a server of a directory, which must be closed. Later mounts
// over the directory do not matter to it.
func NewServer(dir string, opts ServerOptions) (*Server, error) {
	if opts.Workers == 0 {
		opts.Workers = 16
	}
	if opts.Rate < 0 || opts.Workers < 0 {
		return nil, fmt.Errorf("a rate of %g B/s and %d workers", opts.Rate, opts.Workers)
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("exporting %s: %w", dir, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("exporting %s: %w", dir, err)
	}
	s := &Server{opts: opts, root: fd, dev: st.Dev, files: map[int64]*file{}, slots: make(chan struct{}, opts.Workers)}
	if opts.Rate > 0 {
		s.rate = &bucket{rate: opts.Rate, varies: opts.Varies, as: time.Now()}
	}
	return s, nil
}

// SetRate changes the rate of a server that was made with Varies, also for waiting requests.
func (s *Server) SetRate(rate float64) error {
	if s.rate == nil || !s.rate.varies || !(rate > 0) {
		return fmt.Errorf("a rate of %g B/s cannot be set", rate)
	}
	s.rate.set(rate)
	return nil
}

// Close closes all open files. No Serve may be under way.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h, f := range s.files {
		unix.Close(f.fd)
		delete(s.files, h)
	}
	return unix.Close(s.root)
}

// Serve serves a connection until it ends, and closes it. It returns nil if the
// client has ended it.
func (s *Server) Serve(conn net.Conn) error {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 64<<10)
	var send sync.Mutex
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		buf := buffers.Get().(*[]byte)
		frame, err := readFrame(in, *buf, maxRequest)
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) {
				return nil
			}
			return err
		}
		came := time.Now()
		*buf = frame
		q, err := parseRequest(frame)
		if err != nil {
			return err
		}
		wg.Go(func() {
			s.slots <- struct{}{}
			reply := s.answer(&q, came)
			<-s.slots
			buffers.Put(buf)
			send.Lock()
			_, err := conn.Write(*reply)
			send.Unlock()
			if err != nil {
				conn.Close()
			}
			buffers.Put(reply)
		})
	}
}

// buffers are for requests and replies.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 160<<10); return &b }}

// answer serves a request that came at the given time, and returns the frame of
// the reply, from buffers.
func (s *Server) answer(q *request, came time.Time) *[]byte {
	b := buffers.Get().(*[]byte)
	out := append((*b)[:0], make([]byte, replyHeader)...)
	out, errno := s.serveAround(q, out)
	if errno == 0 && len(out) > maxReply {
		errno = syscall.E2BIG
	}
	if errno != 0 {
		out = out[:replyHeader]
	}
	replyHead{tag: q.tag, errno: errno, service: int64(time.Since(came)), size: len(out) - replyHeader}.put(out)
	*b = out
	return b
}

// open returns the file of a handle, which must be given back by its mu.RUnlock.
func (s *Server) open(handle int64) (*file, syscall.Errno) {
	s.mu.Lock()
	f := s.files[handle]
	s.mu.Unlock()
	if f == nil {
		return nil, syscall.EBADF
	}
	f.mu.RLock()
	if f.closed {
		f.mu.RUnlock()
		return nil, syscall.EBADF
	}
	return f, 0
}

func (s *Server) add(fd int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.files[s.last] = &file{fd: fd}
	return s.last
}

// release closes a handle when its last use ends.
func (s *Server) release(handle int64) syscall.Errno {
	s.mu.Lock()
	f := s.files[handle]
	delete(s.files, handle)
	s.mu.Unlock()
	if f == nil {
		return syscall.EBADF
	}
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	return errnoOf(unix.Close(f.fd))
}

// errnoOf returns the number of an error of package unix.
func errnoOf(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e
	}
	return syscall.EIO
}

// DropCache drops the machine's cached pages of the files below a directory, so that they are read from
// the disk again. Data that was not written yet is written first. Files that cannot be opened are left
// alone.
func DropCache(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if err := unix.Syncfs(fd); err != nil {
		unix.Close(fd)
		return fmt.Errorf("%s: %w", dir, err)
	}
	unix.Close(fd)
	return walkFiles(dir, func(path string) {
		if fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			_ = unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED)
			unix.Close(fd)
		}
	})
}

// walkFiles calls f with every regular file below dir.
func walkFiles(dir string, f func(path string)) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	for _, e := range entries {
		path := dir + "/" + e.Name()
		switch {
		case e.IsDir():
			if err := walkFiles(path, f); err != nil {
				return err
			}
		case e.Type().IsRegular():
			f(path)
		}
	}
	return nil
}
