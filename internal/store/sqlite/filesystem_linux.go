// This file decides whether a directory is on a file system that can hold a store. The
// decision is made once, when a store is opened; [Options.AnyFileSystem] skips it.

package sqlite

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/assay-run/assay/internal/proc"
)

// A file system that several machines mount cannot hold a store: processes that use a WAL must share memory, and a
// lock must be known to all of them. On others, memory maps of a file are not coherent between processes or fsync is
// not passed on.
//
// unsafeMagic names them by the f_type of statfs(2). The numbers are from linux/magic.h and from the file systems'
// own sources. "" means that the file system is not known to be unsafe: a new local file system must not need a new
// version of this list.
var unsafeMagic = map[uint32]string{
	0x6969: "NFS",
	0x517b: "SMB/CIFS", 0xfe534d42: "SMB/CIFS", 0xff534d42: "SMB/CIFS",
	0x0bd00bd0: "Lustre",
	0x47504653: "GPFS (Spectrum Scale)",
	0x19830326: "BeeGFS",
	0x00c36400: "CephFS",
	0xaad7aaea: "PanFS",
	0x20030528: "OrangeFS",
	0x5346414f: "AFS", 0x6b414653: "AFS",
	0x73757245: "Coda",
	0x564c:     "NCP",
	0x01161970: "GFS2",
	0x7461636f: "OCFS2",
	0x01021997: "9P", // shared with a host or another guest; no coherent maps
	0x786f4256: "VirtualBox shared folder",
	0xbacbacbc: "VMware shared folder",
}

// magicFUSE is FUSE_SUPER_MAGIC of linux/magic.h. All file systems in user space share it, so it does not distinguish
// a local one from a network's.
const magicFUSE = 0x65735546

// localFUSE are file systems in user space that keep their files on this machine; any other, such as fuse.sshfs,
// fuse.s3fs and fuse.glusterfs, is taken for a network file system. The list has the safe ones, unlike unsafeMagic:
// most file systems in user space are networks'.
func localFUSE(kind string) bool {
	switch kind {
	case "fuseblk", "fuse.fuse-overlayfs", "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs",
		"fuse.ext4", "fuse.ntfs-3g", "fuse.bindfs":
		return true
	}
	return false
}

// checkFileSystem returns an error that matches [ErrFileSystem] if dir is on a file system on which a store could be
// damaged. dir is absolute, exists, and has no symbolic link in it: mount points are compared with its text. If statfs
// fails, the error matches [ErrIO].
func checkFileSystem(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return fmt.Errorf("%w: statfs %s: %w", ErrIO, dir, err)
	}
	// The type of st.Type differs between architectures, and its sign too; the 32 bits do not.
	magic := uint32(st.Type)
	name := unsafeMagic[magic]
	if magic == magicFUSE {
		if kind := fileSystemOf(dir); !localFUSE(kind) {
			name = "FUSE (" + kind + ")"
		}
	}
	if name == "" {
		return nil
	}
	return fmt.Errorf("%w: %s is on %s, where the locks and the shared memory of a store do not reach all machines; "+
		"put it on a local disk with --store PATH", ErrFileSystem, dir, name)
}

// fileSystemOf returns the type of the file system that dir is on, such as "fuse.sshfs", or "fuse" if it cannot be
// found out. "fuse" is not among the local ones, so an unknown one is refused.
func fileSystemOf(dir string) string {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "fuse"
	}
	defer f.Close()
	if kind := mountType(f, dir); kind != "" {
		return kind
	}
	return "fuse"
}

// mountType returns the type of the mount that holds the absolute path dir in the text of /proc/self/mountinfo
// (proc(5)), or "". The last mount on the longest mount point counts.
func mountType(text io.Reader, dir string) (kind string) {
	mounts, _ := proc.Mounts(text)
	longest := -1
	for _, m := range mounts {
		if within(dir, m.Point) && len(m.Point) >= longest {
			longest, kind = len(m.Point), m.Type
		}
	}
	return kind
}

// within reports whether path is dir or below it. "/data2" is not below "/data"; all is below "/".
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
