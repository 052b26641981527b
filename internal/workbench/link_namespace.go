package workbench

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// A Namespace is a network namespace. It lives as long as a process or a device
// is in it, or a descriptor of it is open.
type Namespace struct{ file *os.File }

// onThread calls f on a thread of its own, which ends with it: f may change the state of a thread. It is
// never the main thread, which would not end and which /proc/PID shows for the process.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			done <- onThread(f) // on another one, as this is taken
			return
		}
		done <- f() // not unlocked, so the thread ends
	}()
	return <-done
}

// NewNamespace makes a network namespace with nothing but a loopback device,
// which is up. It needs CAP_SYS_ADMIN.
func NewNamespace() (*Namespace, error) {
	var ns *Namespace
	err := onThread(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("a network namespace: %w", err)
		}
		ns, err = Current()
		if err != nil {
			return err
		}
		if err := up("lo"); err != nil {
			ns.Close()
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ns, nil
}

// Current returns the namespace of the calling thread.
func Current() (*Namespace, error) {
	f, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	return &Namespace{f}, nil
}

// Do calls f on a thread that is in the namespace. A socket that f makes belongs
// to the namespace and may be used anywhere. Goroutines that f starts are not in
// it.
func (n *Namespace) Do(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("entering a network namespace: %w", err)
		}
		return f()
	})
}

// Close closes the descriptor.
func (n *Namespace) Close() error { return n.file.Close() }
