package jetstream

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
)

// ServeUnix accepts connections on a unix socket, until the server is closed, from this user and from root only. They
// may do everything. A socket left behind by a killed server is replaced; a socket in use is not.
func (s *Server) ServeUnix(path string) error {
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return assay.Errorf(assay.ClassLocked, "another server answers on %s", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return assay.Errorf(assay.ClassUsage, "the socket of the queue: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil { // until then, own keeps others out
		l.Close()
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		l.Close()
		return net.ErrClosed
	}
	s.socks = append(s.socks, l)
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				s.splice(c)
			}
		}
	})
	return nil
}

// splice copies between a connection of a unix socket and one of this process.
func (s *Server) splice(c net.Conn) {
	if !own(c) {
		c.Close()
		return
	}
	in, err := s.InProcessConn()
	if err != nil {
		c.Close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		in.Close()
		return
	}
	s.conns[c] = true
	both := sync.OnceFunc(func() {
		c.Close()
		in.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	})
	s.wg.Go(func() { defer both(); pump(c, in) })
	s.wg.Go(func() { defer both(); pump(in, c) })
}

// pump copies until either end closes. It uses little memory, because each worker needs two.
func pump(to io.Writer, from io.Reader) {
	_, _ = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 8<<10))
}

// own reports whether the other end of a unix socket is a process of this user, or of root.
func own(c net.Conn) bool {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return false
	}
	mine := false
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		mine = err == nil && (cred.Uid == uint32(os.Getuid()) || cred.Uid == 0)
	})
	return err == nil && mine
}
