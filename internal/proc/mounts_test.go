package proc

import (
	"bufio"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestMounts(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []Mount
	}{
		{
			"two hierarchies",
			"40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n" +
				"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup rw\n",
			[]Mount{
				{"/", "/sys/fs/cgroup/systemd", "cgroup", []string{"rw", "name=systemd"}},
				{"/", "/sys/fs/cgroup/unified", "cgroup2", []string{"rw"}},
			},
		},
		{
			"tags", "30 23 0:26 / / rw,nosuid shared:9 master:1 - ext4 /dev/vda rw,discard\n",
			[]Mount{{"/", "/", "ext4", []string{"rw", "discard"}}},
		},
		{
			"part of a tree, odd names", `30 23 0:26 /a\040b /mnt/c\134d\011 rw - fuse.sshfs me@host:/ rw` + "\n",
			[]Mount{{"/a b", "/mnt/c\\d\t", "fuse.sshfs", []string{"rw"}}},
		},
		{
			"a backslash that begins no escape", `30 23 0:26 / /a\9b\04 rw - ext4 x rw`,
			[]Mount{{"/", `/a\9b\04`, "ext4", []string{"rw"}}},
		},
		{"no source and no options", "30 23 0:26 / /a rw - tmpfs\n", []Mount{{"/", "/a", "tmpfs", nil}}},
		{"nonsense", "cgroup2\n - cgroup2\n\n1 2 3 - cgroup2 x\n1 2 3 / /a rw - \n", nil},
	} {
		got, err := Mounts(strings.NewReader(tt.text))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

func TestMountAt(t *testing.T) {
	for _, tt := range []struct {
		path, root, want string
		ok               bool
	}{
		{"/a/b", "/", "/m/a/b", true},
		{"/", "/", "/m", true},
		{"/a/b", "/a", "/m/b", true},
		{"/a", "/a", "/m", true},
		{"/ab", "/a", "", false},
		{"/b", "/a", "", false},
		{"", "/a", "", false},
	} {
		if got, ok := (Mount{Root: tt.root, Point: "/m"}).At(tt.path); got != tt.want || ok != tt.ok {
			t.Errorf("%q of %q: got %q, %v, want %q, %v", tt.path, tt.root, got, ok, tt.want, tt.ok)
		}
	}
}

func TestMountsTooLong(t *testing.T) {
	got, err := Mounts(strings.NewReader("30 23 0:26 / /a rw - tmpfs x rw\n" + strings.Repeat("x", 1<<20+1)))
	if !errors.Is(err, bufio.ErrTooLong) || len(got) != 1 {
		t.Errorf("got %v and %v, want the first mount and ErrTooLong", got, err)
	}
}

// The mounts of this process are read, and one of them is the root.
func TestMountsOfSelf(t *testing.T) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		t.Skipf("SKIPPED: no /proc/self/mountinfo: %v", err)
	}
	defer f.Close()
	ms, err := Mounts(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		if m.Point == "/" {
			return
		}
	}
	t.Errorf("no mount at / among %d", len(ms))
}

func FuzzMounts(f *testing.F) {
	f.Add("41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup rw\n")
	f.Add(`30 23 0:26 /a\040b\ /mnt\9 rw - cgroup2 none rw`)
	f.Fuzz(func(t *testing.T, text string) {
		ms, _ := Mounts(strings.NewReader(text))
		for _, m := range ms {
			if m.Root == "" || m.Point == "" || m.Type == "" || m.Options != nil && len(m.Options) == 0 {
				t.Errorf("%+v of %q", m, text)
			}
		}
	})
}
