package workbench

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// The protocol of two hosts that measure the network between them, version 1.
// Over one TCP connection the client sends "assay-profile 1\n" and gets the same
// back. Then it sends requests of 9 bytes: a kind ('e', 'u' or 'd') and a number,
// big-endian:
//
//	e n  n bytes follow, which come back
//	u n  n bytes follow, for which n comes back in 8 bytes
//	d n  n bytes come back
//
// Anything else ends the connection. The bytes mean nothing.
const (
	netHello   = "assay-profile 1\n"
	netRequest = 9
	netMost    = 1 << 30          // bytes of one request
	netIdle    = 30 * time.Second // without a byte, after which a connection ends
	netClients = 16               // connections at once
)

// A NetResponder answers [MeasureProfile] on other hosts: it sends back, or takes, or gives bytes that
// mean nothing. It has no other access to the machine, but any host that reaches the address can use its
// network. Listen only where the other host can reach it, and only while it measures.
type NetResponder struct {
	l    net.Listener
	mu   sync.Mutex
	open map[net.Conn]struct{}
	wg   sync.WaitGroup
}

// ListenProfile starts a responder on a TCP address, such as "10.0.0.7:7001" or
// "127.0.0.1:0".
func ListenProfile(ctx context.Context, addr string) (*NetResponder, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	r := &NetResponder{l: l, open: map[net.Conn]struct{}{}}
	r.wg.Go(r.serve)
	return r, nil
}

// Addr returns the address, with the port that was chosen.
func (r *NetResponder) Addr() string { return r.l.Addr().String() }

// Close ends the responder and its connections, and waits for them.
func (r *NetResponder) Close() error {
	err := r.l.Close()
	r.mu.Lock()
	for c := range r.open {
		c.Close()
	}
	r.open = nil
	r.mu.Unlock()
	r.wg.Wait()
	return err
}

func (r *NetResponder) serve() {
	for {
		c, err := r.l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, or the client has gone
			time.Sleep(10 * time.Millisecond)
			continue
		}
		r.mu.Lock()
		if r.open == nil || len(r.open) >= netClients {
			r.mu.Unlock()
			c.Close()
			continue
		}
		r.open[c] = struct{}{}
		r.mu.Unlock()
		r.wg.Go(func() {
			respond(idleConn{c})
			c.Close()
			r.mu.Lock()
			delete(r.open, c)
			r.mu.Unlock()
		})
	}
}

// respond serves one connection to its end. It closes the connection of a peer that breaks the protocol,
// without a reply.
func respond(c io.ReadWriter) {
	in := bufio.NewReaderSize(c, 128<<10)
	hello := make([]byte, len(netHello))
	if _, err := io.ReadFull(in, hello); err != nil || string(hello) != netHello {
		return
	}
	if _, err := c.Write(hello); err != nil {
		return
	}
	req := make([]byte, netRequest)
	block := make([]byte, 128<<10)
	for {
		if _, err := io.ReadFull(in, req); err != nil {
			return
		}
		n := int64(binary.BigEndian.Uint64(req[1:]) & (1<<63 - 1))
		if n > netMost {
			return
		}
		var err error
		switch req[0] {
		case 'e':
			_, err = io.CopyBuffer(writerOnly{c}, io.LimitReader(in, n), block)
		case 'u':
			if _, err = io.CopyBuffer(writerOnly{io.Discard}, io.LimitReader(in, n), block); err == nil {
				_, err = c.Write(req[1:])
			}
		case 'd':
			err = send(c, n, block)
		default:
			return
		}
		if err != nil {
			return
		}
	}
}

// writerOnly hides ReadFrom, which would choose another buffer.
type writerOnly struct{ io.Writer }

