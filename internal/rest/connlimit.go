package rest

import (
	"errors"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// mostUnproven bounds the connections that have not shown the token. It is far more than a
// program's processes that join at once are slow, and far less than a process has descriptors.
const mostUnproven = 256

// A connLimit has the connections that have not shown the token yet. Any program that reaches the port can open
// them, and each holds a descriptor. So there are at most [mostUnproven], and a further one closes the oldest.
type connLimit struct {
	mu   sync.Mutex
	open []net.Conn // oldest first
}

// admit adds a connection, and closes the oldest if they are too many.
func (s *connLimit) admit(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, c)
	if len(s.open) > mostUnproven {
		s.shut()
	}
}

// spare closes the oldest connection to free a descriptor.
func (s *connLimit) spare() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) > 0 {
		s.shut()
	}
}

func (s *connLimit) shut() {
	_ = s.open[0].Close() // the client sees the end of the connection
	s.open = slices.Delete(s.open, 0, 1)
}

// forget removes a connection that has shown the token or has ended. Unknown connections are ignored.
func (s *connLimit) forget(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.open, c); i >= 0 {
		s.open = slices.Delete(s.open, i, i+1)
	}
}

// The times between two attempts to accept while the machine has no descriptor or memory for it.
const (
	firstWait = 5 * time.Millisecond
	longWait  = time.Second
)

// accept waits for a connection of l. A connection that ended before it was accepted, or a lack of descriptors or
// memory, does not end a server: they may become available again.
func (o *Online) accept(l net.Listener) (net.Conn, error) {
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		c, err := l.Accept()
		if err == nil || !passes(err) {
			return c, err
		}
		o.unproven.spare()
		select {
		case <-o.closing:
			return nil, net.ErrClosed
		case <-time.After(wait):
		}
	}
}

// passes reports whether an error of accept(2) concerns one connection and not the listener.
func passes(err error) bool {
	for _, e := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EPROTO,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
