package meterfs

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/posixtest"
)

// newPair returns a client of a new server of a directory.
func newPair(t testing.TB, data string, opts ServerOptions) *Client {
	t.Helper()
	s, err := NewServer(data, opts)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served, accepted := make(chan error, 1), make(chan bool)
	go func() {
		conn, err := ln.Accept()
		close(accepted)
		if err == nil {
			err = s.Serve(conn)
		}
		served <- err
	}()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	<-accepted
	ln.Close()
	c := NewClient(conn)
	t.Cleanup(func() {
		c.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// newMount returns a directory that is a mount of data, or skips the test loudly.
func newMount(t testing.TB, data string, sopts ServerOptions, mopts MountOptions) (dir string, c *Client) {
	t.Helper()
	dir = t.TempDir()
	c = newPair(t, data, sopts)
	m, err := NewMount(dir, c, mopts)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		t.Skipf("SKIPPED, NOT TESTED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// A process that uses its own mount must keep Go's poller away from it.
	if err := m.server.WaitMount(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Unmount(); err != nil {
			t.Error(err)
		}
		ended := make(chan bool)
		go func() { m.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("a file of the mount is left open")
		}
	})
	return dir, c
}

// The suite of the FUSE library for file systems, with and without write-back.
func TestPOSIX(t *testing.T) {
	for name, opts := range map[string]MountOptions{"back": {}, "through": {Through: true}} {
		t.Run(name, func(t *testing.T) {
			for name, test := range posixtest.All {
				switch name {
				case "FcntlFlockLocksFile": // two descriptors of one process: POSIX locks do not conflict
					continue
				case "XAttr", "XAttrLarge": // there are none
					continue
				case "OpenSymlinkRace": // a thousand rounds of it, and it is about the kernel's client
					if os.Getenv("ASSAY_SOAK") == "" {
						continue
					}
				}
				t.Run(name, func(t *testing.T) {
					dir, _ := newMount(t, t.TempDir(), ServerOptions{}, opts)
					test(t, dir)
				})
			}
		})
	}
}
