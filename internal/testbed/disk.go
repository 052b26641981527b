package testbed

import (
	"errors"
	"io/fs"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/assay-run/assay/internal/meterfs"
)

// A Disk fails: its power is cut at any instant, or its n-th operation goes wrong. It is a directory that
// programs see by way of package meterfs, whose server keeps a log of their operations. It is mounted until
// its test ends. The test itself uses the mount through other processes only.
type Disk struct {
	Dir  string // where programs see it
	Data string // the data behind it: as if the power had never been cut

	mu     sync.Mutex
	log    []meterfs.Change
	paths  map[int64]string // by handle
	calls  int
	failed string // the last operation that failed
	fail   func(n int, c meterfs.Change) syscall.Errno
}

// NewDisk mounts a new, empty disk. The function fail, which may be nil, decides before each operation, from
// 1 on, whether it fails; a failed operation has no effect. If nothing can be mounted the test is
// skipped.
func NewDisk(t testing.TB, fail func(n int, c meterfs.Change) syscall.Errno) *Disk {
	t.Helper()
	d := &Disk{Dir: t.TempDir(), Data: t.TempDir(), fail: fail, paths: map[int64]string{}}
	s, err := meterfs.NewServer(d.Data, meterfs.ServerOptions{Around: d.around})
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.Serve(far) }()
	c := meterfs.NewClient(near)
	end := func() {
		c.Close()
		if err := errors.Join(<-served, s.Close()); err != nil {
			t.Error(err)
		}
	}
	m, err := meterfs.NewMount(d.Dir, c, meterfs.MountOptions{Through: true})
	if err != nil {
		end()
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			t.Skipf("SKIPPED, NOT TESTED: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Unmount(); err != nil {
			t.Error(err)
		}
		m.Wait()
		end()
	})
	return d
}

// around notes an operation, and lets it be done or fail.
func (d *Disk) around(c meterfs.Change, do func() syscall.Errno) syscall.Errno {
	d.mu.Lock()
	d.calls++
	n := d.calls
	switch {
	case c.Op == "create", c.Op == "open":
		d.paths[c.Handle] = c.Path
	case c.Path == "":
		c.Path = d.paths[c.Handle] // that it was opened by
	}
	if d.fail != nil {
		if errno := d.fail(n, c); errno != 0 {
			d.failed = c.Op + " " + c.Path
			d.mu.Unlock()
			return errno
		}
	}
	d.mu.Unlock()
	errno := do()
	if errno == 0 {
		c.Data = slices.Clone(c.Data)
		d.mu.Lock()
		d.log = append(d.log, c)
		d.mu.Unlock()
	}
	return errno
}

// Len returns how many operations have taken effect: an instant.
func (d *Disk) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

// Failed names the last operation that failed, "" if none did.
func (d *Disk) Failed() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// Calls returns how many operations there were, those that failed included.
func (d *Disk) Calls() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}
