package meterfs

import (
	"bufio"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// Stats counts the traffic of a client.
type Stats struct {
	Requests   int64         `json:"requests"`
	Reads      int64         `json:"reads"`
	Writes     int64         `json:"writes"`
	ReadBytes  int64         `json:"read_bytes"`
	WriteBytes int64         `json:"write_bytes"`
	Network    time.Duration `json:"network_ns"` // from request to reply, less the service time; the sum over all requests
	Service    time.Duration `json:"service_ns"` // at the storage, the sum over all requests
	// Busy is how long at least one request was under way. It is at most the
	// elapsed time, and Network and Service may add up to more.
	Busy time.Duration `json:"busy_ns"`
	Full int64         `json:"full"` // requests that failed because the storage is full
	// Trips are the last of them, in no order.
	Trips []Trip `json:"trips,omitempty"`
}

// A Client sends requests over a connection and waits for the replies. It is
// safe for concurrent use.
type Client struct {
	conn net.Conn
	send sync.Mutex // one frame at a time; guards head
	head []byte
	done chan struct{} // closed when the reader has ended

	mu      sync.Mutex
	pending map[uint32]*call
	tag     uint32
	broken  bool
	stats   Stats
	under   int       // how many of pending count for stats: all but pings
	busy    time.Time // since when, if under is not 0
	trips   trips
}

// A call waits for its reply.
type call struct {
	op    op
	size  int // of the data
	sent  time.Time
	alone bool   // nothing else was under way when it was sent
	ping  bool   // counts for nothing but Trips
	dst   []byte // where the body goes, if it is not nil and large enough
	body  []byte
	errno syscall.Errno
	done  chan struct{}
}

// NewClient returns a client of the server at the other end of the connection,
// which the client closes.
func NewClient(conn net.Conn) *Client {
	c := &Client{conn: conn, pending: map[uint32]*call{}, done: make(chan struct{})}
	go c.receive()
	return c
}

// Close ends the connection. Requests that are under way, and later ones, fail
// with EIO.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.done
	return err
}

// Stats returns the traffic so far.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	if c.under > 0 {
		s.Busy += time.Since(c.busy)
	}
	s.Trips = c.trips.all()
	return s
}

// call sends a request and returns the body of the reply, in dst if that is large
// enough.
func (c *Client) call(q *request, dst []byte) ([]byte, syscall.Errno) {
	switch {
	case len(q.path)+len(q.other) > 1<<15:
		return nil, syscall.ENAMETOOLONG
	case q.handle == 0 && isGone(q.path), (q.op == opLink || q.op == opRename) && isGone(q.other):
		return nil, syscall.ENOENT
	}
	k := &call{op: q.op, size: len(q.data), dst: dst, done: make(chan struct{})}
	return c.exchange(k, q)
}

// exchange sends the request of a call and waits for the reply.
func (c *Client) exchange(k *call, q *request) ([]byte, syscall.Errno) {
	c.mu.Lock()
	if c.broken {
		c.mu.Unlock()
		return nil, syscall.EIO
	}
	c.tag++
	q.tag = c.tag
	k.sent = time.Now()
	k.alone = len(c.pending) == 0
	if !k.ping {
		if c.under == 0 {
			c.busy = k.sent
		}
		c.under++
	}
	c.pending[q.tag] = k
	c.mu.Unlock()

	c.send.Lock()
	c.head = q.appendHeader(c.head[:0])
	var err error
	if len(q.data) == 0 {
		_, err = c.conn.Write(c.head)
	} else {
		bufs := net.Buffers{c.head, q.data}
		_, err = bufs.WriteTo(c.conn)
	}
	c.send.Unlock()
	if err != nil {
		c.conn.Close() // the reader ends every call
	}
	<-k.done
	return k.body, k.errno
}

// gone begins the path of a file that is in no directory any more, and can only be used by handle. It
// begins no path that the server knows.
const gone = "/"

func isGone(path string) bool { return len(path) > 0 && path[0] == '/' }

// receive ends calls until the connection does.
func (c *Client) receive() {
	defer close(c.done)
	in := bufio.NewReaderSize(c.conn, 64<<10)
	var err error
	for err == nil {
		err = c.one(in)
	}
	c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = true
	if c.under > 0 {
		c.stats.Busy += time.Since(c.busy)
	}
	c.under = 0
	for tag, k := range c.pending {
		delete(c.pending, tag)
		k.errno = syscall.EIO
		close(k.done)
	}
}

// one reads one reply and ends its call.
func (c *Client) one(in *bufio.Reader) error {
	var b [replyHeader]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return err
	}
	h, err := parseReplyHead(b[:])
	if err != nil {
		return err
	}
	c.mu.Lock()
	k := c.pending[h.tag]
	c.mu.Unlock()
	if k == nil {
		return errFrame
	}
	// k stays pending, so that it ends if the body does not come.
	body := k.dst
	if len(body) < h.size {
		body = make([]byte, h.size)
	}
	if _, err := io.ReadFull(in, body[:h.size]); err != nil {
		return err
	}
	k.body, k.errno = body[:h.size], h.errno
	c.mu.Lock()
	delete(c.pending, h.tag)
	c.account(k, h)
	c.mu.Unlock()
	close(k.done)
	return nil
}

// account adds a call that has ended. The lock is held.
func (c *Client) account(k *call, h replyHead) {
	now := time.Now()
	s := &c.stats
	service := time.Duration(h.service)
	network := max(0, now.Sub(k.sent)-service)
	if k.alone && len(c.pending) == 0 && k.size+h.size <= smallTrip {
		c.trips.add(Trip{Took: network, Start: k.sent, End: now})
	}
	if k.ping {
		return
	}
	s.Requests++
	s.Service += service
	s.Network += network
	if c.under--; c.under == 0 {
		s.Busy += now.Sub(c.busy)
	}
	switch k.op {
	case opRead:
		s.Reads++
		s.ReadBytes += int64(h.size)
	case opWrite:
		s.Writes++
		if h.errno == 0 {
			s.WriteBytes += int64(k.size)
		}
	}
	if h.errno == syscall.ENOSPC || h.errno == syscall.EDQUOT {
		s.Full++
	}
}
