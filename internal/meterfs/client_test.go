package meterfs

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A client whose connection ends, or whose server talks nonsense, fails all its
// requests instead of waiting.
func TestBrokenConnection(t *testing.T) {
	for name, answer := range map[string][]byte{
		"nothing":     nil,
		"half a head": {16, 0, 0, 0, 1},
		"unknown tag": append([]byte{16, 0, 0, 0, 99}, make([]byte, 15)...),
		"too long":    append([]byte{255, 255, 255, 255, 1}, make([]byte, 15)...),
		"half a body": append([]byte{20, 0, 0, 0, 1}, make([]byte, 17)...),
	} {
		near, far := net.Pipe()
		c := NewClient(near)
		go func() {
			buf := make([]byte, 1000)
			far.Read(buf)
			far.Write(answer)
			far.Close()
		}()
		if _, errno := c.call(&request{op: opStat}, nil); errno != syscall.EIO {
			t.Errorf("%s: %v, want EIO", name, errno)
		}
		if _, errno := c.call(&request{op: opStat}, nil); errno != syscall.EIO {
			t.Errorf("%s: afterwards %v, want EIO", name, errno)
		}
		c.Close()
	}
}

// A server that receives nonsense ends the connection and reports why.
func TestMalformedRequest(t *testing.T) {
	s, err := NewServer(t.TempDir(), ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	near, far := net.Pipe()
	go func() { near.Write([]byte{5, 0, 0, 0, 1, 2, 3, 4, 200}) }()
	if err := s.Serve(far); err == nil || !strings.Contains(err.Error(), "unknown op 200") {
		t.Errorf("%v", err)
	}
}

// Nothing outside of the exported directory can be reached, by no path and by no
// link.
func TestServerKeepsToItsRoot(t *testing.T) {
	outer := t.TempDir()
	root := filepath.Join(outer, "root")
	if err := os.MkdirAll(filepath.Join(root, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(outer, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"file": secret, "up": "..", "absolute": outer} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := NewServer(root, ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, path := range []string{
		"..", "../secret", "/etc/passwd", "dir/../../secret", "up/secret", "absolute/secret",
		"file", "dir/..", "./dir", "dir/", "a\x00b", secret,
	} {
		for _, o := range []op{opOpen, opCreate, opSetattr, opUnlink, opReaddir, opMkdir} {
			if path == "file" && (o == opUnlink || o == opSetattr) {
				continue // the link itself is ours
			}
			q := &request{op: o, path: path, valid: setSize, flags: syscall.O_RDWR}
			if _, errno := s.serve(q, nil); errno == 0 {
				t.Errorf("op %d of %q succeeded", o, path)
			}
		}
		if _, errno := s.serve(&request{op: opRename, path: "dir", other: path}, nil); errno == 0 && path != "file" {
			t.Errorf("renaming to %q succeeded", path)
		}
	}
	if _, errno := s.serve(&request{op: opSetattr, path: "file", valid: setSize}, nil); errno == 0 {
		t.Error("a link was truncated")
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
		t.Errorf("the file outside has %q, %v", text, err)
	}
}

func TestBadServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, file + "/none"} {
		if _, err := NewServer(dir, ServerOptions{}); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := NewServer(filepath.Dir(file), ServerOptions{Rate: -1}); err == nil {
		t.Error("a negative rate")
	}
}

// Requests are counted and timed: the storage's part is the time that the storage took, and
// overlapping requests count once as busy.
func TestStats(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), bytes.Repeat([]byte("x"), 5000), 0o644); err != nil {
		t.Fatal(err)
	}
	c := newPair(t, dir, ServerOptions{Rate: 50e3})
	_, h, errno := c.open(&request{op: opOpen, path: "in", flags: syscall.O_RDWR})
	if errno != 0 {
		t.Fatal(errno)
	}
	buf := make([]byte, 6000)
	if n, errno := c.read(h, buf, 0); n != 5000 || errno != 0 {
		t.Errorf("read %d, %v", n, errno)
	}
	began := time.Now()
	var wg sync.WaitGroup
	for i := range 4 { // 4 x 1250 B at 50 kB/s: 0.1 s, the last having waited for it all
		wg.Go(func() {
			if n, errno := c.write(h, make([]byte, 1250), int64(1250*i)); n != 1250 || errno != 0 {
				t.Errorf("wrote %d, %v", n, errno)
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	s := c.Stats()
	if s.Reads != 1 || s.ReadBytes != 5000 || s.Writes != 4 || s.WriteBytes != 5000 || s.Requests != 6 {
		t.Errorf("%+v", s)
	}
	if want := 250 * time.Millisecond; s.Service < want-time.Millisecond || took < 100*time.Millisecond-time.Millisecond {
		t.Errorf("the storage took %v in %v, want %v in 100ms", s.Service, took, want)
	}
	if s.Busy > took+time.Second || s.Busy < 99*time.Millisecond || s.Busy > s.Service+s.Network {
		t.Errorf("busy for %v of %v", s.Busy, took)
	}
	if errno := c.do(&request{op: opRead, handle: 999, size: 1}); errno != syscall.EBADF {
		t.Errorf("an unknown handle: %v", errno)
	}
	if errno := c.do(&request{op: opRead, handle: h, size: maxData + 1}); errno != syscall.EINVAL {
		t.Errorf("too much at once: %v", errno)
	}
}

// A round trip lasts from the request to the reply, and its own time is less by the service.
func TestTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, sent := &Client{}, time.Now()
		time.Sleep(50 * time.Millisecond)
		c.account(&call{op: opStat, ping: true, alone: true, sent: sent}, replyHead{service: int64(40 * time.Millisecond)})
		want := Trip{Took: 10 * time.Millisecond, Start: sent, End: sent.Add(50 * time.Millisecond)}
		if got := c.trips.all(); len(got) != 1 || got[0] != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

func TestBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bucket{rate: 100, as: time.Now()}
		began := time.Now()
		var wg sync.WaitGroup
		at := func(n int, want time.Duration) {
			wg.Go(func() {
				b.wait(n)
				if took := time.Since(began).Round(time.Microsecond); took != want {
					t.Errorf("%d bytes have passed after %v, want %v", n, took, want)
				}
			})
			synctest.Wait()
		}
		at(50, 500*time.Millisecond)
		at(50, time.Second) // behind it
		at(0, 0)
		wg.Wait()
		time.Sleep(3 * time.Second)
		at(100, 5*time.Second) // idle time is lost
		wg.Wait()
		(*bucket)(nil).wait(10)
	})
}

// A changed rate holds from then on, also for waiting requests.
func TestBucketRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bucket{rate: 100, varies: true, as: time.Now()}
		began := time.Now()
		var wg sync.WaitGroup
		for _, want := range []time.Duration{time.Second, 2300 * time.Millisecond} { // of 100 bytes each
			wg.Go(func() {
				b.wait(100)
				// It looks again every few ms.
				if took := time.Since(began); took < want || took > want+lookAgain {
					t.Errorf("passed after %v, want %v", took, want)
				}
			})
			synctest.Wait()
		}
		time.Sleep(1500 * time.Millisecond) // 150 bytes have passed
		b.set(50)
		time.Sleep(500 * time.Millisecond) // 25 more
		b.set(250 / 3.0)                   // the last 25 in 0.3 s
		wg.Wait()
	})
}

func TestSetRate(t *testing.T) {
	for _, c := range []struct {
		opts ServerOptions
		rate float64
		ok   bool
	}{
		{ServerOptions{Rate: 10, Varies: true}, 20, true},
		{ServerOptions{Rate: 10, Varies: true}, 0, false},
		{ServerOptions{Rate: 10}, 20, false},
		{ServerOptions{Varies: true}, 20, false},
	} {
		s, err := NewServer(t.TempDir(), c.opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SetRate(c.rate); (err == nil) != c.ok {
			t.Errorf("%+v set to %g: %v", c.opts, c.rate, err)
		}
		s.Close()
	}
}
