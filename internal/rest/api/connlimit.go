package api

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// A connection without a request costs a server some 17 kB. If there are mostIdle of them, those idle for idleWaits are
// closed, the oldest first. Further connections wait in the kernel until there is room, where they cost next to
// nothing.
//
// While mostBusy requests are being answered, a further connection is accepted when one of them ends, or after
// busyWaits. Without this limit, a burst of requests would be answered no sooner, and take several times the memory.
const (
	mostIdle  = 2000
	idleWaits = time.Second
	mostBusy  = 500
	busyWaits = 5 * time.Millisecond
)

// A connLimit limits the connections of a server.
type connLimit struct {
	mu sync.Mutex
	// queue has the idle connections, the oldest first. of has the place of each in it, or nil for a connection
	// whose request is being answered.
	queue list.List
	of    map[net.Conn]*list.Element
	left  chan struct{} // has an entry once a connection has left the queue
}

type idleConn struct {
	net.Conn
	since time.Time
}

func newConnLimit() *connLimit {
	return &connLimit{of: map[net.Conn]*list.Element{}, left: make(chan struct{}, 1)}
}

// state is a hook for [http.Server.ConnState].
func (n *connLimit) state(c net.Conn, s http.ConnState) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s == http.StateNew {
		n.of[c] = n.queue.PushBack(idleConn{c, time.Now()})
		return
	}
	n.leave(c)
	if s == http.StateActive {
		n.of[c] = nil
	}
}

// leave takes a connection out of the queue. The lock is held.
func (n *connLimit) leave(c net.Conn) {
	if e := n.of[c]; e != nil {
		n.queue.Remove(e)
	}
	delete(n.of, c)
	select {
	case n.left <- struct{}{}:
	default:
	}
}

// full closes connections that have been idle for too long, if there are too many. It reports whether there are still
// too many, and for how long the oldest may stay idle. Otherwise it returns how long the next connection waits
// for a request to be answered, or 0.
func (n *connLimit) full() (full bool, wait time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.queue.Len() < mostIdle {
		if len(n.of)-n.queue.Len() >= mostBusy {
			wait = busyWaits
		}
		return false, wait
	}
	for e := n.queue.Front(); e != nil; e = n.queue.Front() {
		if wait = idleWaits - time.Since(e.Value.(idleConn).since); wait > 0 {
			break
		}
		c := e.Value.(idleConn).Conn
		n.leave(c)
		if t, ok := c.(*tls.Conn); ok {
			c = t.NetConn() // without a farewell, which may take long
		}
		c.Close()
	}
	return n.queue.Len() >= mostIdle, wait
}

// A door is a listener that accepts nothing while too many connections are idle.
type door struct {
	net.Listener
	in     *connLimit
	closed chan struct{}
	once   sync.Once
}

// door returns a door before a listener.
func (n *connLimit) door(l net.Listener) net.Listener {
	return &door{Listener: l, in: n, closed: make(chan struct{})}
}

// Accept implements [net.Listener].
func (d *door) Accept() (net.Conn, error) {
	for {
		full, wait := d.in.full()
		if wait > 0 {
			select {
			case <-d.in.left:
			case <-time.After(wait):
			case <-d.closed:
				return nil, net.ErrClosed
			}
		}
		if !full {
			return d.Listener.Accept()
		}
	}
}

// Close implements [net.Listener].
func (d *door) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.Listener.Close()
}