func send(w io.Writer, n int64, block []byte) error {
	for n > 0 {
		k := min(n, int64(len(block)))
		if _, err := w.Write(block[:k]); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// An idleConn is a connection that ends after netIdle without a byte.
type idleConn struct{ net.Conn }

func (c idleConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(netIdle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c idleConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(netIdle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// A netPeer is a connection to a responder, and our own one if that is it.
type netPeer struct {
	c    net.Conn
	in   *bufio.Reader
	own  *NetResponder
	stop func() bool
	host string
}

// dialProfile connects to a responder; "" starts one on the loopback interface.
func dialProfile(ctx context.Context, host string) (*netPeer, error) {
	p := &netPeer{host: host}
	if host == "" {
		var err error
		if p.own, err = ListenProfile(ctx, "127.0.0.1:0"); err != nil {
			return nil, err
		}
		p.host = p.own.Addr()
	}
	if err := p.connect(ctx); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// connect opens the connection, anew if there is one: the other end closes one that is idle.
func (p *netPeer) connect(ctx context.Context) error {
	p.hangUp()
	d := net.Dialer{Timeout: 5 * time.Second}
	c, err := d.DialContext(ctx, "tcp", p.host)
	if err != nil {
		return fmt.Errorf("cannot reach %s (run assay profile --listen ADDRESS there): %w", p.host, err)
	}
	p.c = idleConn{c}
	p.stop = context.AfterFunc(ctx, func() { c.Close() })
	p.in = bufio.NewReaderSize(p.c, 128<<10)
	hello := make([]byte, len(netHello))
	if _, err = io.WriteString(p.c, netHello); err == nil {
		_, err = io.ReadFull(p.in, hello)
	}
	if err == nil && string(hello) != netHello {
		err = errors.New("it answers something else")
	}
	if err != nil {
		return fmt.Errorf("%s is no assay profile --listen: %w", p.host, err)
	}
	return nil
}

// hangUp closes the connection, if there is one.
func (p *netPeer) hangUp() {
	if p.stop != nil {
		p.stop()
	}
	if p.c != nil {
		p.c.Close()
	}
}

func (p *netPeer) close() {
	p.hangUp()
	if p.own != nil {
		p.own.Close()
	}
}

// network measures the round trip of a byte and the throughput of one stream in both directions, like
// TCP_RR and TCP_STREAM of netperf. The peer was reached before anything was measured, so that a wrong
// address fails at once. The measurements since may have taken longer than a connection may be idle.
func (m *meter) network(p *netPeer) error {
	if err := p.connect(m.ctx); err != nil {
		return p.failed(m.ctx, err)
	}
	to := "to " + p.host
	if p.own != nil {
		to = "over the loopback interface"
	}
	err := m.read(Reading{
		Name: "rtt", Resource: "network", Unit: "s", Method: "round trip of one byte by TCP, " + to,
	}, shareNetwork, p.roundTrip)
	if err != nil {
		return p.failed(m.ctx, err)
	}
	for _, dir := range []struct {
		name, method string
		what         byte
	}{
		{"bandwidth", "one TCP stream ", 'u'},
		{"bandwidth_back", "one TCP stream back, ", 'd'},
	} {
		size, err := p.streamSize(dir.what)
		if err == nil {
			r := Reading{Name: dir.name, Resource: "network", Unit: "bit/s", Method: dir.method + to}
			err = m.read(r, shareNetwork, func() (float64, error) { return p.stream(dir.what, size) })
		}
		if err != nil {
			return p.failed(m.ctx, err)
		}
	}
	return nil
}

func (p *netPeer) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("the connection to %s: %w", p.host, err)
}

func (p *netPeer) request(what byte, n int64, more ...byte) error {
	req := make([]byte, netRequest, netRequest+len(more))
	req[0] = what
	binary.BigEndian.PutUint64(req[1:], uint64(n))
	_, err := p.c.Write(append(req, more...))
	return err
}

// roundTrip returns the seconds in which a byte goes there and back.
func (p *netPeer) roundTrip() (float64, error) {
	began := time.Now()
	if err := p.request('e', 1, 'x'); err != nil {
		return 0, err
	}
	b, err := p.in.ReadByte()
	if err == nil && b != 'x' {
		err = errors.New("a byte came back changed")
	}
	return time.Since(began).Seconds(), err
}

// stream returns the bits a second of n bytes in one direction, from the
// request to the last byte, or to its receipt.
func (p *netPeer) stream(what byte, n int64) (float64, error) {
	began := time.Now()
	if err := p.request(what, n); err != nil {
		return 0, err
	}
	if what == 'u' {
		if err := send(p.c, n, make([]byte, 128<<10)); err != nil {
			return 0, err
		}
		var got [8]byte
		if _, err := io.ReadFull(p.in, got[:]); err != nil {
			return 0, err
		}
		if int64(binary.BigEndian.Uint64(got[:])) != n {
			return 0, errors.New("not all that was sent has arrived")
		}
	} else if _, err := io.CopyN(writerOnly{io.Discard}, p.in, n); err != nil {
		return 0, err
	}
	return 8 * float64(n) / time.Since(began).Seconds(), nil
}

// streamSize returns the number of bytes that takes 30 ms at least, which is
// many round trips of a fast network, and opens the window of the connection on
// the way.
func (p *netPeer) streamSize(what byte) (int64, error) {
	for n := int64(256 << 10); ; n *= 2 {
		rate, err := p.stream(what, n)
		if err != nil || 8*float64(n)/rate >= 0.03 || n == 256<<20 {
			return n, err
		}
	}
}
