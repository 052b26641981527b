package workbench

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func listenLoopback(t *testing.T) *NetResponder {
	t.Helper()
	r, err := ListenProfile(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestPeerMeasures(t *testing.T) {
	r := listenLoopback(t)
	p, err := dialProfile(t.Context(), r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if rtt, err := p.roundTrip(); err != nil || rtt <= 0 || rtt > 10 {
		t.Errorf("round trip: %g s, %v", rtt, err)
	}
	for _, what := range []byte{'u', 'd'} {
		if rate, err := p.stream(what, 1<<20); err != nil || rate < 1e5 {
			t.Errorf("stream %c: %g bit/s, %v", what, rate, err)
		}
	}
	if rtt, err := p.roundTrip(); err != nil || rtt <= 0 {
		t.Errorf("round trip after streams: %g s, %v", rtt, err)
	}
}

// A link of 20 ms there and back is measured as such.
func TestRoundTripThroughSlowLink(t *testing.T) {
	r := listenLoopback(t)
	p, err := dialProfile(t.Context(), r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	p.c = slowConn{p.c, 20 * time.Millisecond}
	rtt, err := p.roundTrip()
	if err != nil || rtt < 0.02 {
		t.Errorf("round trip: %g s, %v", rtt, err)
	}
	rate, err := p.stream('d', 1000)
	if err != nil || rate > 8*1000/0.02 {
		t.Errorf("stream: %g bit/s, %v", rate, err)
	}
}

type slowConn struct {
	net.Conn
	delay time.Duration
}

func (c slowConn) Write(p []byte) (int, error) {
	time.Sleep(c.delay)
	return c.Conn.Write(p)
}

func TestRefusedHost(t *testing.T) {
	r := listenLoopback(t)
	addr := r.Addr()
	r.Close()
	_, err := dialProfile(t.Context(), addr)
	if err == nil || !strings.Contains(err.Error(), "cannot reach "+addr) || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("got %v", err)
	}
}

func TestHostThatIsSomethingElse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			c.Close()
		}
	}()
	_, err = dialProfile(t.Context(), l.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "is no assay profile --listen") {
		t.Errorf("got %v", err)
	}
}

func TestListenRefuses(t *testing.T) {
	r := listenLoopback(t)
	for _, addr := range []string{r.Addr(), "nonsense", "127.0.0.1:99999"} {
		if other, err := ListenProfile(t.Context(), addr); err == nil {
			other.Close()
			t.Errorf("listens on %s", addr)
		} else if !strings.Contains(err.Error(), "cannot listen") {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// Close ends connections that are in the middle of something.
func TestCloseEndsConnections(t *testing.T) {
	r := listenLoopback(t)
	p, err := dialProfile(t.Context(), r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if err := p.request('u', netMost); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { r.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("Close waits for a client")
	}
}

// TestTooManyClients: one more than netClients is hung up on, and the others go on.
func TestTooManyClients(t *testing.T) {
	r := listenLoopback(t)
	var peers []*netPeer
	for i := range netClients {
		p, err := dialProfile(t.Context(), r.Addr())
		if err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
		defer p.close()
		peers = append(peers, p)
	}
	if p, err := dialProfile(t.Context(), r.Addr()); err == nil {
		p.close()
		t.Error("one client too many is served")
	}
	if _, err := peers[0].roundTrip(); err != nil {
		t.Error(err)
	}
}

func TestCancelEndsDialledPeer(t *testing.T) {
	r := listenLoopback(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := dialProfile(ctx, r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	cancel()
	deadline := time.Now().Add(10 * time.Second)
	for {
		if _, err := p.roundTrip(); err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the connection goes on")
		}
	}
}

// half is one side of a conversation: its input, and its output.
type half struct {
	io.Reader
	out bytes.Buffer
}

func (h *half) Write(p []byte) (int, error) { return h.out.Write(p) }

func netMessage(what byte, n uint64, body string) string {
	return string(what) + string(binary.BigEndian.AppendUint64(nil, n)) + body
}

func TestRespond(t *testing.T) {
	for _, c := range []struct{ name, in, out string }{
		{"nothing", "", ""},
		{"another hello", "GET / HTTP/1.1\r\n\r\n", ""},
		{"echo", netHello + netMessage('e', 3, "abc"), netHello + "abc"},
		{"upload", netHello + netMessage('u', 3, "abc"), netHello + "\x00\x00\x00\x00\x00\x00\x00\x03"},
		{"download", netHello + netMessage('d', 3, ""), netHello + "\x00\x00\x00"},
		{"nothing to echo", netHello + netMessage('e', 0, "") + netMessage('e', 1, "x"), netHello + "x"},
		{"too much", netHello + netMessage('d', netMost+1, ""), netHello},
		{"negative", netHello + netMessage('d', 1<<63, "") + netMessage('d', ^uint64(0), ""), netHello},
		{"another request", netHello + netMessage('x', 1, "a"), netHello},
		{"half a request", netHello + "e\x00", netHello},
		{"half an upload", netHello + netMessage('u', 3, "a"), netHello + "\x00\x00\x00\x00\x00\x00\x00\x03"},
	} {
		h := &half{Reader: strings.NewReader(c.in)}
		respond(h)
		if got := h.out.String(); got != c.out {
			t.Errorf("%s: answers %q, want %q", c.name, got, c.out)
		}
	}
}

// FuzzRespond: a peer is answered with no more than it asked for, whatever it sends, and the conversation ends.
func FuzzRespond(f *testing.F) {
	f.Add([]byte(netHello + netMessage('e', 3, "abc") + netMessage('d', 5, "")))
	f.Add([]byte(netHello + netMessage('u', 1<<62, "")))
	f.Fuzz(func(t *testing.T, in []byte) {
		h := &half{Reader: bytes.NewReader(in)}
		respond(limited{h})
		if !bytes.HasPrefix(in, []byte(netHello)) && h.out.Len() > 0 {
			t.Errorf("%q is answered", in)
		}
	})
}

// limited breaks after a megabyte, so that the fuzzer does not ask for a
// gigabyte at a time.
type limited struct{ *half }

func (l limited) Write(p []byte) (int, error) {
	if l.out.Len() > 1<<20 {
		return 0, io.ErrShortWrite
	}
	return l.half.Write(p)
}

// A peer that has closed the connection, because the measurements before the network took long, is reached anew.
func TestPeerHasHungUp(t *testing.T) {
	r := listenLoopback(t)
	p, err := dialProfile(t.Context(), r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	r.mu.Lock()
	for c := range r.open {
		c.Close()
	}
	r.mu.Unlock()
	if _, err := p.roundTrip(); err == nil {
		t.Fatal("the control: nobody has hung up")
	}
	m := &meter{
		ctx: t.Context(), weights: 3 * shareNetwork,
		opts: ProfileOptions{Time: 100 * time.Millisecond, now: time.Now, Note: func(string) {}},
	}
	m.end = time.Now().Add(m.opts.Time)
	if err := m.network(p); err != nil || len(m.profile.Readings) != 3 {
		t.Errorf("%d readings, %v", len(m.profile.Readings), err)
	}
}
