package sqlite

import (
	"errors"
	"os"
	"strings"
	"testing"
)

const mountinfoText = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /home rw shared:2 master:1 - nfs4 server:/home rw,vers=4.2
24 22 0:22 / /mnt/with\040space rw - fuse.sshfs me@host:/ rw
25 22 0:23 / /mnt rw - tmpfs tmpfs rw
26 25 0:24 / /mnt rw - fuse.gocryptfs /crypt rw
27 22 0:25 / /mntx rw - xfs /dev/b rw
short line
`

func TestMountType(t *testing.T) {
	for dir, want := range map[string]string{
		"/":                  "ext4",
		"/var":               "ext4",
		"/home":              "nfs4",
		"/home/u/x":          "nfs4",
		"/homeless":          "ext4",
		"/mnt":               "fuse.gocryptfs",
		"/mnt/a":             "fuse.gocryptfs",
		"/mntx":              "xfs",
		"/mnt/with space/db": "fuse.sshfs",
	} {
		if got := mountType(strings.NewReader(mountinfoText), dir); got != want {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
	}
}

func TestUnsafeMagic(t *testing.T) {
	for magic, want := range map[uint32]bool{
		0x6969: true, 0xff534d42: true, 0xfe534d42: true, 0x0bd00bd0: true, 0x47504653: true, 0x01021997: true,
		0xef53: false, 0x58465342: false, 0x9123683e: false, 0x01021994: false, 0x794c7630: false, 0x2fc12fc1: false,
	} {
		if got := unsafeMagic[magic] != ""; got != want {
			t.Errorf("%#x: got unsafe %v, want %v", magic, got, want)
		}
	}
	for kind, want := range map[string]bool{"fuseblk": true, "fuse.sshfs": false, "fuse": false, "fuse.rclone": false} {
		if got := localFUSE(kind); got != want {
			t.Errorf("%s: got local %v, want %v", kind, got, want)
		}
	}
}

func TestCheckFileSystem(t *testing.T) {
	if err := checkFileSystem(t.TempDir()); err != nil && !errors.Is(err, ErrFileSystem) {
		t.Error(err)
	}
	if err := checkFileSystem("/no/such/directory"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// The kernel is asked for the file system of each directory by itself.
func TestFileSystemOf(t *testing.T) {
	if got := fileSystemOf("/proc/self"); got != "proc" {
		t.Errorf("/proc/self is on %q", got)
	}
	if got := fileSystemOf("no path"); got != "fuse" {
		t.Errorf("what cannot be found out is %q, not refused", got)
	}
}

func FuzzMountType(f *testing.F) {
	f.Add(mountinfoText, "/home/u")
	f.Fuzz(func(t *testing.T, text, dir string) {
		mountType(strings.NewReader(text), dir)
	})
}
