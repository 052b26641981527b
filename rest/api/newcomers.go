package api

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// Connections on which no request has come yet are newcomers. Each costs a server some 17 kB, whoever has sent it. Of
// mostNewcomers the first are closed once they have waited for as long as newcomerWaits, and until there
// is room nobody else is let in: others wait at the kernel, where they cost next to nothing.
//
// While mostBusy requests are being answered, others are let in as these end, or one by one after busyWaits each: a
// rush is answered no sooner by beginning all at once, and takes several times the memory.
const (
	mostNewcomers = 2000
	newcomerWaits = time.Second
	mostBusy      = 500
	busyWaits     = 5 * time.Millisecond
)

// newcomers are those of a server.
type newcomers struct {
	mu sync.Mutex
	// queue has them in the order in which they came, and of where each is in it, or nil for one whose request is
	// being answered.
	queue list.List
	of    map[net.Conn]*list.Element
	left  chan struct{} // has an entry once one has left since somebody waited
}

type newcomer struct {
	net.Conn
	since time.Time
}

func newNewcomers() *newcomers {
	return &newcomers{of: map[net.Conn]*list.Element{}, left: make(chan struct{}, 1)}
}

// state is a hook for [http.Server.ConnState].
func (n *newcomers) state(c net.Conn, s http.ConnState) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s == http.StateNew {
		n.of[c] = n.queue.PushBack(newcomer{c, time.Now()})
		return
	}
	n.leave(c)
	if s == http.StateActive {
		n.of[c] = nil
	}
}

// leave takes one out, if it is there. The lock is held.
func (n *newcomers) leave(c net.Conn) {
	if e := n.of[c]; e != nil {
		n.queue.Remove(e)
	}
	delete(n.of, c)
	select {
	case n.left <- struct{}{}:
	default:
	}
}

// full closes those that have waited for too long, if there are too many. It reports whether there are still too
// many, and how long the first may wait still. Otherwise it returns how long the next should wait for a
// request to be answered, 0 for not at all.
func (n *newcomers) full() (full bool, wait time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.queue.Len() < mostNewcomers {
		if len(n.of)-n.queue.Len() >= mostBusy {
			wait = busyWaits
		}
		return false, wait
	}
	for e := n.queue.Front(); e != nil; e = n.queue.Front() {
		if wait = newcomerWaits - time.Since(e.Value.(newcomer).since); wait > 0 {
			break
		}
		c := e.Value.(newcomer).Conn
		n.leave(c)
		if t, ok := c.(*tls.Conn); ok {
			c = t.NetConn() // without a farewell, which may take long
		}
		c.Close()
	}
	return n.queue.Len() >= mostNewcomers, wait
}

// A door is a listener that lets nobody in while there are too many newcomers.
type door struct {
	net.Listener
	in     *newcomers
	closed chan struct{}
	once   sync.Once
}

// door returns a door before a listener.
func (n *newcomers) door(l net.Listener) net.Listener {
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
