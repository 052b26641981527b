package rest_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/online"
	"github.com/assay-run/assay/rest"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
)

// serveLoopback serves a session with a token on a loopback port, through what wrap makes of its listener.
func serveLoopback(t *testing.T, wrap func(net.Listener) net.Listener) (address, token string) {
	t.Helper()
	tokenFile := filepath.Join(t.TempDir(), "token")
	if err := rest.MakeToken(tokenFile); err != nil {
		t.Fatal(err)
	}
	token, err := rest.ReadToken(tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	st := store.NewMem()
	if err := st.Create(t.Context(), "o", []byte("spec")); err != nil {
		t.Fatal(err)
	}
	o := online.Options{Name: "o", Space: testSpace(t), Store: st, Default: assay.Config{0, 0}}
	o.Searcher = func(int) (assay.Searcher, error) { return search.NewRandom(o.Space, 7), nil }
	session, err := online.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := rest.ListenLoopback(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = "http://" + l.Addr().String()
	server := rest.NewOnline(session, o.Space, token)
	done := make(chan error, 1)
	go func() { done <- server.Serve(wrap(l)) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return address, token
}

// fetch has one rank join and fetch; it returns whether a configuration came from the server.
func fetch(t *testing.T, address, token string) bool {
	t.Helper()
	var log strings.Builder
	c := rest.Open(rest.ClientOptions{
		Address: address, Token: token, Default: rest.Values{"x": -1}, Log: &log, Timeout: 10 * time.Second,
	})
	defer c.Close()
	v := c.Fetch()
	if v.Int("x") < 0 {
		t.Log(log.String())
	}
	return v.Int("x") >= 0
}

// Somebody without the token opens connections, and says nothing or guesses. The server keeps a
// bounded number of them, and those with the token are served before and after.
func TestStrangers(t *testing.T) {
	address, token := serveLoopback(t, func(l net.Listener) net.Listener { return l })
	if !fetch(t, address, token) {
		t.Fatal("nobody is served without strangers")
	}
	const n = 600
	conns := make([]net.Conn, n)
	var closed atomic.Int32
	for i := range conns {
		c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = c
		if i%2 == 0 {
			if _, err := c.Write([]byte("POST /v1/online/jo")); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			_, _ = c.Read(make([]byte, 1)) // until the server closes it
			closed.Add(1)
		}()
	}
	if !fetch(t, address, token) {
		t.Error("a rank with the token is not served beside strangers")
	}
	for end := time.Now().Add(8 * time.Second); closed.Load() < n-256 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if got := closed.Load(); got < n-256 {
		t.Errorf("%d of %d silent connections were closed, want at least %d", got, n, n-256)
	}
	for _, c := range conns {
		c.Close()
	}
	for closed.Load() < n {
		time.Sleep(time.Millisecond)
	}
}

// A poorListener has no descriptor for the first connections.
type poorListener struct {
	net.Listener
	left atomic.Int32
}

func (l *poorListener) Accept() (net.Conn, error) {
	if l.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// A want of descriptors does not end the server.
func TestNoDescriptors(t *testing.T) {
	var poor *poorListener
	address, token := serveLoopback(t, func(l net.Listener) net.Listener {
		poor = &poorListener{Listener: l}
		poor.left.Store(5)
		return poor
	})
	if !fetch(t, address, token) {
		t.Error("not served after descriptors ran out")
	}
	if poor.left.Load() >= 0 {
		t.Error("the listener never lacked a descriptor")
	}
}
