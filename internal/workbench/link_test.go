package workbench

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"
	"golang.org/x/sys/unix"
)

// linkPair returns the two ends of an open link, or skips the test loudly.
func linkPair(t testing.TB, opts LinkOptions) (a, b *Namespace, l *Link) {
	t.Helper()
	var err error
	ends := [2]*Namespace{}
	for i := range ends {
		if ends[i], err = NewNamespace(); err != nil {
			if errors.Is(err, fs.ErrPermission) {
				t.Skipf("SKIPPED, NOT TESTED: %v", err)
			}
			t.Fatal(err)
		}
		t.Cleanup(func() { ends[i].Close() })
	}
	l, err = Open(ends[0], ends[1], opts)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		t.Skipf("SKIPPED, NOT TESTED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return ends[0], ends[1], l
}

// linkConn returns the two ends of a TCP connection over the link.
func linkConn(t testing.TB, a, b *Namespace) (near, far net.Conn) {
	t.Helper()
	var ln net.Listener
	if err := b.Do(func() (err error) {
		ln, err = net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(AddrB, 9000)))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := ln.Accept()
		accepted <- c
	}()
	if err := a.Do(func() (err error) {
		near, err = net.DialTCP("tcp4", nil, net.TCPAddrFromAddrPort(netip.AddrPortFrom(AddrB, 9000)))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	far = <-accepted
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}

// roundTrips returns the times of n echoes of one byte, sorted.
func roundTrips(t testing.TB, near, far net.Conn, n int) []time.Duration {
	t.Helper()
	quit := make(chan bool)
	defer func() { far.SetReadDeadline(time.Now()); <-quit; far.SetReadDeadline(time.Time{}) }()
	go func() {
		defer close(quit)
		var b [1]byte
		for {
			if _, err := io.ReadFull(far, b[:]); err != nil {
				return
			}
			far.Write(b[:])
		}
	}()
	var got []time.Duration
	for range n {
		var b [1]byte
		began := time.Now()
		if _, err := near.Write(b[:]); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(near, b[:]); err != nil {
			t.Fatal(err)
		}
		got = append(got, time.Since(began))
		time.Sleep(time.Millisecond)
	}
	slices.Sort(got)
	return got
}

// goodput returns the bit/s of TCP payload over the time, after a warm-up.
func goodput(t testing.TB, near, far net.Conn, warm, span time.Duration) float64 {
	t.Helper()
	done := make(chan bool)
	go func() {
		defer close(done)
		buf := make([]byte, 1<<20)
		for {
			if _, err := far.Write(buf); err != nil {
				return
			}
		}
	}()
	read := func(d time.Duration) (n int, took time.Duration) {
		buf, began := make([]byte, 1<<20), time.Now()
		for time.Since(began) < d {
			k, err := near.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			n += k
		}
		return n, time.Since(began)
	}
	read(warm)
	n, took := read(span)
	near.Close()
	<-done
	return float64(n) * 8 / took.Seconds()
}

func TestRoundTripTime(t *testing.T) {
	busy := !testbed.Quiet(t)
	for _, asked := range []time.Duration{
		0, time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 18 * time.Millisecond,
	} {
		a, b, _ := linkPair(t, LinkOptions{RTT: asked})
		near, far := linkConn(t, a, b)
		got := roundTrips(t, near, far, 40)
		median := got[len(got)/2]
		t.Logf("asked %v: least %v, median %v, most %v", asked, got[0], median, got[len(got)-1])
		if got[0] < asked {
			t.Errorf("asked %v, an echo took only %v", asked, got[0])
		}
		if !busy && median > asked+400*time.Microsecond {
			t.Errorf("asked %v, the median is %v", asked, median)
		}
	}
}

// A rate is never above the requested one, and comes near to it. Other work on the
// machine slows a run, or moves its late part to the next moment, so that one of a
// few runs has to be right.
func TestRate(t *testing.T) {
	busy := !testbed.Quiet(t)
	for _, tt := range []struct {
		rate float64
		rtt  time.Duration
	}{{20e6, 0}, {100e6, 0}, {100e6, 10 * time.Millisecond}, {400e6, 0}} {
		near := func(got float64) bool { return got >= tt.rate*0.95 && got <= tt.rate*1.02 }
		got := measureRate(t, tt.rate, tt.rtt)
		for n := 1; n < 6 && !busy && !near(got); n++ {
			got = measureRate(t, tt.rate, tt.rtt)
		}
		if !busy && !near(got) {
			t.Errorf("asked %.4g bit/s, got %.4g", tt.rate, got)
		}
	}
}

// measureRate returns the payload that a link carries in a second, in bits.
func measureRate(t *testing.T, rate float64, rtt time.Duration) float64 {
	t.Helper()
	began := time.Now()
	a, b, l := linkPair(t, LinkOptions{Rate: rate, RTT: rtt})
	near, far := linkConn(t, a, b)
	got := goodput(t, near, far, 400*time.Millisecond, 800*time.Millisecond)
	_, back := l.Stats()
	t.Logf("asked %.0f Mbit/s, %v: %.1f Mbit/s of payload, %d packets lost", rate/1e6, rtt, got/1e6, back.Lost)
	if all := float64(back.Bytes) * 8 / time.Since(began).Seconds(); all > rate {
		t.Errorf("asked %.4g bit/s, got %.4g from the beginning", rate, all)
	}
	return got
}

func TestUnlimited(t *testing.T) {
	busy := !testbed.Quiet(t)
	a, b, _ := linkPair(t, LinkOptions{})
	near, far := linkConn(t, a, b)
	got := goodput(t, near, far, 200*time.Millisecond, time.Second)
	t.Logf("%.2f Gbit/s of payload", got/1e9)
	if !busy && got < 1e9 {
		t.Errorf("%.3g bit/s, want 1e9", got)
	}
}

// A link that varies has the round-trip time and the rate that were set last: no echo is quicker, and no more
// is carried.
func TestSet(t *testing.T) {
	a, b, l := linkPair(t, LinkOptions{RTT: 2 * time.Millisecond, Rate: 50e6, Varies: true})
	near, far := linkConn(t, a, b)
	least := func() time.Duration { return roundTrips(t, near, far, 10)[0] }
	set := func(rtt time.Duration, rate float64) {
		t.Helper()
		if err := l.Set(rtt, rate); err != nil {
			t.Fatal(err)
		}
	}
	for _, asked := range []time.Duration{2 * time.Millisecond, 20 * time.Millisecond, 0, 5 * time.Millisecond} {
		set(asked, 50e6)
		if got := least(); got < asked {
			t.Errorf("asked %v, an echo took only %v", asked, got)
		}
	}
	carried := func(during time.Duration) (bits, seconds float64) {
		_, before := l.Stats()
		began := time.Now()
		goodput(t, near, far, 0, during)
		_, after := l.Stats()
		return float64(after.Bytes-before.Bytes) * 8, time.Since(began).Seconds()
	}
	set(0, 5e6)
	if bits, took := carried(400 * time.Millisecond); bits > 5e6*took*1.05+65e3*8 {
		t.Errorf("asked 5e6 bit/s, carried %.3g in %.3g s", bits, took)
	}
	if err := l.Set(0, 1); err == nil {
		t.Error("a rate of 1 bit/s")
	}
	_, _, fixed := linkPair(t, LinkOptions{})
	if err := fixed.Set(0, 50e6); err == nil {
		t.Error("a link that does not vary was set")
	}
}

// Data arrives as it was sent, and in order, also where packets are lost.
func TestData(t *testing.T) {
	for _, opts := range []LinkOptions{{}, {RTT: 3 * time.Millisecond, Rate: 50e6}, {Rate: 50e6, Queue: 20e3}} {
		a, b, l := linkPair(t, opts)
		near, far := linkConn(t, a, b)
		data := make([]byte, 1<<20)
		for i := range data {
			data[i] = byte(i * i >> 8)
		}
		go func() { far.Write(data); far.Close() }()
		got, err := io.ReadAll(near)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%+v: got %d bytes of sum %x, %v", opts, len(got), sha256.Sum256(got), err)
		}
		if _, back := l.Stats(); back.Bytes < int64(len(data)) || (opts.Queue > 0) != (back.Lost > 0) {
			t.Errorf("%+v: %+v", opts, back)
		}
	}
}

// Close ends the devices and threads, and the threads wait for no packet that is under way. The kernel may take long to
// remove a device.
func TestClose(t *testing.T) {
	a, b, l := linkPair(t, LinkOptions{RTT: MaxRTT})
	sent := time.Now()
	if err := a.Do(func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrInet4{Port: 9, Addr: AddrB.As4()})
	}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	began, ended := time.Since(sent), make(chan time.Duration, 1)
	go func() { l.wg.Wait(); ended <- time.Since(sent) }()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if at := <-ended; at >= MaxRTT/2 && began < MaxRTT/4 {
		t.Errorf("the threads ended %v after a packet was sent, and Close was called after %v", at, began)
	}
	for _, ns := range []*Namespace{a, b} {
		ns.Do(func() error {
			// /proc/thread-self/net shows this namespace; /sys the namespace of the mount.
			text, err := os.ReadFile("/proc/thread-self/net/dev")
			if err != nil || strings.Contains(string(text), Device) {
				t.Errorf("a device is left: %s, %v", text, err)
			}
			return nil
		})
	}
	if err := l.Close(); err != nil {
		t.Errorf("the second time: %v", err)
	}
}

