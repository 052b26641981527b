package meterfs

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Source is the name of the mounts of this package in the first column of
// /proc/mounts.
const Source = "assay-rfs"

// MountOptions configure a Mount. The zero value is usable.
type MountOptions struct {
	// TTL is how long names and attributes are believed, as the cache of
	// attributes of NFS; 0 means DefaultTTL.
	TTL time.Duration
	// Through makes every write wait for the server, instead of the close of the
	// file.
	Through bool
}

// DefaultTTL is the least time for which an NFS client believes attributes of
// files (acregmin of nfs(5)).
const DefaultTTL = 3 * time.Second

// A Mount is a directory of the client's server that programs see.
type Mount struct {
	dir    string
	server *fuse.Server
}

// NewMount mounts a client's view on a directory, by mount(2) only. It needs /dev/fuse and CAP_SYS_ADMIN
// over the mount namespace.
func NewMount(dir string, c *Client, opts MountOptions) (*Mount, error) {
	ttl := opts.TTL
	if ttl == 0 {
		ttl = DefaultTTL
	}
	root := &node{client: c}
	a, errno := c.stat("")
	if errno != 0 {
		return nil, fmt.Errorf("the root of the server: %w", errno)
	}
	caps := uint64(fuse.CAP_WRITEBACK_CACHE)
	if opts.Through {
		caps = 0
	}
	options := &fs.Options{
		EntryTimeout: &ttl, AttrTimeout: &ttl, NegativeTimeout: &ttl,
		NullPermissions: true,
		RootStableAttr:  &fs.StableAttr{Ino: uint64(a.ino)},
		MountOptions: fuse.MountOptions{
			FsName: Source, Name: "assay",
			DirectMountStrict: true,
			AllowOther:        true, // the program may change its user
			Options:           []string{"default_permissions", "dev", "suid"},
			ExtraCapabilities: caps,
			// There is no other writer, so a new mtime does not mean new data.
			ExplicitDataCacheControl: true,
			// As NFSv3 has none. With them the kernel would ask for one before
			// each write(2), to see whether it takes away a capability.
			DisableXAttrs: true,
			// One request for a directory, not one more for each name.
			DisableReadDirPlus: true,
		},
	}
	server, err := fuse.NewServer(fs.NewNodeFS(root, options), dir, &options.MountOptions)
	if err != nil {
		return nil, fmt.Errorf("mounting on %s: %w", dir, err)
	}
	// Not fs.Mount, which opens a file of the mount: a process that is killed while
	// it waits for itself never ends.
	go server.Serve()
	return &Mount{dir: dir, server: server}, nil
}

// Unmount writes cached data and ends the mount. If a program still uses it, the mount is detached, and
// goes with the last of them.
func (m *Mount) Unmount() error {
	err := alone(func() error {
		err := unix.Unmount(m.dir, 0)
		if err == unix.EBUSY {
			err = unix.Unmount(m.dir, unix.MNT_DETACH)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("unmounting %s: %w", m.dir, err)
	}
	return nil
}

// alone calls f, which makes requests to this process, on a thread of its own that
// does not hold the connection to the kernel. If the process is killed meanwhile,
// then the connection is closed with its other threads and the requests end; if the
// thread held it open, they would wait for each other for ever.
//
// All else stays open: the runtime wakes its poller from any thread.
func alone(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			done <- alone(f) // on another one, as this is taken
			return
		}
		err := unix.Unshare(unix.CLONE_FILES)
		if err == nil {
			err = closeConnections()
		}
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// closeConnections closes every connection to the kernel's FUSE, /dev/fuse under any name, in the table
// of the calling thread.
func closeConnections() error {
	fds, err := os.ReadDir("/proc/thread-self/fd")
	if err != nil {
		return err
	}
	for _, e := range fds {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil { // the descriptor of the directory itself is closed by now
			continue
		}
		if st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == fuseDevice {
			if err := unix.Close(fd); err != nil {
				return err
			}
		}
	}
	return nil
}

// fuseDevice is the number of /dev/fuse: a misc device (10), minor 229, since Linux 2.6.14.
var fuseDevice = unix.Mkdev(10, 229)

// Wait returns when the mount has ended.
func (m *Mount) Wait() { m.server.Wait() }
