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
	"github.com/assay-run/assay/internal/online"
	"github.com/assay-run/assay/internal/rest"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
)

// serveLoopback serves a session with a token on a loopback port, through its wrapped listener.
func serveLoopback(t testing.TB, wrap func(net.Listener) net.Listener) (address, token string) {
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
	wrapped := wrap(l)
	go func() { done <- server.Serve(wrapped) }()
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
func fetch(t testing.TB, address, token string) bool {
	t.Helper()
	return fetchWithin(t, address, token, 10*time.Second)
}

func fetchWithin(t testing.TB, address, token string, within time.Duration) bool {
	t.Helper()
	var log strings.Builder
	c := rest.Open(rest.ClientOptions{
		Address: address, Token: token, Default: rest.Values{"x": -1}, Log: &log, Timeout: within,
	})
	defer c.Close()
	v := c.Fetch()
	if v.Int("x") < 0 {
		t.Log(log.String())
	}
	return v.Int("x") >= 0
}

// A client without the token opens connections, and sends nothing or guesses. The server keeps a
// bounded number of them, and clients with the token are served before and after.
func TestStrangers(t *testing.T) {
	testbed.Descriptors(t, 1300) // both ends of 600 connections, and the process
	strangers(t, 8*time.Second, func(l net.Listener) net.Listener { return l })
}

// A server that keeps all connections is seen.
func TestStrangersControl(t *testing.T) {
	testbed.Descriptors(t, 1300)
	testbed.Fails(t, "connections that nobody closes", func(t testing.TB) {
		strangers(t, time.Second, func(l net.Listener) net.Listener { return keepingListener{l} })
	})
}

// A keepingListener has connections that only the other end closes.
type keepingListener struct{ net.Listener }

func (l keepingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return keptConn{c}, err
}

type keptConn struct{ net.Conn }

func (keptConn) Close() error { return nil }

// strangers opens 600 connections to a server, most of which are to be closed within a time.
func strangers(t testing.TB, within time.Duration, wrap func(net.Listener) net.Listener) {
	t.Helper()
	address, token := serveLoopback(t, wrap)
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
	for end := time.Now().Add(within); closed.Load() < n-256 && time.Now().Before(end); {
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

// A poorListener gets an error for the first connections.
type poorListener struct {
	net.Listener
	errno syscall.Errno
	left  atomic.Int32
}

func (l *poorListener) Accept() (net.Conn, error) {
	if l.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", l.errno)}
	}
	return l.Listener.Accept()
}

// A want of descriptors does not end the server.
func TestNoDescriptors(t *testing.T) { withoutDescriptors(t, syscall.EMFILE, 10*time.Second) }

// An error by which a server ends is seen.
func TestNoDescriptorsControl(t *testing.T) {
	testbed.Fails(t, "an error that does not pass",
		func(t testing.TB) { withoutDescriptors(t, syscall.EBADF, time.Second) })
}

func withoutDescriptors(t testing.TB, errno syscall.Errno, within time.Duration) {
	t.Helper()
	var poor *poorListener
	address, token := serveLoopback(t, func(l net.Listener) net.Listener {
		poor = &poorListener{Listener: l, errno: errno}
		poor.left.Store(5)
		return poor
	})
	if !fetchWithin(t, address, token, within) {
		t.Error("not served after descriptors ran out")
	}
	if poor.left.Load() >= 0 {
		t.Error("the listener never lacked a descriptor")
	}
}
