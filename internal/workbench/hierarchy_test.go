package workbench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fakeMachine returns a machine with the given files.
func fakeMachine(t *testing.T, files map[string]string) machine {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return machine{root}
}

const (
	v1Mounts = "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:5 - cgroup cgroup rw,cpu,cpuacct\n" +
		"34 31 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n" +
		"35 31 0:32 /docker/x /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n" +
		"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup rw\n"
	v1Own    = "9:name=systemd:/\n5:cpu,cpuacct:/user/me\n4:memory:/\n3:blkio:/docker/x/y\n0::/\n"
	v2Mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	v2Own    = "0::/user.slice/user-0.slice/session-1.scope\n"
)

func TestHierarchies(t *testing.T) {
	v1 := fakeMachine(t, map[string]string{"/proc/self/mountinfo": v1Mounts, "/proc/self/cgroup": v1Own})
	for controller, want := range map[string]string{
		"cpu": "/sys/fs/cgroup/cpu,cpuacct/user/me", "memory": "/sys/fs/cgroup/memory", "blkio": "/sys/fs/cgroup/blkio/y",
	} {
		h, err := v1.hierarchy(controller)
		if err != nil || h.v2 || h.dir != v1.root+want {
			t.Errorf("%s: %+v, %v, want %s", controller, h, err, want)
		}
	}
	v2 := fakeMachine(t, map[string]string{
		"/proc/self/mountinfo": v2Mounts, "/proc/self/cgroup": v2Own,
		"/sys/fs/cgroup/cgroup.subtree_control":                                             "cpuset cpu io memory pids\n",
		"/sys/fs/cgroup/user.slice/cgroup.subtree_control":                                  "cpu memory pids\n",
		"/sys/fs/cgroup/user.slice/user-0.slice/cgroup.subtree_control":                     "memory pids\n",
		"/sys/fs/cgroup/user.slice/user-0.slice/session-1.scope/cgroup.subtree_control":     "\n",
		"/sys/fs/cgroup/user.slice/user-0.slice/session-1.scope/cgroup.controllers.ignored": "",
	})
	for controller, want := range map[string]string{
		"cpu": "/sys/fs/cgroup/user.slice", "memory": "/sys/fs/cgroup/user.slice/user-0.slice", "blkio": "/sys/fs/cgroup",
	} {
		h, err := v2.hierarchy(controller)
		if err != nil || !h.v2 || h.dir != v2.root+want {
			t.Errorf("%s: %+v, %v, want %s", controller, h, err, want)
		}
	}
	none := fakeMachine(t, map[string]string{"/proc/self/mountinfo": "", "/proc/self/cgroup": ""})
	if _, err := none.hierarchy("cpu"); err == nil || !strings.Contains(err.Error(), `"cpu"`) {
		t.Errorf("without cgroups: %v", err)
	}
}

// In v2 the limits of one side that have one place are in one group. The kernel
// makes the files of a group; here they are made beforehand.
func TestGroupsOfV2(t *testing.T) {
	files := map[string]string{
		"/proc/self/mountinfo": v2Mounts, "/proc/self/cgroup": "0::/me\n",
		"/sys/fs/cgroup/cgroup.subtree_control": "cpu io memory\n",
	}
	m := fakeMachine(t, files)
	dir := filepath.Join(m.root, "/sys/fs/cgroup/g")
	if _, err := m.newGroups("g", cpuSetting(0.5), memorySetting(1<<30)); err == nil ||
		!strings.Contains(err.Error(), "cpu.max") {
		t.Errorf("a group without its files: %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
	g := &groups{}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	g.dirs = []string{dir}
	for _, name := range []string{"cpu.max", "memory.max", "io.max"} { // no memory.swap.max
		os.WriteFile(filepath.Join(dir, name), nil, 0o644)
	}
	for _, s := range []setting{cpuSetting(0.25), memorySetting(64 << 20), diskSetting("8:16", 5e6)} {
		if err := m.apply(g, "g", s); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		"cpu.max": "12500 50000", "memory.max": "67108864", "io.max": "8:16 rbps=5000000 wbps=5000000",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v, want %q", name, got, err, want)
		}
	}
	if !g.v2 || !slices.Equal(g.procs(), []string{filepath.Join(dir, "cgroup.procs")}) {
		t.Errorf("%+v", g)
	}
	os.WriteFile(filepath.Join(dir, "memory.events"), []byte("low 0\noom 3\noom_kill 2\noom_group_kill 0\n"), 0o644)
	if n := g.oomKills(); n != 2 {
		t.Errorf("%d kills, want 2", n)
	}
	began := time.Now()
	if err := g.remove(20 * time.Millisecond); err == nil { // its files are in the way, as processes would be
		t.Error("a group that is in use was removed")
	}
	if time.Since(began) > time.Minute {
		t.Error("waited too long")
	}
}

func TestDevices(t *testing.T) {
	m := fakeMachine(t, map[string]string{
		"/sys/devices/x/sda/dev": "8:0\n", "/sys/devices/x/sda/sda2/dev": "8:2\n", "/sys/devices/x/sda/sda2/partition": "2\n",
	})
	if err := os.MkdirAll(filepath.Join(m.root, "/sys/dev/block"), 0o755); err != nil {
		t.Fatal(err)
	}
	for number, to := range map[string]string{"8:0": "../../devices/x/sda", "8:2": "../../devices/x/sda/sda2"} {
		if err := os.Symlink(to, filepath.Join(m.root, "/sys/dev/block", number)); err != nil {
			t.Fatal(err)
		}
	}
	for minor, want := range map[uint32]string{0: "8:0", 2: "8:0"} {
		if got, err := m.disk(8, minor); err != nil || got != want {
			t.Errorf("8:%d is on %q, %v, want %q", minor, got, err, want)
		}
	}
	if _, err := m.disk(0, 45); err == nil || !strings.Contains(err.Error(), "0:45") {
		t.Errorf("a file system without a disk: %v", err)
	}
	if _, err := m.device("/no/such"); err == nil {
		t.Error("no directory")
	}
}

func FuzzOwn(f *testing.F) {
	f.Add(v1Own)
	f.Add(v2Own)
	f.Fuzz(func(t *testing.T, own string) {
		for name := range parseOwn(own) {
			if strings.Contains(name, ",") {
				t.Errorf("%q in %q", name, own)
			}
		}
	})
}
