package api

import (
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// shut is a connection that reports whether it was closed.
type shut struct {
	net.Conn
	closed bool
}

func (s *shut) Close() error {
	s.closed = true
	return nil
}

// line is a listener at which a client always waits.
type line struct{ net.Listener }

func (line) Accept() (net.Conn, error) { return &shut{}, nil }
func (line) Close() error              { return nil }

// A crowd that sends no request has others wait until the first of it have had their time; those who send one make room
// at once, and are never closed.
func TestNewcomers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newConnLimit()
		d := n.door(line{})
		var in []*shut
		come := func() (took time.Duration, err error) {
			began := time.Now()
			c, err := d.Accept()
			if err == nil {
				n.state(c, http.StateNew)
				in = append(in, c.(*shut))
			}
			return time.Since(began), err
		}
		for range mostIdle {
			if took, err := come(); took > 0 || err != nil {
				t.Fatalf("after %d one has waited for %v: %v", len(in), took, err)
			}
			time.Sleep(idleWaits / 2 / mostIdle)
		}
		for i, s := range []http.ConnState{http.StateActive, http.StateHijacked, http.StateClosed} {
			go func() {
				time.Sleep(time.Millisecond)
				n.state(in[i], s)
			}()
			if took, err := come(); took != time.Millisecond || err != nil {
				t.Errorf("state %v: the next has waited for %v: %v", s, took, err)
			}
		}
		took, err := come()
		if took < idleWaits/4 || took > idleWaits/2 || err != nil {
			t.Errorf("with nobody going one has waited for %v: %v", took, err)
		}
		for i, c := range in {
			if c.closed != (i == 3) {
				t.Errorf("connection %d: closed %v", i, c.closed)
			}
		}
		time.Sleep(idleWaits)
		if took, err := come(); took > 0 || err != nil || n.queue.Len() > 2 || len(n.of) > 2 {
			t.Errorf("when all have had their time one has waited for %v: %v; %d are left", took, err, n.queue.Len())
		}
		for n.queue.Len() < mostIdle {
			if _, err := come(); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			time.Sleep(time.Millisecond)
			d.Close()
		}()
		if took, err := come(); !errors.Is(err, net.ErrClosed) || took != time.Millisecond {
			t.Errorf("closed while one waits: after %v: %v", took, err)
		}
	})
}

// While many are answered, the next comes in as one of them ends, or after a moment.
func TestNewcomersOfARush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newConnLimit()
		d := n.door(line{})
		var in []net.Conn
		come := func() time.Duration {
			began := time.Now()
			c, err := d.Accept()
			if err != nil {
				t.Fatal(err)
			}
			n.state(c, http.StateNew)
			n.state(c, http.StateActive)
			in = append(in, c)
			return time.Since(began)
		}
		for range mostBusy {
			if took := come(); took > 0 {
				t.Fatalf("after %d one has waited for %v", len(in), took)
			}
		}
		<-n.left
		if took := come(); took != busyWaits {
			t.Errorf("with none ending one has waited for %v", took)
		}
		go func() {
			time.Sleep(time.Millisecond)
			n.state(in[0], http.StateIdle)
		}()
		<-n.left
		if took := come(); took != time.Millisecond {
			t.Errorf("with one ending one has waited for %v", took)
		}
		for _, c := range in[1:100] {
			n.state(c, http.StateHijacked)
		}
		<-n.left
		if took := come(); took > 0 {
			t.Errorf("with room one has waited for %v", took)
		}
		for _, c := range in {
			if c.(*shut).closed {
				t.Fatal("one that is answered was closed")
			}
		}
	})
}