// The threads that entered a namespace are gone, the threads of the process are where they were.
func TestThreadsStay(t *testing.T) {
	linkPair(t, LinkOptions{})
	time.Sleep(10 * time.Millisecond)
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	tasks, _ := filepath.Glob("/proc/self/task/*/ns/net")
	for _, task := range tasks {
		if got, err := os.Readlink(task); err == nil && got != own {
			t.Errorf("%s is %s, the process's is %s", task, got, own)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		opts LinkOptions
		says string
	}{
		{LinkOptions{RTT: -1}, "-1ns"},
		{LinkOptions{RTT: time.Minute}, "1m0s"},
		{LinkOptions{Rate: 10}, "10 bit/s"},
		{LinkOptions{Rate: -1e6}, "-1e+06"},
		{LinkOptions{Rate: 1e300}, "1e+300"},
		{LinkOptions{Queue: -1}, "-1 bytes"},
	} {
		err := tt.opts.Check()
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v, want %q in it", tt.opts, err, tt.says)
		}
		if _, err := Open(nil, nil, tt.opts); err == nil {
			t.Errorf("%+v was opened", tt.opts)
		}
	}
	if err := (LinkOptions{RTT: 18 * time.Millisecond, Rate: 20e6}).Check(); err != nil {
		t.Error(err)
	}
}

func TestMTU(t *testing.T) {
	for _, tt := range []struct {
		rate float64
		want int
	}{{64e3, 4000}, {100e6, 4000}, {1e9, 15000}, {10e9, 65000}, {0, 65000}} {
		if got := (LinkOptions{Rate: tt.rate}).MTU(); got != tt.want {
			t.Errorf("at %g bit/s: %d, want %d", tt.rate, got, tt.want)
		}
	}
}
